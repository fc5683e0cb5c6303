"use strict";
// Shares of first places from models drawn before, with scores changed and answers supposed.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  if (!data.explorer) return;
  const byId = (id) => document.getElementById(id);
  const table = data.table.map((row) => row.map((cell) => (cell === null ? null : Array.isArray(cell) ? (cell[0] + cell[1]) / 2 : cell)));
  const changes = new Map();
  const supposed = [];

  const onScale = (value, scale) => {
    if (value === null) return 0.5;
    const { points, values } = scale;
    let k = 0;
    while (k < points.length - 2 && value > points[k + 1]) k += 1;
    return values[k] + ((value - points[k]) * (values[k + 1] - values[k])) / (points[k + 1] - points[k]);
  };
  const cell = (a, j) => (changes.has(a + "," + j) ? changes.get(a + "," + j) : table[a][j]);
  const rowOf = (a) => data.scales.map((scale, j) => onScale(cell(a, j), scale));

  // Coefficients of one row on the numbers that a model is given by.
  const coefficients = (row, family) => {
    if (!family.by_values) return family.sets.map((members) => Math.min(...members.map((i) => row[i])));
    const found = new Float64Array(2 ** row.length);
    const order = row.map((_, i) => i).sort((a, b) => row[b] - row[a]);
    let mask = 0;
    order.forEach((i, k) => {
      mask |= 1 << i;
      found[mask] += row[i] - (k + 1 < order.length ? row[order[k + 1]] : 0);
    });
    return found;
  };

  const scoresOf = (family) => {
    const rows = data.alternatives.map((_, a) => coefficients(rowOf(a), family));
    return family.points.map((point) => rows.map((row) => {
      let sum = 0;
      for (let k = 0; k < row.length; k += 1) sum += row[k] * point[k];
      return sum;
    }));
  };

  const percent = (share) => (share > 0 && share < 0.01 ? "<1 %" : share > 0.99 && share < 1 ? ">99 %" : Math.round(100 * share) + " %");

  const shares = () => {
    let least = 1e9;
    const found = [];
    for (const family of data.explorer) {
      const holds = (scores, draw) => supposed.every(([a, b, about]) => {
        const values = about === "criteria" ? family.importances[draw] : scores;
        return values[a] > values[b];
      });
      const kept = scoresOf(family).filter(holds);
      least = Math.min(least, kept.length);
      if (!kept.length) continue;
      const first = new Array(data.alternatives.length).fill(0);
      for (const scores of kept) first[scores.indexOf(Math.max(...scores))] += 1 / kept.length;
      found.push(first);
    }
    return { found, least };
  };

  const svg = (name, attributes) => {
    const element = document.createElementNS("http" + "://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    return element;
  };

  const draw = () => {
    const { found, least } = shares();
    const body = byId("moved").tBodies[0];
    body.replaceChildren();
    const left = byId("left");
    if (!found.length) {
      left.textContent = "None of the models that were drawn agrees with that. Take something back.";
      return;
    }
    left.textContent = least < 30
      ? "Only " + least + " models of one kind are left: run it again with this as a statement."
      : changes.size || supposed.length ? "With what you changed or supposed:" : "As in the report, but for fewer models:";
    const rows = data.alternatives.map((name, a) => {
      const own = found.map((first) => first[a]);
      return { name, low: Math.min(...own), high: Math.max(...own) };
    });
    rows.sort((one, two) => two.low - one.low || two.high - one.high);
    for (const row of rows.slice(0, 8)) {
      const line = body.insertRow();
      const head = document.createElement("th");
      head.scope = "row";
      head.textContent = row.name;
      line.append(head);
      line.insertCell().textContent = percent(row.low);
      line.insertCell().textContent = percent(row.high);
      const picture = svg("svg", { class: "bars", viewBox: "0 0 120 12", width: 120, height: 12, "aria-hidden": "true" });
      picture.append(svg("rect", { class: "span", x: 0, y: 1, width: 120 * row.high, height: 10 }));
      picture.append(svg("rect", { class: "share", x: 0, y: 1, width: 120 * row.low, height: 10 }));
      line.insertCell().append(picture);
    }
  };

  const listSupposed = () => {
    const list = byId("supposed");
    list.replaceChildren();
    supposed.forEach(([a, b, about], k) => {
      const item = document.createElement("li");
      const words = about === "criteria" ? " matters more than " : " is better than ";
      item.append(data[about][a] + words + data[about][b] + " ");
      const back = document.createElement("button");
      back.type = "button";
      back.textContent = "take back";
      back.addEventListener("click", () => { supposed.splice(k, 1); listSupposed(); draw(); });
      item.append(back);
      list.append(item);
    });
    for (const [key, value] of changes) {
      const [a, j] = key.split(",").map(Number);
      const item = document.createElement("li");
      item.textContent = data.criteria[j] + " of " + data.alternatives[a] + " is " + value;
      list.append(item);
    }
  };

  const forget = (a, b, about) => {
    const at = supposed.findIndex(([x, y, what]) => x === a && y === b && what === about);
    if (at >= 0) supposed.splice(at, 1);
  };
  const suppose = (a, b, about) => {
    if (a === b) return;
    forget(a, b, about);
    forget(b, a, about);
    supposed.push([a, b, about]);
    listSupposed();
    draw();
  };

  const showAmount = () => {
    const value = cell(Number(byId("who").value), Number(byId("what").value));
    byId("amount").value = value === null ? "" : String(value);
  };
  byId("who").addEventListener("change", showAmount);
  byId("what").addEventListener("change", showAmount);
  byId("amount").addEventListener("input", () => {
    const value = Number(byId("amount").value);
    if (byId("amount").value === "" || !Number.isFinite(value)) return;
    changes.set(byId("who").value + "," + byId("what").value, value);
    listSupposed();
    draw();
  });
  byId("undo").addEventListener("click", () => {
    changes.delete(byId("who").value + "," + byId("what").value);
    showAmount();
    listSupposed();
    draw();
  });
  byId("suppose").addEventListener("click", () => suppose(Number(byId("better").value), Number(byId("worse").value), "alternatives"));
  for (const button of document.querySelectorAll("[data-answer]")) {
    button.addEventListener("click", () => {
      const about = data.question.about, answer = button.dataset.answer;
      const a = data[about].indexOf(data.question.first), b = data[about].indexOf(data.question.second);
      for (const other of document.querySelectorAll("[data-answer]")) other.setAttribute("aria-pressed", String(other === button));
      forget(a, b, about);
      forget(b, a, about);
      if (answer === "first") suppose(a, b, about);
      if (answer === "second") suppose(b, a, about);
      if (answer === "none") { listSupposed(); draw(); }
      byId("explore").scrollIntoView({ block: "start" });
    });
  }
  for (const element of document.querySelectorAll(".interactive")) element.hidden = false;
  showAmount();
  draw();
})();
