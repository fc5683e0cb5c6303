"""Plans of additive models: broken lines and small grids, summed up behind a link."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial, reduce
from itertools import pairwise
from typing import Any

import numpy as np

from choquet.additive.axes import FAR, Axis
from choquet.additive.families import BEND
from choquet.additive.model import BETWEEN, AdditiveModel, FittedTerm
from choquet.exports.classes import asked_class, chosen, meaning
from choquet.exports.plan import NO_INTERVAL, Column, Form, Formulas, Node, Plan

_LEVEL = 0.95
"""Of the bands around the outputs, as in Python by default."""

_MAX_LEAVES = 20_000
"""Numbers up to which bands are written into formulas, without arrays."""

_MAX_NUMBERS = 100_000
"""Numbers up to which bands are written into arrays: about two megabytes of text."""


@dataclass(frozen=True, eq=False)
class _Met:
    """What a row meets of a term: corners of its grid, the share of each, whether it is known."""

    term: FittedTerm
    indices: list[Node]
    shares: list[Node]
    known: Node

    def parts(self, f: Formulas, values: Any) -> list[Node]:
        """What each corner adds of some values on the grid."""
        table = _padded(values, self.term)[:, 0]
        pairs = zip(self.indices, self.shares, strict=True)
        return [f.mul(share, f.lookup(index, table)) for index, share in pairs]


def additive_plan(model: Any, label: Any, *, arrays: bool = True) -> Plan:
    """The plan of a fitted `ChoquetAdditiveRegressor` or `ChoquetAdditiveClassifier`.

    The label is the class asked for. With arrays and loops variances are short.
    """
    inner: AdditiveModel = model.model_
    f = Formulas()
    met = [_meet(f, term) for term in inner.terms]
    outputs = {"operator": f.const(-1.0)}
    outputs["supported"] = reduce(f.mul, [one.known for one in met], f.const(1.0))
    notes = [
        "Each term has an operator of its own, so that there is no number of the one operator."
    ]
    scores = [_score(f, inner, met, k) for k in range(inner.n_scores)]
    classes = tuple(getattr(model, "classes_", ()))
    if not classes:
        outputs["output"] = _output(f, model, scores[0])
        variance = _variance(f, inner, met, 0, arrays=arrays, most=_MAX_NUMBERS)
        about = "The output is what predict gives in Python."
        if variance is None:
            notes.append(NO_INTERVAL)
        else:
            if inner.kappa_error:
                variance = f.add(variance, _link_variance(f, inner, met, scores[0]))
            outputs |= _band(f, model, scores[0], variance)
            about += f" From low to high is the band for the mean, at level {_LEVEL}."
    else:
        asked = asked_class(label, classes)
        chances = _chances(f, model, scores)
        outputs |= chosen(f, chances, asked)
        if len(classes) > 2:
            outputs |= {f"p{k}": chance for k, chance in enumerate(chances)}
        about = meaning(tuple(map(str, classes)), asked)
    columns = tuple(
        Column(one.name, tuple(one.levels), -1.0 if one.kind == "nominal" else np.nan)
        for one in model.columns_
    )
    return Plan(
        columns,
        {"output": outputs.pop("output"), **outputs},
        f"{type(model).__name__} of {len(columns)} sources",
        about,
        tuple(map(str, classes)),
        tuple(notes),
    )


# -- what a row meets ------------------------------------------------------------------------------


def _place(f: Formulas, i: int, axis: Axis) -> tuple[Node, Node, Node]:
    """Cell of an input on an axis, position in it, and 1 where the axis knows the value."""
    zero, one, absent = f.const(0.0), f.const(1.0), f.missing(i)
    x, learned = f.present(i), f.const(float(axis.missing))
    if axis.n_levels:
        cell = f.step(x, np.arange(1.0, axis.n_levels))
        outside = f.any([f.less(x, zero), f.less(f.const(axis.n_levels - 0.5), x)])
        known, position = f.choose(outside, zero, one), zero
    elif len(axis.knots) < 2:
        cell, known, position = zero, one, zero
    else:
        knots = axis.knots
        cell = f.step(x, knots[1:-1])
        away = f.sub(x, f.lookup(cell, knots[:-1]))
        position = f.clip(f.mul(away, f.lookup(cell, 1 / np.diff(knots))), 0.0, 1.0)
        known = one
    slot = f.const(axis.size - 1 if axis.missing else 0)
    return (
        f.choose(absent, slot, cell),
        f.choose(absent, zero, position),
        f.choose(absent, learned, known),
    )


def _meet(f: Formulas, term: FittedTerm) -> _Met:
    """Corners of the cell along the order of the positions, largest first, and their shares."""
    places = [_place(f, i, axis) for i, axis in zip(term.sources, term.axes, strict=True)]
    sizes = [axis.size for axis in term.axes]
    strides = [int(np.prod(sizes[j + 1 :])) for j in range(len(sizes))]
    corner = f.add(*(f.mul(p[0], f.const(s)) for p, s in zip(places, strides, strict=True)))
    order = f.order([position for _, position, _ in places])
    ordered = [order.number(rank) for rank in range(order.n)]
    edges = [f.const(1.0), *ordered, f.const(0.0)]
    known = reduce(f.mul, [one[2] for one in places])
    indices = [corner, *(f.add(corner, order.prefix(k, strides)) for k in range(order.n))]
    shares = [f.mul(known, f.sub(a, b)) for a, b in pairwise(edges)]
    return _Met(term, indices, shares, known)


def _padded(values: Any, term: FittedTerm) -> Any:
    """Values on the grid, and what comes after its end, which only shares of zero look up."""
    rows = values.reshape(int(np.prod([axis.size for axis in term.axes])), -1)
    more = sum(int(np.prod([a.size for a in term.axes[j + 1 :]])) for j in range(len(term.axes)))
    return np.vstack([rows, np.zeros((more, rows.shape[1]))])


def _score(f: Formulas, model: AdditiveModel, met: list[_Met], k: int) -> Node:
    """Sum of the terms of a score, within its bounds."""
    parts = [part for one in met for part in one.parts(f, one.term.values[k])]
    return f.clip(f.add(*parts, f.const(0.0)), *model.bounds[k])


# -- how sure it is --------------------------------------------------------------------------------


def _variance(
    f: Formulas,
    model: AdditiveModel,
    met: list[_Met],
    k: int,
    *,
    arrays: bool,
    most: float = np.inf,
) -> Node | None:
    """Posterior variance of a score, widened for terms left out; None where it is too long."""
    n_fixed = model.fixed.shape[1]
    start = np.full(n_fixed, -1.0 / n_fixed if n_fixed > 1 else 1.0)
    bases = tuple(_padded(b, m.term) for b, m in zip(model.bases, met, strict=True))
    form = Form(start, bases, tuple(len(m.indices) for m in met), model.covariance[k])
    indices = [index for one in met for index in one.indices]
    shares = [share for one in met for share in one.shares]
    if form.n_numbers > most or (not arrays and form.n_leaves > _MAX_LEAVES):
        return None
    if arrays:
        known = f.node("form", *indices, *shares, data=form)
    else:
        known = f.spelled_form(indices, shares, form)
    left_out = [f.mul(f.sub(f.const(1.0), one.known), f.const(one.term.unknown(k))) for one in met]
    between = [_between(f, one, k) for one in met]
    outside = [one for term in met for one in _outside(f, term, k)]
    return f.add(f.node("max", known, f.const(0.0)), *outside, *between, *left_out)


def _outside(f: Formulas, met: _Met, k: int) -> Iterator[Node]:
    """What a term may be off outside of its knots, as `score_variance` has it."""
    for a, (i, axis) in enumerate(zip(met.term.sources, met.term.axes, strict=True)):
        edges = met.term.edges(k, a)
        if not edges.any():
            continue
        x = f.present(i)
        far = FAR * (axis.knots[-1] - axis.knots[0])
        away = f.clip(f.sub(x, f.clip(x, axis.knots[0], axis.knots[-1])), -far, far)
        squares = f.choose(f.missing(i), f.const(0.0), f.mul(away, away))
        yield f.mul(squares, f.add(*met.parts(f, edges)))


def _between(f: Formulas, met: _Met, k: int) -> Node:
    """What a term may be off between its knots, as `score_variance` has it."""
    bends = met.parts(f, met.term.bends(k))
    squares = f.add(*(f.mul(share, share) for share in met.shares))
    inside = f.mul(f.const(BETWEEN), f.sub(f.const(1.0), squares))
    return f.mul(inside, f.add(*bends))


def _link_variance(f: Formulas, model: AdditiveModel, met: list[_Met], score: Node) -> Node:
    """What an uncertain link adds to the variance of the score, as `score_variance` has it."""
    raw = f.add(score, f.const(model.fixed[0, 0]))
    if model.kappa == 0:
        moved = f.mul(f.const(0.5), f.mul(raw, raw))
    else:
        kappa = f.const(model.kappa)
        growth, mean = _linked(f, model.kappa, raw)
        moved = f.div(f.sub(raw, f.div(mean, growth)), kappa)
    parts, start = [f.const(-model.kappa_answer[0])], 1
    for basis, one in zip(model.bases, met, strict=True):
        answer = model.kappa_answer[start : start + basis.shape[1]]
        parts += one.parts(f, -(basis @ answer))
        start += basis.shape[1]
    off = f.mul(f.const(model.kappa_error), f.add(moved, *parts))
    return f.mul(off, off)


def _linked(f: Formulas, link: float, raw: Node) -> tuple[Node, Node]:
    """Slope of a link that multiplies at a score, and its output."""
    kappa = f.const(link)
    stretched = f.mul(kappa, raw)
    bent = f.clip(stretched, *BEND)
    growth = f.exp(bent)
    line = f.mul(f.sub(stretched, bent), growth)
    return growth, f.div(f.add(growth, line, f.const(-1.0)), kappa)


def _band(f: Formulas, model: Any, score: Node, variance: Node) -> dict[str, Node]:
    from scipy import stats

    z = float(stats.t.ppf((1 + _LEVEL) / 2, max(model.n_rows_ - model.edf_, 1.0)))
    half = f.mul(f.const(z), f.node("sqrt", variance))
    ends = [_output(f, model, f.sub(score, half)), _output(f, model, f.add(score, half))]
    return {"low": f.node("min", *ends), "high": f.node("max", *ends)}


def _output(f: Formulas, model: Any, score: Node) -> Node:
    """A score behind the link, in the units of the target."""
    raw = f.add(score, f.const(model.model_.fixed[0, 0]))
    mean = raw if model.link_ == 0 else _linked(f, model.link_, raw)[1]
    return f.add(f.mul(f.const(model.scale_), mean), f.const(model.centre_))


# -- classes ---------------------------------------------------------------------------------------


def _chances(f: Formulas, model: Any, scores: list[Node]) -> list[Node]:
    one, fixed = f.const(1.0), model.model_.fixed
    if hasattr(model, "thresholds_"):
        below = [f.sigmoid(f.sub(f.const(edge), scores[0])) for edge in model.thresholds_]
        edges = [f.const(0.0), *below, one]
        return [f.node("max", f.sub(high, low), f.const(0.0)) for low, high in pairwise(edges)]
    odds = [f.add(score, f.const(fixed[k, 0])) for k, score in enumerate(scores)]
    if len(odds) == 1:
        second = f.sigmoid(odds[0])
        return [f.sub(one, second), second]
    top = reduce(partial(f.node, "max"), odds)
    sizes = [f.exp(f.sub(each, top)) for each in odds]
    total = f.add(*sizes)
    return [f.div(size, total) for size in sizes]
