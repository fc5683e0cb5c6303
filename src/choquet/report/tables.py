"""Tables of a report: indices, support by subset, questions of a tree, what each source gives."""

from __future__ import annotations

from math import comb
from typing import Any

import numpy as np

from choquet.arrays import FloatArray
from choquet.decomposition import Decomposition
from choquet.explanation.answers import Answers
from choquet.explanation.view import View
from choquet.indices import banzhaf, interaction

_LISTED_SUBSETS = 30
"""Subsets in the table of support: all of them up to five sources."""

_TABLED_SOURCES, _LISTED_PAIRS = 20, 20
"""Sources up to which all pairs are tabled, and how many of the strongest are listed beyond."""


def index_table(parts: Decomposition) -> dict[str, Any] | None:
    """Indices of the measure, or of the walks listed where few of its values are known."""
    measure = parts.measure
    if measure is None:
        return None
    dense = measure.is_dense or measure.as_mobius is not None
    pairs = None
    if dense:
        pairs = interaction(measure)
        found: dict[str, Any] = {"shapley": pairs.diagonal(), "banzhaf": banzhaf(measure)}
    elif parts.tree is None:
        found = {"shapley": parts.clusters.sample.graph.contributions(), "banzhaf": None}
    else:
        return None
    many = len(measure.sources) > _TABLED_SOURCES
    return {
        **found,
        "observed": not dense,
        "interaction": None if many else pairs,
        "pairs": _strongest(pairs, parts.sources) if many and pairs is not None else None,
    }


def _strongest(pairs: FloatArray, sources: tuple[str, ...]) -> list[dict[str, Any]]:
    """The pairs of sources with the largest interactions, either way."""
    first, second = np.triu_indices(len(sources), 1)
    best = np.argsort(-np.abs(pairs[first, second]), kind="stable")[:_LISTED_PAIRS]
    return [
        {"pair": [sources[first[k]], sources[second[k]]], "value": pairs[first[k], second[k]]}
        for k in best
    ]


def support_table(view: View) -> dict[str, Any] | None:
    """Supported subsets by size, and the least known ones one by one."""
    measure, support = view.parts.measure, view.parts.support
    if support is None or measure is None:
        return None
    n = support.n_sources
    by_size = np.bincount(
        np.bitwise_count(support.words).sum(axis=1, dtype=np.int64), minlength=n + 1
    )
    rows = [
        {"size": size, "subsets": comb(n, size), "supported": int(by_size[size])}
        for size in range(1, n)
    ]
    if view.bounds is None:
        return {"by_size": rows, "n_subsets": 2**n - 2, "subsets": []}
    lower, upper, known, counts = view.bounds
    inner = np.arange(1, 2**n - 1)
    width = np.where(known, 0.0, 1.0) if not measure.monotone else upper - lower
    if len(inner) > _LISTED_SUBSETS:
        inner = inner[np.lexsort((counts[inner], -width[inner]))][:_LISTED_SUBSETS]
    subsets = [
        {
            "subset": name,
            "value": measure.values[mask],
            "low": lower[mask],
            "high": upper[mask],
            "samples": int(counts[mask]),
        }
        for mask, name in zip(inner, measure.formatted(inner), strict=True)
    ]
    return {"by_size": rows, "n_subsets": 2**n - 2, "subsets": subsets}


def tree_table(view: View) -> list[dict[str, Any]] | None:
    """Nodes of the tree in reading order, each with its depth and what it asks or takes."""
    parts, tree, contexts = view.parts, view.parts.tree, view.parts.leaves
    if tree is None:
        return None
    found: list[dict[str, Any]] = []
    pending: list[tuple[int, int, str]] = [(0, 0, "")]
    while pending:
        node, depth, branch = pending.pop()
        here: dict[str, Any] = {"node": node, "depth": depth, "branch": branch, "question": None}
        here["weight"] = float(tree.weight[node])
        if tree.source[node] < 0:
            context = contexts[node]
            operator = parts.operators[context.operator]
            here |= {
                "operator": operator.number,
                "rule": context.words(view.sources) or "always",
                "share": context.share,
                "trust": operator.trust,
            }
        else:
            here["question"] = tree.question(node, parts.units).text(view.sources)
            pending.append((int(tree.no[node]), depth + 1, "no"))
            pending.append((int(tree.yes[node]), depth + 1, "yes"))
        found.append(here)
    return found


def source_table(
    view: View, inputs: FloatArray | None, answers: Answers | None
) -> list[dict[str, Any]] | None:
    """Of a tree: how often it asks for each source, and what the source gives on the samples.

    `answers` are those to all of them, where these are known.
    """
    tree = view.parts.tree
    if tree is None:
        return None
    given = None if inputs is None or not len(inputs) else _contributions(view, inputs, answers)
    inner, shares = tree.source >= 0, tree.weight / tree.weight[0]
    rows = []
    for i, name in enumerate(view.sources):
        asked = inner & ((tree.source == i) | (tree.above == i))
        rows.append(
            {
                "source": name,
                "asked": int(asked.sum()),
                "asked_share": float(min(shares[asked].sum(), 1.0)),
                "mean": None if given is None else float(given[:, i].mean()),
                "mean_size": None if given is None else float(np.abs(given[:, i]).mean()),
            }
        )
    return rows


def _contributions(view: View, inputs: FloatArray, answers: Answers | None) -> FloatArray:
    """What each source gives to each output, in the units of the data."""
    if answers is not None:
        scaled, labels, sorts = answers.scaled, answers.known.operator, answers.known.sort
    else:
        scaled = view.scaled(inputs)
        labels, _, sorts, *_ = view.parts.decided(scaled)
    found = np.empty_like(scaled)
    np.put_along_axis(found, sorts, view.parts.rank_weights[labels], axis=1)
    return np.asarray((found + view.parts.source_weights[labels]) * scaled * view.width)
