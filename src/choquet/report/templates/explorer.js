(() => {
  const { data, explorer, byId, short, setNumber, cell, output } = page;
  if (!explorer.available) return;
  const n = explorer.n_sources;
  const sources = data.sources;
  let lit = [];

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

  const holds = (condition, place) => {
    const bound = condition.above === null ? condition.top : place[condition.above];
    return (place[condition.source] < bound) !== condition.negated;
  };

  const explain = (inputs) => {
    const sort = page.sorted(inputs);
    const place = new Array(n);
    sort.forEach((source, j) => { place[source] = j; });
    const masks = [];
    let mask = 0;
    for (const source of sort) masks.push((mask |= 1 << source));
    const walkWeights = masks.map((m, j) => explorer.values[m] - (j ? explorer.values[masks[j - 1]] : 0));
    let integral = explorer.bias, low = explorer.bias, high = explorer.bias, missing = 0;
    for (let j = 0; j < n; j++) {
      const gap = inputs[sort[j]] - (j + 1 < n ? inputs[sort[j + 1]] : 0);
      integral += gap * explorer.values[masks[j]];
      if (explorer.lower) {
        low += gap * explorer.lower[masks[j]];
        high += gap * explorer.upper[masks[j]];
      }
      if (explorer.supported && j + 1 < n && gap > explorer.tolerance && explorer.supported[masks[j]] === "0") missing++;
    }
    const items = data.rules ? data.rules.items : [];
    const rule = items.findIndex((item) => item.conditions.every((c) => holds(c, place)));
    const named = rule >= 0 ? items[rule].operator : data.rules ? data.rules.default : null;
    let operator = null;
    if (explorer.labels !== null) {
      const width = explorer.label_width;
      const at = rankOf(sort) * width;
      const code = explorer.labels.slice(at, at + width);
      operator = code[0] === "-" ? null : parseInt(code, 36);
    }
    const weights = operator === null ? walkWeights : explorer.weights[operator];
    const contributions = sort.map((source, j) => weights[j] * inputs[source]);
    const output = contributions.reduce((sum, part) => sum + part, 0) + explorer.bias;
    return { sort, masks, weights, integral, low, high, missing, rule, named, operator, contributions, output };
  };

  const showWalk = (found, x) => {
    const contributions = found.contributions.map((part) => part * page.width);
    const rows = page.rows(x, found.sort, found.weights, contributions);
    rows.forEach((row, j) => {
      const set = sources.filter((_, i) => (found.masks[j] >> i) & 1).join(", ");
      const open = explorer.supported && explorer.supported[found.masks[j]] === "0";
      cell(row, `{${set}}`);
      cell(row, short(explorer.values[found.masks[j]]) + (open ? " (no data)" : ""));
    });
    byId("walk").replaceChildren(...rows);
  };

  const lightWalk = (masks) => {
    for (const element of lit) element.classList.remove("on");
    const ids = ["n0"].concat(masks.map((m) => `n${m}`), masks.map((m, j) => `e${j ? masks[j - 1] : 0}-${m}`));
    lit = ids.map(byId).filter((element) => element !== null);
    for (const element of lit) {
      element.classList.add("on");
      // The last line drawn is on top.
      if (element.tagName === "line") element.parentNode.append(element);
    }
  };

  const showRule = (found) => {
    if (!data.rules) {
      byId("out-rule").textContent = "too many operators for rules";
      return;
    }
    const items = byId("rule-list").children;
    // One rule and its "otherwise" share a sentence; longer lists have one for each.
    const at = items.length === 1 ? 0 : (found.rule < 0 ? items.length - 1 : found.rule);
    Array.from(items).forEach((item, k) => item.classList.toggle("on", k === at));
    let text = found.rule < 0 ? (data.rules.items.length ? "otherwise: no rule applies" : "always") : `if ${data.rules.items[found.rule].text}`;
    if (found.operator !== null && found.operator !== found.named) text += " (the rules are not right on this walk)";
    byId("out-rule").textContent = text;
  };

  const showOperator = (found) => {
    const number = found.operator === null ? found.named : found.operator;
    const operator = data.operators[number] || { name: "", phrase: "the weights below" };
    const own = found.operator === null;
    let text = number === null ? "The walk's own operator" : `Operator ${number + 1}`;
    if (operator.name) text += `, ${operator.name}`;
    if (own && number !== null) text += " (named by the rules; the output is of the walk itself)";
    byId("out-operator").textContent = text;
    byId("out-operator").dataset.value = String(found.operator === null ? -1 : found.operator);
    byId("out-phrase").textContent = operator.phrase;
  };

  const showSupport = (found) => {
    if (!explorer.supported) return;
    const [bottom, top] = explorer.span;
    const share = (value) => Math.min(100, Math.max(0, 100 * (value - explorer.bias - bottom) / (top - bottom)));
    if (explorer.lower) {
      const low = output(found.low), high = output(found.high);
      setNumber("out-interval", low, `${short(low)} to ${short(high)}`);
      byId("out-interval").dataset.high = String(high);
      byId("gauge-range").style.left = `${share(found.low)}%`;
      byId("gauge-range").style.width = `${Math.max(share(found.high) - share(found.low), 0.5)}%`;
      byId("gauge-point").style.left = `${share(found.output)}%`;
    } else {
      byId("out-interval").textContent = "not bounded: the measure is not monotone";
    }
    setNumber("out-support", found.missing / Math.max(n - 1, 1), found.missing
      ? `no data for ${found.missing} of ${n - 1} values on this walk` : "data support every value on this walk");
  };

  page.wire((x) => {
    const found = explain(page.scaled(x));
    setNumber("out-output", output(found.output));
    setNumber("out-integral", output(found.integral));
    byId("out-sort").textContent = found.sort.map((i) => sources[i]).join(" ≥ ");
    byId("out-sort").dataset.value = found.sort.join(",");
    showOperator(found);
    showRule(found);
    showSupport(found);
    showWalk(found, x);
    lightWalk(found.masks);
  });
})();
