"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const { explorer, curves } = data;
  const byId = (id) => document.getElementById(id);
  const place = (knots, x) => {
    // Cell and position, as in Python: linear between knots, held at the ends.
    if (knots.length < 2) return knots.length ? [0, 0] : [Math.round(x), 0];
    let k = 0;
    while (k < knots.length - 2 && x >= knots[k + 1]) k += 1;
    const t = (x - knots[k]) / (knots[k + 1] - knots[k]);
    return [k, Math.min(Math.max(t, 0), 1)];
  };
  const effect = (term, x, values) => {
    const at = term.sources.map((s, j) => place(term.knots[j], x[s]));
    const strides = term.sizes.map((_, j) => term.sizes.slice(j + 1).reduce((a, b) => a * b, 1));
    let corner = at.reduce((sum, [cell], j) => sum + cell * strides[j], 0);
    const order = at.map((_, j) => j).sort((a, b) => at[b][1] - at[a][1] || a - b);
    let total = 0, before = 1;
    for (const j of order) {
      total += (before - at[j][1]) * values[corner];
      before = at[j][1];
      if (before > 0) corner += strides[j];
    }
    return total + before * values[corner];
  };
  const beyond = (term, x) => sum(term.sources.map((s, j) => {
    // Outside of the knots a term may go on with the slope that it has at the end.
    const [first, last] = [term.knots[j][0], term.knots[j][term.knots[j].length - 1]];
    const away = term.knots[j].length < 2 ? 0 : Math.max(first - x[s], x[s] - last, 0);
    return away > 0 ? away * Math.sqrt(effect(term, x, term.edges[j])) : 0;
  }));
  const link = (score) => {
    const k = explorer.kappa;
    if (k === 0) return score;
    const bent = Math.min(Math.max(k * score, -2), 2.5);
    return (Math.expm1(bent) + (k * score - bent) * Math.exp(bent)) / k;
  };
  const short = (v) => {
    if (Math.abs(v) < 1e-9) return "0";
    const digits = Number(v.toPrecision(4));
    const many = Math.abs(digits) >= 10000;
    return digits.toLocaleString("en", { useGrouping: many, maximumFractionDigits: 12 });
  };
  const percent = (p) => `${(100 * p).toFixed(p > 0.0995 && p < 0.995 ? 0 : 1)} %`;
  const sum = (list) => list.reduce((a, b) => a + b, 0);
  const expit = (v) => 1 / (1 + Math.exp(-v));
  const shares = (scores) => {
    if (explorer.thresholds) {
      const below = [0, ...explorer.thresholds.map((at) => expit(at - scores[0])), 1];
      return below.slice(1).map((p, k) => Math.max(p - below[k], 0));
    }
    if (scores.length === 1) return [1 - expit(scores[0]), expit(scores[0])];
    const most = Math.max(...scores), odds = scores.map((v) => Math.exp(v - most));
    return odds.map((v) => v / sum(odds));
  };
  const svg = (tag, values) => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [key, value] of Object.entries(values)) made.setAttribute(key, value);
    return made;
  };
  const bar = (value, most) => {
    const drawn = svg("svg", { class: "bars", "aria-hidden": "true", viewBox: "0 0 120 12", width: 120, height: 12 });
    const wide = most > 0 ? (58 * Math.abs(value)) / most : 0;
    if (wide > 1e-6) drawn.append(svg("rect", { class: "bar", x: value < 0 ? 60 - wide : 60, y: 1, width: wide, height: 10 }));
    drawn.append(svg("line", { x1: 60, x2: 60, y1: 0, y2: 12 }));
    return drawn;
  };
  const inputs = explorer.inputs.map((at, i) => (at ? byId(`slider-${i}`) : null));
  const show = () => {
    const x = inputs.map((one) => (one ? Number(one.value) : NaN));
    x.forEach((v, i) => {
      const at = explorer.inputs[i];
      if (at) byId(`value-${i}`).textContent = at.levels ? at.levels[Math.round(v)] : short(v);
    });
    const shown = explorer.shown;
    const all = explorer.base.map((_, k) => explorer.terms.map((term) => effect(term, x, term.values[k])));
    const within = (v, k) => Math.min(Math.max(v, explorer.bounds[k][0]), explorer.bounds[k][1]);
    const scores = all.map((effects, k) => within(sum(effects), k) + explorer.base[k]);
    const half = sum(explorer.terms.map((term) => effect(term, x, term.errors) + beyond(term, x)));
    const output = (score) => explorer.centre + explorer.scale * link(score);
    const ends = [scores[shown] - half, scores[shown] + half].map(output);
    byId("out-band").textContent = `${short(Math.min(...ends))} to ${short(Math.max(...ends))}`;
    if (explorer.classes) {
      const found = shares(scores).map((p, k) => [p, explorer.classes[k]]).sort((a, b) => b[0] - a[0]);
      byId("out").textContent = found[0][1];
      byId("out").dataset.value = found[0][0];
      byId("out-classes").textContent = found.slice(0, 4).map(([p, name]) => `${name} ${percent(p)}`).join(", ");
      byId("out-score").textContent = short(scores[shown]);
    } else {
      byId("out").textContent = short(output(scores[shown]));
      byId("out").dataset.value = output(scores[shown]);
    }
    const rows = all[shown].map((e, t) => [e, explorer.terms[t].name, explorer.kappa === 0 ? short(e * explorer.unit) : `×${short(Math.exp(explorer.kappa * e))}`]);
    rows.sort((a, b) => Math.abs(b[0]) - Math.abs(a[0]));
    const most = rows.length ? Math.abs(rows[0][0]) : 0;
    const sign = explorer.kappa < 0 ? -1 : 1;
    byId("effects").replaceChildren(...rows.map(([value, name, text]) => {
      const tr = document.createElement("tr");
      for (const content of [name, text, bar(sign * value, most)]) {
        const td = document.createElement("td");
        td.append(content);
        tr.append(td);
      }
      return tr;
    }));
    for (const curve of curves) {
      const point = byId(`point-${curve.number}`);
      if (!point) continue;
      const [k, t] = place(curve.knots, x[curve.source]);
      point.setAttribute("cx", curve.x[k] + t * (curve.x[k + 1] - curve.x[k]));
      point.setAttribute("cy", curve.y[k] + t * (curve.y[k + 1] - curve.y[k]));
    }
  };
  inputs.forEach((one) => one && one.addEventListener("input", show));
  byId("interactive").hidden = false;
  show();
})();
