"""Plans of measures, decompositions, regressors and classifiers, through their one view."""

from __future__ import annotations

from functools import reduce
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from choquet.arrays import FloatArray, IntArray
from choquet.contexts.tree import Tree
from choquet.decomposition import Decomposition
from choquet.decomposition.runtime import TRUSTED
from choquet.errors import OptionError, TooLargeError
from choquet.explanation.view import View, operators_view
from choquet.exports.classes import asked_class, chosen, meaning
from choquet.exports.plan import Column, Formulas, Node, Order, Plan
from choquet.measures import AbstractMeasure
from choquet.scales import Units, unwrapped
from choquet.walks import all_sorts

MAX_DENSE = 12
"""Sources up to which the 2**N values of a measure are written out."""

_MAX_SORTED = 64
"""Sources up to which operators with contexts are: each is compared with each other."""

_MAX_LISTED = 8
"""Sources up to which the operator of every sort of a clustered decomposition is."""


def plan_of(model: Any, *, label: Any = None, arrays: bool = True) -> Plan:
    """The plan of anything that can be exported.

    Parameters
    ----------
    model : measure, decomposition, fitted estimator, or pipeline that ends in one
    label : object, optional
        Of a classifier: the class whose probability is the output.
    arrays : bool, default True
        Whether the plan is for a language with arrays and loops.

    Returns
    -------
    Plan

    Raises
    ------
    TooLargeError
        If there are too many sources.
    OptionError
        If it cannot be exported, or has no such class.

    Examples
    --------
    >>> from choquet import Measure
    >>> plan = plan_of(Measure([0, 0, 0, 1], sources=["ir", "emi"]))
    >>> [column.name for column in plan.columns], sorted(plan.outputs)
    (['ir', 'emi'], ['operator', 'output', 'supported'])
    """
    if isinstance(model, View):
        return _single(model, label)
    inner, units, names, _ = unwrapped(model)
    _check_kind(inner)
    sums = _additive_plan(inner, label, arrays)
    if sums is not None:
        if units is not None or names is not None:
            raise OptionError(
                "an additive model takes the data as they are; export the model itself, without "
                f"the {type(model).__name__} around it"
            )
        return sums
    # Outputs may become probabilities of classes.
    outcomes: Any = getattr(inner, "outcomes_", None)
    if isinstance(inner, Decomposition) or not outcomes or outcomes[0].kind == "score":
        return _single(model, label)
    return _classes(model, inner, label)


def _check_kind(inner: Any) -> None:
    """Raise for what is not fitted, and for what this room knows nothing of."""
    if isinstance(inner, AbstractMeasure | Decomposition):
        return
    if hasattr(inner, "get_params") and hasattr(inner, "fit"):
        from choquet.estimators.foundation import check_is_fitted

        check_is_fitted(inner)
        if type(inner).__module__.startswith("choquet."):
            return
    raise OptionError(
        f"a {type(inner).__name__} cannot be exported; give a measure, a decomposition, a fitted "
        "model of choquet, or a pipeline that ends in one"
    )


def _additive_plan(inner: Any, label: Any, arrays: bool) -> Plan | None:
    if isinstance(inner, Decomposition) or not hasattr(inner, "get_params"):
        return None
    from choquet.estimators.additive.regressor import Additive

    if not isinstance(inner, Additive):
        return None
    from choquet.exports.additive import additive_plan

    return additive_plan(inner, label, arrays=arrays)


# -- one view --------------------------------------------------------------------------------------


class Answer(NamedTuple):
    """What one view gives for a row, on the common scale, before anything is missing."""

    output: Node
    operator: Node
    supported: Node
    interval: tuple[Node, Node] | None = None


def _single(model: Any, label: Any) -> Plan:
    view = operators_view(model, label=label)
    f = Formulas()
    answer = _answer(f, view, _inputs(f, view))
    outputs = {
        "output": _in_data(f, view.units, answer.output),
        "operator": answer.operator,
        "supported": answer.supported,
    }
    if answer.interval is not None:
        low, high = (_in_data(f, view.units, end) for end in answer.interval)
        outputs |= {"low": low, "high": high}
    meaning = "The output is what predict gives in Python."
    if view.outcome is not None:
        meaning = view.outcome.text()
    return _plan(f, model, view, outputs, meaning)


def _plan(
    f: Formulas,
    model: Any,
    view: View,
    outputs: dict[str, Node],
    meaning: str,
    classes: tuple[str, ...] = (),
) -> Plan:
    columns = tuple(Column(name) for name in view.sources)
    notes = []
    if _values(view) is None and view.parts.measure is not None:
        notes.append(f"Support is not written out beyond {MAX_DENSE} sources: supported is 0.")
    if "low" in outputs:
        notes += [
            "low and high are what subsets without data leave open, as support_interval gives it;",
            "they do not reckon with noise, as the intervals of predict do.",
        ]
    what = view.own if isinstance(model, View) and view.own is not None else model
    # A model that was put into units is called by its own name.
    title = f"{type(unwrapped(what)[0]).__name__} of {len(columns)} sources"
    # There is no answer where an input is missing.
    gone = f.any([f.missing(i) for i in range(len(columns))])
    blanks = {"operator": -1.0, "supported": 0.0}
    guarded = {
        name: f.choose(gone, f.const(blanks.get(name, np.nan)), node)
        for name, node in outputs.items()
    }
    return Plan(columns, guarded, title, meaning, classes, tuple(notes))


def _inputs(f: Formulas, view: View) -> list[Node]:
    """The row on the common scale, by the same operations as in Python: ties stay ties."""
    n, units = len(view.sources), view.units
    if n > _MAX_SORTED:
        raise TooLargeError(
            f"{n} sources are more than the {_MAX_SORTED} whose order is written out; fit with "
            "fewer sources, or predict in Python"
        )
    raw = [f.present(i) for i in range(n)]
    if units is None:
        return raw
    if all(scale.affine for scale in units.scales):
        return [
            f.div(f.sub(x, f.const(scale.ends[0])), f.const(scale.width))
            for x, scale in zip(raw, units.scales, strict=True)
        ]
    return [
        f.curve(x, scale.points, scale.values, clip=scale.clip)
        if not scale.affine
        else _line(f, x, scale.points, scale.values)
        for x, scale in zip(raw, units.scales, strict=True)
    ]


def _line(f: Formulas, x: Node, points: FloatArray, values: FloatArray) -> Node:
    slope = float((values[1] - values[0]) / (points[1] - points[0]))
    return f.add(f.mul(f.sub(x, f.const(points[0])), f.const(slope)), f.const(values[0]))


def _in_data(f: Formulas, units: Units | None, output: Node) -> Node:
    """An output in the units of the data."""
    return output if units is None else _line(f, output, units.target.values, units.target.points)


def _answer(f: Formulas, view: View, inputs: list[Node]) -> Answer:
    parts, order = view.parts, f.order(inputs)
    operator = _operator(f, parts, order, inputs)
    values = _values(view)
    if view.own is None:
        output = _operator_output(f, parts, order, inputs, operator)
    elif values is None:
        n = len(inputs)
        raise TooLargeError(
            f"{n} sources have 2**{n} values, which are written out up to {MAX_DENSE} sources; "
            "export the few operators in their place: "
            "choquet.export(choquet.decompose(model), path, to=...)"
        )
    else:
        intercept = f.const(parts.intercept)
        output = f.add(_integral(f, order, values.middle), intercept)
    if parts.measure is None:
        trust = [float(one.trust >= TRUSTED) for one in parts.operators]
        return Answer(output, operator, f.lookup(operator, trust))
    if values is None:
        return Answer(output, operator, f.const(0.0))
    supported = _supported(f, view, order, values)
    if values.lower is None or values.upper is None:
        return Answer(output, operator, supported)
    ends = [
        f.add(_integral(f, order, end), f.const(parts.intercept))
        for end in (values.lower, values.upper)
    ]
    return Answer(output, operator, supported, (ends[0], ends[1]))


# -- measures --------------------------------------------------------------------------------------


class _Values(NamedTuple):
    """Values of all subsets by mask."""

    middle: FloatArray
    lower: FloatArray | None
    upper: FloatArray | None
    supported: Any
    """By mask, or None where all are."""


def _values(view: View) -> _Values | None:
    """What is known of all subsets; None where there is no measure, or there are too many."""
    measure, support = view.parts.measure, view.parts.support
    if measure is None or measure.n_sources > MAX_DENSE:
        return None
    subsets = np.arange(1 << measure.n_sources)
    lower, upper = measure.bounds(subsets)
    middle = (lower + upper) / 2 if measure.known_words is not None else measure.values_of(subsets)
    if measure.known_words is not None:
        known = np.zeros(len(subsets), dtype=np.bool_)
        known[[0, -1, *measure.known_words[:, 0].astype(np.int64)]] = True
        return _Values(middle, lower, upper, known)
    if support is None:
        return _Values(middle, None, None, None)
    if view.bounds is None or not measure.monotone:
        return _Values(middle, None, None, support.supported)
    return _Values(middle, view.bounds[0], view.bounds[1], support.supported)


def _sets(order: Order, rank: int) -> tuple[Node, Any]:
    """Mask of the sources up to a rank, and the masks that it can be."""
    n = order.n
    masks = np.arange(1 << n)
    return (
        order.prefix(rank, [1 << i for i in range(n)]),
        masks[np.bitwise_count(masks) == rank + 1],
    )


def _integral(f: Formulas, order: Order, values: FloatArray) -> Node:
    """Choquet integral: each gap times the value of the set above it."""
    parts = [
        f.mul(order.gap(rank), f.lookup(mask, values, possible))
        for rank in range(order.n)
        for mask, possible in [_sets(order, rank)]
    ]
    return f.add(*parts)


def _supported(f: Formulas, view: View, order: Order, values: _Values) -> Node:
    """1 where data support the sets at all strict gaps, or enough of them."""
    parts, n = view.parts, order.n
    if values.supported is None or n == 1:
        return f.const(1.0)
    tolerance = 0.0 if parts.support is None else parts.support.tolerance
    width = order.tie_width()
    if tolerance:
        width = f.node("max", width, f.const(tolerance))
    lacking = []
    for rank in range(n - 1):
        mask, possible = _sets(order, rank)
        gone = f.lookup(mask, ~values.supported, possible)
        lacking.append(f.choose(f.less(width, order.gap(rank)), gone, f.const(0.0)))
    allowed = max(k for k in range(n) if k == 0 or k / (n - 1) < parts.epsilon)
    few = f.less(f.add(*lacking), f.const(allowed + 0.5))
    return f.choose(few, f.const(1.0), f.const(0.0))


# -- operators -------------------------------------------------------------------------------------


def _operator(f: Formulas, parts: Decomposition, order: Order, inputs: list[Node]) -> Node:
    """Number of the operator that decides."""
    if parts.n_operators == 1:
        return f.const(0.0)
    order = f.settled(order)
    if parts.tree is not None:
        return _leaf(f, parts.tree, parts.labels, order, inputs, 0)
    n = order.n
    if n > _MAX_LISTED:
        raise TooLargeError(
            f"the clusters of {n} sources hold {n}! sorts, which are written out up to "
            f"{_MAX_LISTED} sources; export choquet.decompose(measure), whose contexts are "
            "conditions"
        )
    return _of_sort(f, order, parts.operator_of_sorts(all_sorts(n)))


def _leaf(
    f: Formulas, tree: Tree, labels: IntArray, order: Order, inputs: list[Node], node: int
) -> Node:
    source, other = int(tree.source[node]), int(tree.above[node])
    if source < 0:
        return f.const(labels[node])
    yes, no = (_leaf(f, tree, labels, order, inputs, int(way[node])) for way in (tree.yes, tree.no))
    if np.isfinite(tree.value[node]):
        # "At least" is "not less", so that the ways change places.
        return f.choose(f.less(inputs[source], f.const(tree.value[node])), no, yes)
    bound = order.rank(other) if other >= 0 else f.const(tree.top[node])
    return f.choose(f.less(order.rank(source), bound), yes, no)


def _of_sort(f: Formulas, order: Order, labels: Any) -> Node:
    """Operator by the lexicographic number of the sort (Lehmer code)."""
    n = order.n
    factorials = np.cumprod([1, *range(1, n)])[::-1]
    parts = []
    for j in range(1, n):
        later = [
            f.choose(f.less(order.rank(j), order.rank(i)), f.const(1.0), f.const(0.0))
            for i in range(j)
        ]
        parts.append(f.mul(f.add(*later), f.lookup(order.rank(j), factorials)))
    return f.lookup(f.add(*parts), labels)


def _operator_output(
    f: Formulas, parts: Decomposition, order: Order, inputs: list[Node], operator: Node
) -> Node:
    """Weights by rank and by source of the operator that decides, times the inputs."""
    sums = [
        f.mul(order.number(rank), f.lookup(operator, weights))
        for rank, weights in enumerate(parts.rank_weights.T)
        if weights.any()
    ]
    sums += [
        f.mul(inputs[i], f.lookup(operator, weights))
        for i, weights in enumerate(parts.source_weights.T)
        if weights.any()
    ]
    return f.add(*sums, f.lookup(operator, parts.biases))


# -- classes ---------------------------------------------------------------------------------------


def _classes(model: Any, inner: Any, label: Any) -> Plan:
    """Probabilities: of the class asked for, of the second of two, or of each of several."""
    classes = inner.outcomes_[0].classes
    names = tuple(map(str, classes))
    asked = asked_class(label, classes)
    f = Formulas()
    views = [operators_view(model, label=classes[one.number or 0]) for one in inner.outcomes_]
    answers = [_answer(f, view, _inputs(f, view)) for view in views]
    chances = _chances(
        f, inner, [_odds(f, one, view) for one, view in zip(answers, views, strict=True)]
    )
    outputs = {**chosen(f, chances, asked), **_place(f, inner, answers, asked)}
    if len(classes) > 2:
        outputs |= {f"p{k}": chance for k, chance in enumerate(chances)}
    return _plan(f, model, views[0], outputs, meaning(names, asked), names)


def _odds(f: Formulas, answer: Answer, view: View) -> Node:
    outcome = view.outcome
    assert outcome is not None
    if outcome.kind == "level":
        return answer.output
    return f.add(f.mul(f.const(outcome.slope), answer.output), f.const(outcome.intercept))


def _chances(f: Formulas, inner: Any, odds: list[Node]) -> list[Node]:
    """Probabilities of all classes."""
    one = f.const(1.0)
    outcomes = inner.outcomes_
    n_classes = len(outcomes[0].classes)
    if outcomes[0].kind == "level":
        slope = f.const(float(inner.scales_[0]) if inner.monotone else 1.0)
        above = [
            f.sigmoid(f.add(f.mul(slope, odds[0]), f.const(intercept)))
            for intercept in inner.intercepts_
        ]
        edges = [one, *above, f.const(0.0)]
        zero = f.const(0.0)
        shares = [f.node("max", f.sub(high, low), zero) for high, low in pairwise(edges)]
    elif n_classes == 2:
        second = f.sigmoid(odds[0])
        return [f.sub(one, second), second]
    else:
        shares = [f.sigmoid(one_odds) for one_odds in odds]
    total = f.add(*shares)
    return [f.div(share, total) for share in shares]


def _place(f: Formulas, inner: Any, answers: list[Answer], asked: int | None) -> dict[str, Node]:
    """Operator and support of what serves the class; of all, where none was asked for."""
    if len(answers) == 1 or asked is not None:
        served = [k for k, one in enumerate(inner.outcomes_) if asked is None or one.serves(asked)]
        answer = answers[served[0]]
        return {"operator": answer.operator, "supported": answer.supported}
    supported = reduce(f.mul, [one.supported for one in answers])
    return {"operator": f.const(-1.0), "supported": supported}
