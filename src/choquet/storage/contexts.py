"""Contextual models: tree and operators are stored, contexts and rules follow from them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from choquet.expected import NAMES, Array, expect_fields
from choquet.storage.values import decode_value, encode_value

if TYPE_CHECKING:
    from choquet.contexts.tree import Tree
    from choquet.decomposition.trees import TreeDecomposition

_LINKS = ("source", "top", "above", "yes", "no")
_SUMS = ("error", "weight")
_TREE = {
    **dict.fromkeys(_LINKS, Array(("n",), "i", low=-1)),
    "coefficients": Array(("n", None)),
    "error": Array(("n",), low=0),
    "weight": Array(("n",)),
}
_PARTS = ("outcome", "units", "measure", "support", "identification", "cost")
_WHOLE = ("exact", "unit", "n_walks", "spread", "row_error", "intercept", "n_drawn")


def encode_contextual(model: TreeDecomposition) -> dict[str, Any]:
    """Sources, tree, and each operator with what supports it, as plain data."""
    from choquet.decomposition.trees import EVIDENCE

    tree = {name: getattr(model.tree, name) for name in (*_LINKS, "value", "coefficients", *_SUMS)}
    return {
        "sources": list(model.sources),
        "tree": tree,
        "labels": model.labels,
        "weights": model.rank_weights,
        "source_weights": model.source_weights,
        "evidence": {
            name: np.array([getattr(operator, name) for operator in model.operators])
            for name in EVIDENCE
        },
        "errors": np.array([operator.error for operator in model.operators]),
        **{name: getattr(model, name) for name in _WHOLE},
        "error": np.array(model.error),
        **{
            name: encode_value(getattr(model, name))
            for name in _PARTS
            if getattr(model, name) is not None
        },
    }


def decode_contextual(data: dict[str, Any]) -> TreeDecomposition:
    """The model again; a tree that does not hold together is refused."""
    from choquet.decomposition.operators import Errors
    from choquet.decomposition.trees import EVIDENCE, with_contexts

    sources = expect_fields(data, {"sources": NAMES})["sources"]
    tree = _tree(data["tree"], len(sources))
    table = {"labels": Array((None,), "i"), "weights": Array((None, len(sources)))}
    labels, weights = expect_fields(data, table).values()
    k = len(weights)
    # Files of earlier versions hold order statistics alone.
    by_source = data.get("source_weights", np.zeros_like(weights))
    expect_fields({"source_weights": by_source}, {"source_weights": Array(weights.shape)})
    if labels.shape != tree.source.shape or not np.array_equal(labels >= 0, tree.is_leaf):
        raise ValueError("labels must number the leaves of the tree, and nothing else")
    if set(labels[tree.leaves].tolist()) != set(range(k)):
        raise ValueError(f"labels do not number {k} operators")
    unknown = np.full(k, np.nan)
    columns = {name: data["evidence"].get(name, unknown) for name in EVIDENCE}
    counts = Array((k,), "i", low=0, high=2**53)
    expect_fields(columns, {"count": counts, "rank": counts})
    if any(column.shape != (k,) for column in columns.values()):
        raise ValueError(f"evidence must be {k} numbers each")
    evidence: list[dict[str, Any]] = [
        {
            name: int(column[number]) if name in ("count", "rank") else float(column[number])
            for name, column in columns.items()
        }
        for number in range(k)
    ]
    # Files of earlier versions hold neither measures nor errors; those of a number no classes.
    errors = data.get("errors", np.full((k, 2), np.nan))
    for one, pair in zip(evidence, errors, strict=True):
        one["error"] = Errors(*map(float, pair))
    known = {name: decode_value(data.get(name)) for name in _PARTS}
    known |= {name: data[name] for name in _WHOLE if name in data}
    if "error" in data:
        known["error"] = Errors(*map(float, data["error"]))
    made = with_contexts(sources, tree, labels, weights, by_source, evidence, **known)
    return made.in_units(known["units"])


def _tree(data: dict[str, Any], n_sources: int) -> Tree:
    from choquet.contexts.tree import Tree

    n = len(data["source"])
    if not n or any(data[name].shape != (n,) for name in (*_LINKS, *_SUMS)):
        raise ValueError("the arrays of the tree differ in length")
    source, top, above, yes, no = (data[name] for name in _LINKS)
    expect_fields(data, _TREE, n=n)
    # Files of earlier versions know no conditions on values.
    value = np.asarray(data.get("value", np.full(n, np.nan)), dtype=np.float64)
    if value.shape != (n,) or np.isinf(value).any():
        raise ValueError(f"value has shape {value.shape}, not ({n},), or is infinite")
    inner = np.flatnonzero(source >= 0)
    children = np.concatenate([yes[inner], no[inner]])
    # Every node but the root is the child of one before it: no loops, and nothing out of reach.
    if (
        sorted(children.tolist()) != list(range(1, n))
        or (np.minimum(yes[inner], no[inner]) <= inner).any()
    ):
        raise ValueError("the nodes of the tree are no tree")
    ranked = np.where((above[inner] >= 0) | np.isfinite(value[inner]), 1, top[inner])
    names = np.concatenate([source[inner], above[inner]])
    if (names >= n_sources).any() or ((ranked < 1) | (ranked >= max(n_sources, 2))).any():
        raise ValueError(f"a predicate of the tree is about more than {n_sources} sources")
    if (above[inner] == source[inner]).any():
        raise ValueError("a predicate of the tree compares a source with itself")
    if not (data["weight"] > 0).all():
        raise ValueError("a node of the tree has no weight")
    return Tree(source, top, above, value, yes, no, *(data[k] for k in ("coefficients", *_SUMS)))
