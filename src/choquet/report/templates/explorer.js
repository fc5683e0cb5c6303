"use strict";
// The page computes by itself: who decides for the inputs on the sliders, and what comes out.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const byId = (id) => document.getElementById(id);
  const fusion = data.fusion || null; // of fused classifiers: one explorer for each class
  let explorer, tree, values, units, leaves, width;
  const use = (view) => {
    ({ explorer } = view);
    ({ tree, values, units } = explorer);
    data.operators = view.operators;
    data.rules = view.rules;
    leaves = new Map(view.leaves.map((leaf) => [leaf.node, leaf]));
    width = units ? units.target_width : 1;
  };
  let label = fusion ? fusion.label : 0, sample = fusion ? fusion.sample : null;
  use(fusion ? data.views[Math.min(label, data.views.length - 1)] : data);
  if (!explorer.available) return;
  const sources = data.sources;
  const n = sources.length;
  const named = 12; // sources that are named in a line
  let lit = [];

  // -- numbers as people read them ----------------------------------------------------------------

  const short = (value) => {
    if (!Number.isFinite(value)) return "–";
    if (Math.abs(value) < 1e-9) return "0"; // rounding errors of a solver are nothing to read
    const rounded = Number(value.toPrecision(value >= 10000 ? 3 : 4));
    return rounded.toLocaleString("en", { maximumSignificantDigits: 4, useGrouping: Math.abs(rounded) >= 10000 });
  };
  const percent = (share) => {
    if (share > 0 && share < 0.001) return "under 0.1 %";
    if (share > 0.999 && share < 1) return "99.9 %";
    return `${Number((100 * share).toPrecision(3))} %`;
  };
  const setText = (id, text, value) => {
    const element = byId(id);
    if (!element) return;
    element.textContent = text;
    if (value !== undefined) element.dataset.value = String(value);
  };
  const setNumber = (id, value) => setText(id, short(value), value);

  // -- the units of the data ----------------------------------------------------------------------

  const onScale = (scale, x) => {
    const { points, values: at, clip } = scale;
    const last = points.length - 1;
    if (clip && (x <= points[0] || x >= points[last])) return x <= points[0] ? at[0] : at[last];
    let k = 0;
    while (k < last - 1 && x > points[k + 1]) k++;
    return at[k] + (x - points[k]) * (at[k + 1] - at[k]) / (points[k + 1] - points[k]);
  };
  const scaled = (x) => (units ? x.map((value, i) => onScale(units.scales[i], value)) : x);
  const inData = (value) => (units ? value * width + units.target_offset : value);

  // Size of the noise for inputs and an output, beside the usual: see choquet.certainty.noise.
  const sizeOfNoise = (inputs, output) => {
    if (!explorer.noise) return 1;
    const { spans, sizes } = explorer.noise;
    const at = [...inputs, output].map((value, k) => Math.min(1, Math.max(0, (value - spans[k][0]) / (spans[k][1] - spans[k][0] || 1))));
    const last = at[n], traits = [...at.slice(0, n), ...at.slice(0, n).map((u) => 1 - u), 2 * Math.sqrt(last * (1 - last)), 1];
    return traits.reduce((sum, trait, k) => sum + trait * sizes[k], 0);
  };

  // -- who decides --------------------------------------------------------------------------------

  // Number of a sort in lexicographic order: for each place, how many later sources are smaller.
  const rankOf = (sort) => {
    let rank = 0;
    for (let j = 0; j < n; j++) {
      let smaller = 0;
      for (let k = j + 1; k < n; k++) smaller += sort[k] < sort[j] ? 1 : 0;
      rank = rank * (n - j) + smaller;
    }
    return rank;
  };

  // Sources by falling input; inputs that differ by rounding alone are tied, in the order of the sources.
  const tieWidth = (inputs) => explorer.tie * Math.max(...inputs.map(Math.abs));
  const sorted = (inputs) => {
    const first = inputs.map((_, i) => i).sort((a, b) => inputs[b] - inputs[a] || a - b);
    const group = new Array(n).fill(0), least = tieWidth(inputs);
    for (let j = 1; j < n; j++) group[first[j]] = group[first[j - 1]] + (inputs[first[j - 1]] - inputs[first[j]] > least ? 1 : 0);
    return first.sort((a, b) => group[a] - group[b] || a - b);
  };

  const holds = (condition, place) => {
    const bound = condition.above === null ? condition.top : place[condition.above];
    return (place[condition.source] < bound) !== condition.negated;
  };

  const byTree = (place, inputs) => {
    const path = [0];
    let node = 0;
    while (tree.source[node] >= 0) {
      const source = tree.source[node], least = tree.value[node];
      const bound = tree.above[node] >= 0 ? place[tree.above[node]] : tree.top[node];
      const held = least === null ? place[source] < bound : inputs[source] >= least;
      node = held ? tree.yes[node] : tree.no[node];
      path.push(node);
    }
    return { operator: tree.operator[node], named: tree.operator[node], rule: node, path };
  };

  const bySort = (sort, place) => {
    const items = data.rules ? data.rules.items : [];
    const rule = items.findIndex((item) => item.conditions.every((c) => holds(c, place)));
    const named = rule >= 0 ? items[rule].operator : data.rules ? data.rules.default : null;
    if (explorer.labels === null) return { operator: null, named, rule, path: [] };
    const at = rankOf(sort) * explorer.label_width;
    const code = explorer.labels.slice(at, at + explorer.label_width);
    return { operator: code[0] === "-" ? null : parseInt(code, 36), named, rule, path: [] };
  };

  // -- what comes out -----------------------------------------------------------------------------

  const along = (inputs, sort) => {
    const masks = [];
    let mask = 0;
    for (const source of sort) masks.push((mask |= 1 << source));
    const weights = masks.map((m, j) => values[m] - (j ? values[masks[j - 1]] : 0));
    const least = Math.max(explorer.tolerance || 0, tieWidth(inputs));
    let integral = explorer.bias, low = explorer.bias, high = explorer.bias, missing = 0;
    for (let j = 0; j < n; j++) {
      const gap = inputs[sort[j]] - (j + 1 < n ? inputs[sort[j + 1]] : 0);
      integral += gap * values[masks[j]];
      if (explorer.lower) {
        low += gap * explorer.lower[masks[j]];
        high += gap * explorer.upper[masks[j]];
      }
      if (explorer.supported && j + 1 < n && gap > least && explorer.supported[masks[j]] === "0") missing++;
    }
    return { masks, weights, integral, low, high, missing };
  };

  const explain = (inputs) => {
    const sort = sorted(inputs);
    const place = new Array(n);
    sort.forEach((source, j) => { place[source] = j; });
    const who = tree ? byTree(place, inputs) : bySort(sort, place);
    const walk = values ? along(inputs, sort) : null;
    const sum = (weights, bias) => sort.reduce((total, source, j) => total + weights[j] * inputs[source], bias);
    let weights = walk ? walk.weights : null, bias = explorer.bias, operators = walk ? walk.integral : 0;
    if (who.operator !== null && explorer.weights) {
      const more = explorer.source_weights ? explorer.source_weights[who.operator] : null;
      const own = explorer.weights[who.operator].map((w, j) => w + (more ? more[sort[j]] : 0));
      operators = sum(own, explorer.biases[who.operator]);
      if (!explorer.own) { weights = own; bias = explorer.biases[who.operator]; }
    }
    const contributions = sort.map((source, j) => weights[j] * inputs[source] * width);
    const output = explorer.own ? walk.integral : operators;
    return { sort, who, walk, weights, bias, contributions, output, operators };
  };

  // -- what is shown ------------------------------------------------------------------------------

  const cell = (row, text, tag) => {
    const element = document.createElement(tag || "td");
    if (tag === "th") element.scope = "row";
    element.textContent = text;
    row.append(element);
    return element;
  };
  const svg = (name, attributes) => {
    const element = document.createElementNS("http:" + "//www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    return element;
  };
  const bar = (value, low, high) => {
    const picture = svg("svg", { class: "bars", "aria-hidden": "true", viewBox: "0 0 120 12", width: 120, height: 12 });
    const unit = high > low ? 120 / (high - low) : 0;
    const zero = -low * unit;
    if (Math.abs(value) > 1e-9 * (high - low)) picture.append(svg("rect", { class: "bar", x: zero + Math.min(value, 0) * unit, y: 1, width: Math.abs(value) * unit, height: 10 }));
    if (low < 0) picture.append(svg("line", { x1: zero, x2: zero, y1: 0, y2: 12 }));
    return picture;
  };
  // Four digits are shown: what does not change the last of the largest number is 0.
  const cleared = (numbers) => {
    const most = Math.max(...numbers.map(Math.abs));
    return numbers.map((value) => (Math.abs(value) < 5e-5 * most ? 0 : value));
  };

  const showSources = (found, x) => {
    const shown = cleared(found.contributions), weights = cleared(found.weights);
    const low = Math.min(0, ...shown), high = Math.max(0, ...shown);
    byId("walk").replaceChildren(...found.sort.map((source, j) => {
      const row = document.createElement("tr");
      cell(row, String(j + 1));
      cell(row, sources[source], "th");
      cell(row, short(x[source]));
      cell(row, short(weights[j]));
      cell(row, short(shown[j])).dataset.value = String(found.contributions[j]);
      cell(row, "").append(bar(shown[j], low, high));
      if (found.walk) {
        const mask = found.walk.masks[j];
        const open = explorer.supported && explorer.supported[mask] === "0";
        cell(row, `{${sources.filter((_, i) => (mask >> i) & 1).join(", ")}}`);
        cell(row, short(values[mask]) + (open ? " (no data)" : ""));
      }
      return row;
    }));
  };

  const light = (found) => {
    for (const element of lit) element.classList.remove("on");
    let ids = found.who.path.map((node) => `t${node}`);
    if (found.walk) {
      const { masks } = found.walk;
      ids = ids.concat(["n0"], masks.map((m) => `n${m}`), masks.map((m, j) => `e${j ? masks[j - 1] : 0}-${m}`));
    }
    lit = ids.map(byId).filter((element) => element !== null);
    for (const element of lit) {
      element.classList.add("on");
      if (element.tagName === "line") element.parentNode.append(element); // the last line drawn is on top
    }
  };

  const showRule = ({ rule, named: name, operator }) => {
    if (tree) {
      const leaf = leaves.get(rule);
      setText("out-rule", leaf.rule === "always" ? "always" : `if ${leaf.rule}`, rule);
      return;
    }
    if (!data.rules) {
      setText("out-rule", "too many operators for rules");
      return;
    }
    if (!byId("rule-list")) return;
    const items = byId("rule-list").children;
    // One rule and its "otherwise" share a sentence; longer lists have one for each.
    const at = items.length === 1 ? 0 : (rule < 0 ? items.length - 1 : rule);
    Array.from(items).forEach((item, k) => item.classList.toggle("on", k === at));
    let text = rule < 0 ? (data.rules.items.length ? "otherwise: no rule applies" : "always") : `if ${data.rules.items[rule].text}`;
    if (operator !== null && operator !== name) text += " (the rules are not right for this order of the inputs)";
    setText("out-rule", text, rule);
  };

  const showOperator = ({ operator, named: name }) => {
    const number = operator === null ? name : operator;
    const known = data.operators[number] || { name: "", phrase: "the weights below" };
    let text = number === null ? "The model's own weights" : `Operator ${number + 1}`;
    if (known.name && known.name.length < 40) text += `, ${known.name}`;
    if (operator === null && number !== null) text += " (named by the rules; the output is the model's own)";
    setText("out-operator", text, operator === null ? -1 : operator);
    setText("out-phrase", known.phrase);
  };

  const showSupport = (found) => {
    if (tree && byId("out-trust")) {
      const operator = data.operators[found.who.operator], leaf = leaves.get(found.who.rule);
      setText("out-trust", `${short(leaf.weight)} samples of this kind, ${short(operator.count)} behind the operator; they decided ${percent(operator.trust)} of its weights`, operator.trust);
    }
    if (!explorer.supported) return;
    const { low, high, missing } = found.walk;
    const [bottom, top] = explorer.span;
    const share = (value) => Math.min(100, Math.max(0, 100 * (value - explorer.bias - bottom) / (top - bottom)));
    if (explorer.lower) {
      const exact = high - low <= 1e-6 * (top - bottom);
      setText("out-interval", exact ? "nothing: no value had to be guessed" : `${short(inData(low))} to ${short(inData(high))}`, inData(low));
      byId("gauge-range").parentNode.hidden = exact;
      byId("out-interval").dataset.high = String(inData(high));
      byId("gauge-range").style.left = `${share(low)}%`;
      byId("gauge-range").style.width = `${Math.max(share(high) - share(low), 0.5)}%`;
      byId("gauge-point").style.left = `${share(found.output)}%`;
    } else {
      setText("out-interval", "anywhere: this model puts no bounds on what was not seen");
    }
    setText("out-support", missing ? `only in part: no data for ${missing} of ${n - 1} steps` : "yes: data exist for this order of the inputs", missing / Math.max(n - 1, 1));
  };

  // The other classes keep the scores of the sample.
  const showClasses = (output) => {
    const fused = fusion.samples[sample].fused.slice();
    fused[label] = output;
    const powers = fused.map((f) => (fusion.power === null ? Math.max(f, 0) : (Math.max(f, 0) + 1e-6) ** fusion.power));
    const total = powers.reduce((a, b) => a + b, 0) || 1;
    const shares = powers.map((p) => p / total);
    const best = shares.map((_, k) => k).sort((a, b) => shares[b] - shares[a]);
    setText("out-probability", percent(shares[label]), shares[label]);
    setText("out-classes", best.slice(0, 3).map((k) => `${data.labels[k]} ${percent(shares[k])}`).join(", "), best[0]);
  };

  const show = (x) => {
    const found = explain(scaled(x));
    setNumber("out-output", inData(found.output));
    if (explorer.error !== null) {
      const error = explorer.error * sizeOfNoise(scaled(x), found.output), at = inData(found.output);
      setText("out-band", `${short(at - error)} to ${short(at + error)}`, error);
    }
    setNumber("out-operators", inData(found.operators));
    if (found.walk) setNumber("out-integral", inData(found.walk.integral));
    if (explorer.link) {
      const share = 1 / (1 + Math.exp(-(explorer.link[0] * inData(found.output) + explorer.link[1])));
      setText("out-probability", percent(share), share);
    }
    if (fusion) showClasses(found.output);
    const order = found.sort.slice(0, named).map((i) => sources[i]).join(" ≥ ");
    setText("out-sort", order + (n > named ? " ≥ …" : ""), found.sort.join(","));
    showOperator(found.who);
    showRule(found.who);
    showSupport(found);
    showSources(found, x);
    light(found);
  };

  // -- sliders, numbers and samples ---------------------------------------------------------------

  const x = explorer.start.slice();
  const sliders = sources.map((_, i) => byId(`slider-${i}`));
  const numbers = sources.map((_, i) => byId(`number-${i}`));
  const clearSample = () => {
    for (const row of document.querySelectorAll("tr.on")) row.classList.remove("on");
  };
  const setInput = (i, text, from) => {
    const value = from === "sample" ? Number(Number(text).toPrecision(6)) : Number(text);
    if (text === "" || !Number.isFinite(value)) return;
    x[i] = value;
    if (from !== "slider") sliders[i].value = String(value);
    if (from !== "number") numbers[i].value = String(value);
    sliders[i].setAttribute("aria-valuetext", short(value));
  };
  sources.forEach((_, i) => {
    sliders[i].addEventListener("input", () => { clearSample(); setInput(i, sliders[i].value, "slider"); show(x); });
    numbers[i].addEventListener("input", () => { clearSample(); setInput(i, numbers[i].value, "number"); show(x); });
  });
  const turnTo = (newLabel, newSample) => {
    label = newLabel;
    sample = newSample;
    use(data.views[Math.min(label, data.views.length - 1)]);
    byId("class").value = String(label);
    setText("out-sample", fusion.samples[sample].id);
    fusion.samples[sample].scores[label].forEach((value, i) => setInput(i, String(value), "sample"));
    show(x);
  };
  if (fusion) byId("class").addEventListener("change", () => turnTo(Number(byId("class").value), sample));
  for (const button of document.querySelectorAll("button[data-sample]")) {
    button.addEventListener("click", () => {
      clearSample();
      const number = Number(button.dataset.sample);
      if (fusion) turnTo(fusion.samples[number].answer, number);
      else data.samples[number].forEach((value, i) => setInput(i, String(value), "sample"));
      button.closest("tr").classList.add("on");
      show(x);
      if (byId("explorer").scrollIntoView) byId("explorer").scrollIntoView({ block: "start" });
    });
  }
  // A link leads into a part that may be closed, and paper shows all of them.
  const open = () => { const part = location.hash && byId(location.hash.slice(1)); const inside = part && part.closest("details"); if (inside) { inside.open = true; part.scrollIntoView(); } };
  addEventListener("hashchange", open);
  addEventListener("beforeprint", () => { for (const part of document.querySelectorAll("details")) part.open = true; });
  open();
  for (const element of document.querySelectorAll(".interactive")) element.hidden = false;
  for (const element of document.querySelectorAll(".static")) element.hidden = true;
  explorer.start.forEach((value, i) => setInput(i, String(value), "sample"));
  if (fusion) turnTo(label, sample);
  else show(x);
})();
