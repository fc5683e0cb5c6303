(() => {
  const { data, explorer, byId, short, setNumber } = page;
  const tree = explorer.tree;
  const shown = 12; // sources that are named in a line

  const explain = (inputs) => {
    const sort = page.sorted(inputs);
    const place = new Array(inputs.length);
    sort.forEach((source, j) => { place[source] = j; });
    const path = [0];
    let node = 0;
    while (tree.source[node] >= 0) {
      const bound = tree.above[node] >= 0 ? place[tree.above[node]] : tree.top[node];
      node = place[tree.source[node]] < bound ? tree.yes[node] : tree.no[node];
      path.push(node);
    }
    const operator = explorer.labels[node];
    const weights = explorer.weights[operator];
    const parts = sort.map((source, j) => weights[j] * inputs[source]);
    const total = parts.reduce((sum, part) => sum + part, 0) + explorer.biases[operator];
    return { sort, path, node, operator, weights, contributions: parts.map((part) => part * page.width), output: page.output(total) };
  };

  const leaves = new Map(data.leaves.map((leaf) => [leaf.node, leaf]));
  let lit = [];

  page.wire((x) => {
    const found = explain(page.scaled(x));
    const operator = data.operators[found.operator], leaf = leaves.get(found.node);
    setNumber("out-output", found.output);
    if (explorer.logistic) {
      const share = 1 / (1 + Math.exp(-found.output));
      setNumber("out-probability", share, `${short(100 * share)} %`);
    }
    setNumber("out-operator", found.operator, `Operator ${found.operator + 1}, ${operator.name}`);
    byId("out-phrase").textContent = operator.phrase;
    setNumber("out-rule", found.node, leaf.rule === "always" ? "always" : `if ${leaf.rule}`);
    const names = found.sort.slice(0, shown).map((i) => data.sources[i]).join(" ≥ ");
    byId("out-sort").textContent = names + (found.sort.length > shown ? " ≥ …" : "");
    byId("out-sort").dataset.value = found.sort.join(",");
    setNumber("out-trust", operator.trust, `${short(leaf.weight)} samples in this context, ${short(operator.count)} behind the operator; they decided ${short(100 * operator.trust)} % of its weights`);
    byId("walk").replaceChildren(...page.rows(x, found.sort, found.weights, found.contributions));
    for (const element of lit) element.classList.remove("on");
    lit = found.path.map((node) => byId(`t${node}`));
    for (const element of lit) element.classList.add("on");
  });
})();
