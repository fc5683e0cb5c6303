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
  const effect = (term, x) => {
    const at = term.sources.map((s, j) => place(term.knots[j], x[s]));
    const strides = term.sizes.map((_, j) => term.sizes.slice(j + 1).reduce((a, b) => a * b, 1));
    let corner = at.reduce((sum, [cell], j) => sum + cell * strides[j], 0);
    const order = at.map((_, j) => j).sort((a, b) => at[b][1] - at[a][1] || a - b);
    let total = 0, before = 1;
    for (const j of order) {
      total += (before - at[j][1]) * term.values[corner];
      before = at[j][1];
      if (before > 0) corner += strides[j];
    }
    return total + before * term.values[corner];
  };
  const link = (score) => {
    const k = explorer.kappa;
    if (k === 0) return score;
    const bent = Math.min(Math.max(k * score, -2), 2.5);
    return (Math.expm1(bent) + (k * score - bent) * Math.exp(bent)) / k;
  };
  const short = (v) => (Math.abs(v) >= 1e5 || (v !== 0 && Math.abs(v) < 1e-4) ? v.toExponential(3) : String(Number(v.toPrecision(4))));
  const inputs = explorer.inputs.map((at, i) => (at ? byId(`slider-${i}`) : null));
  const show = () => {
    const x = inputs.map((one) => (one ? Number(one.value) : NaN));
    x.forEach((v, i) => {
      const at = explorer.inputs[i];
      if (at) byId(`value-${i}`).textContent = at.levels ? at.levels[Math.round(v)] : short(v);
    });
    const effects = explorer.terms.map((term) => effect(term, x));
    let sum = effects.reduce((a, b) => a + b, 0);
    sum = Math.min(Math.max(sum, explorer.bounds[0]), explorer.bounds[1]);
    byId("out").textContent = short(explorer.centre + explorer.scale * link(sum + explorer.base));
    const rows = effects.map((e, t) => [Math.abs(e), explorer.terms[t].name, explorer.kappa === 0 ? short(e * explorer.unit) : `×${short(Math.exp(explorer.kappa * e))}`]);
    rows.sort((a, b) => b[0] - a[0]);
    byId("effects").replaceChildren(...rows.map(([, name, value]) => {
      const tr = document.createElement("tr");
      for (const text of [name, value]) {
        const td = document.createElement("td");
        td.textContent = text;
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
