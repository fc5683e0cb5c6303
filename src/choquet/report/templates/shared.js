"use strict";
// What every page needs: its data, numbers as people read them, sliders and samples that move it.
const page = (() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const explorer = data.explorer;
  const byId = (id) => document.getElementById(id);

  const short = (value) => {
    if (!Number.isFinite(value)) return "–";
    if (Math.abs(value) < 1e-9) return "0"; // rounding errors of a solver are nothing to read
    return String(Number(value.toPrecision(4)));
  };
  const setNumber = (id, value, text) => {
    const element = byId(id);
    element.textContent = text === undefined ? short(value) : text;
    element.dataset.value = String(value);
  };

  const units = explorer.units || null;
  const scaled = (x) => (units ? x.map((v, i) => (v - units.offsets[i]) / units.widths[i]) : x);
  const width = units ? units.target_width : 1;
  const output = (value) => (units ? value * width + units.target_offset : value);

  const sorted = (inputs) => inputs.map((_, i) => i).sort((a, b) => inputs[b] - inputs[a] || a - b);

  const cell = (row, text, tag) => {
    const element = document.createElement(tag || "td");
    if (tag === "th") element.scope = "row";
    element.textContent = text;
    row.append(element);
    return element;
  };

  const svg = (name, attributes) => {
    const element = document.createElementNS(document.querySelector("svg").namespaceURI, name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    return element;
  };

  const bar = (value, low, high) => {
    const picture = svg("svg", { class: "bars", "aria-hidden": "true", viewBox: "0 0 120 12", width: 120, height: 12 });
    const unit = high > low ? 120 / (high - low) : 0;
    const zero = -low * unit;
    picture.append(svg("rect", { class: "bar", x: zero + Math.min(value, 0) * unit, y: 1, width: Math.abs(value) * unit, height: 10 }));
    picture.append(svg("line", { x1: zero, x2: zero, y1: 0, y2: 12 }));
    return picture;
  };

  // Rank, source, input, weight and contribution of each source, the largest first.
  const rows = (x, sort, weights, contributions) => {
    const low = Math.min(0, ...contributions), high = Math.max(0, ...contributions);
    return sort.map((source, j) => {
      const row = document.createElement("tr");
      cell(row, String(j + 1));
      cell(row, data.sources[source], "th");
      cell(row, short(x[source]));
      cell(row, short(weights[j]));
      cell(row, short(contributions[j])).dataset.value = String(contributions[j]);
      cell(row, "").append(bar(contributions[j], low, high));
      return row;
    });
  };

  // Call show(x) now, and whenever a slider, a number or a sample changes x.
  const wire = (show) => {
    const x = explorer.start.slice();
    const sliders = data.sources.map((_, i) => byId(`slider-${i}`));
    const numbers = data.sources.map((_, i) => byId(`number-${i}`));
    const clearSample = () => {
      for (const row of document.querySelectorAll("tr.on")) row.classList.remove("on");
    };
    const setInput = (i, text, from) => {
      const value = Number(text);
      if (text === "" || !Number.isFinite(value)) return;
      x[i] = value;
      if (from !== "slider") sliders[i].value = String(value);
      if (from !== "number") numbers[i].value = String(value);
      sliders[i].setAttribute("aria-valuetext", short(value));
    };
    data.sources.forEach((_, i) => {
      sliders[i].addEventListener("input", () => { clearSample(); setInput(i, sliders[i].value, "slider"); show(x); });
      numbers[i].addEventListener("input", () => { clearSample(); setInput(i, numbers[i].value, "number"); show(x); });
    });
    for (const button of document.querySelectorAll("button[data-sample]")) {
      button.addEventListener("click", () => {
        clearSample();
        data.samples[Number(button.dataset.sample)].forEach((value, i) => setInput(i, String(value), "sample"));
        button.closest("tr").classList.add("on");
        show(x);
        if (byId("explorer").scrollIntoView) byId("explorer").scrollIntoView({ block: "start" });
      });
    }
    for (const element of document.querySelectorAll(".interactive")) element.hidden = false;
    for (const element of document.querySelectorAll(".static")) element.hidden = true;
    explorer.start.forEach((value, i) => setInput(i, String(value), "start"));
    show(x);
  };

  return { data, explorer, byId, short, setNumber, scaled, width, output, sorted, cell, rows, wire };
})();
