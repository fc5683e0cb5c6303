"""Everything a report says of a contextual model, as plain data that JSON can hold."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from choquet._version import __version__
from choquet.arrays import BoolArray, FloatArray, as_vector
from choquet.contexts.conditions import Condition
from choquet.decomposition.outcome import Outcome
from choquet.errors import DataError
from choquet.explanation.contextual import explain_contextual
from choquet.explanation.learned import Learned
from choquet.explanation.phrases import plain
from choquet.report.sliders import slider_data

__all__ = ["held", "summarise_contextual"]


def summarise_contextual(
    learned: Learned,
    inputs: FloatArray | None,
    y: npt.ArrayLike | None,
    *,
    title: str,
    n_samples: int,
) -> dict[str, Any]:
    """What a report says about a contextual model; `summarise` comes here by itself."""
    story = explain_contextual(learned)
    model = learned.model
    known = None if inputs is None else _answers(learned, inputs)
    targets = None if y is None or inputs is None else _targets(learned, y, len(inputs))
    units = None if learned.units is None else learned.units.to_dict()
    data = {
        "format": "choquet report",
        "format_version": 1,
        "kind": "contextual",
        "library_version": __version__,
        "title": title,
        "sources": model.sources,
        "n_operators": model.n_operators,
        "units": units,
        "story": {
            "opening": story.opening(),
            "certificate": story.certificate(),
            "units": None if story.units is None else story.units.text(story.sources),
            "classes": None if learned.outcome is None else " ".join(learned.outcome.notes()),
        },
        "model": story.to_dict(),
        "output": {
            "name": story.output_name
            if learned.units is None or learned.outcome is not None
            else learned.units.target,
            "label": learned.label,
        },
        "tree": _nodes(learned),
        "source_table": _sources(learned, known),
        "samples": _samples(inputs, known, targets, n_samples),
        "errors": _errors(learned, known, targets),
        "explorer": {
            **slider_data(len(model.sources), learned.units, inputs),
            "tree": {
                name: getattr(model.tree, name) for name in ("source", "top", "above", "yes", "no")
            },
            "labels": model.labels,
            "weights": model.weights,
            "biases": model.biases,
            "logistic": learned.label is not None,
        },
    }
    found: dict[str, Any] = plain(data)
    return found


def _targets(learned: Learned, y: npt.ArrayLike, n: int) -> npt.NDArray[Any]:
    return as_vector(y, "y", n) if learned.outcome is None else held(learned.outcome, y, n)


def held(outcome: Outcome, y: npt.ArrayLike, n: int) -> BoolArray:
    """Which of n samples are of the class in question."""
    found = outcome.holds(y)
    if len(found) != n:
        raise DataError(f"y must hold {n} values, not {len(found)}")
    return found


def _answers(learned: Learned, inputs: FloatArray) -> dict[str, npt.NDArray[Any]]:
    scaled, model = learned.scaled(inputs), learned.model
    leaves = model.leaf_of(scaled)
    operators = np.asarray(model.labels[leaves])
    sorts = np.argsort(-scaled, axis=1, kind="stable")
    contributions = np.empty_like(scaled)
    ordered = np.take_along_axis(scaled, sorts, axis=1)
    width = 1.0 if learned.units is None else learned.units.target_width
    np.put_along_axis(contributions, sorts, ordered * model.weights[operators] * width, axis=1)
    trust = np.array([operator.trust for operator in model.operators])
    return {
        "leaf": leaves,
        "operator": operators,
        "output": learned.output(model.predict(scaled)),
        "contributions": contributions,
        "trust": trust[operators],
        "supported": np.isin(leaves, learned.trusted_leaves()),
    }


def _nodes(learned: Learned) -> list[dict[str, Any]]:
    """Nodes of the tree in reading order, each with its depth and what it asks or takes."""
    model, tree = learned.model, learned.model.tree
    found: list[dict[str, Any]] = []
    pending: list[tuple[int, int, str]] = [(0, 0, "")]
    while pending:
        node, depth, branch = pending.pop()
        source, top, above = (int(a[node]) for a in (tree.source, tree.top, tree.above))
        here: dict[str, Any] = {"node": node, "depth": depth, "branch": branch, "question": None}
        here["weight"] = float(tree.weight[node])
        if source < 0:
            operator = model.operators[model.labels[node]]
            here |= {
                "operator": int(model.labels[node]),
                "rule": model.leaves[node].text(model.sources) or "always",
                "share": model.leaves[node].share,
                "trust": operator.trust,
            }
        else:
            condition = Condition(source, top=top) if above < 0 else Condition(source, above=above)
            here["question"] = condition.text(model.sources)
            pending.append((int(tree.no[node]), depth + 1, "no"))
            pending.append((int(tree.yes[node]), depth + 1, "yes"))
        found.append(here)
    return found


def _sources(learned: Learned, known: dict[str, npt.NDArray[Any]] | None) -> list[dict[str, Any]]:
    """How often the rules ask for each source, and what it gives on the samples."""
    tree = learned.model.tree
    inner = tree.source >= 0
    shares = tree.weight / tree.weight[0]
    rows = []
    for i, name in enumerate(learned.sources):
        asked = inner & ((tree.source == i) | (tree.above == i))
        given = None if known is None else known["contributions"][:, i]
        rows.append(
            {
                "source": name,
                "asked": int(asked.sum()),
                "asked_share": float(min(shares[asked].sum(), 1.0)),
                "mean": None if given is None else float(given.mean()),
                "mean_size": None if given is None else float(np.abs(given).mean()),
            }
        )
    return rows


def _samples(
    inputs: FloatArray | None,
    known: dict[str, npt.NDArray[Any]] | None,
    targets: npt.NDArray[Any] | None,
    most: int,
) -> dict[str, Any] | None:
    if inputs is None or known is None:
        return None
    rows = [
        {
            "inputs": inputs[k],
            "output": known["output"][k],
            "operator": known["operator"][k],
            "leaf": known["leaf"][k],
            "trust": known["trust"][k],
            "target": None if targets is None else float(targets[k]),
        }
        for k in range(min(most, len(inputs)))
    ]
    return {"n": len(inputs), "rows": rows}


def _errors(
    learned: Learned,
    known: dict[str, npt.NDArray[Any]] | None,
    targets: npt.NDArray[Any] | None,
) -> dict[str, Any] | None:
    """Errors against targets, and apart for contexts with and without support."""
    if known is None or targets is None or not len(targets):
        return None
    supported = known["supported"]
    rows = [("all samples", np.ones(len(targets), dtype=np.bool_))]
    if not supported.all():
        rows += [("in supported contexts", supported), ("in others", ~supported)]
    if learned.label is not None:
        right = (known["output"] > 0) == targets
        return {
            "classes": True,
            "rows": [
                {"which": name, "n": int(inside.sum()), "right": float(right[inside].mean())}
                for name, inside in rows
                if inside.any()
            ],
        }
    away = known["output"] - targets
    return {
        "classes": False,
        "rows": [
            {
                "which": name,
                "n": int(inside.sum()),
                "rmse": float(np.sqrt(np.mean(away[inside] ** 2))),
                "mae": float(np.mean(np.abs(away[inside]))),
            }
            for name, inside in rows
            if inside.any()
        ],
    }
