"""One view of anything fitted: its operators, the units of its data, and what it answers itself."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from types import SimpleNamespace
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from choquet.arrays import BoolArray, FloatArray, IntArray
from choquet.certainty.noise import Noise
from choquet.contexts import RuleList
from choquet.decomposition import ContextualOperator, Decomposition, decompose
from choquet.decomposition.outcome import Outcome, outcome_of, place_of
from choquet.decomposition.runtime import TRUSTED, Assessment, assess
from choquet.errors import DataError, OptionError, SolverError
from choquet.explanation.abstract import AbstractView
from choquet.explanation.phrases import operator_phrase, operator_phrases
from choquet.lattice import downward_minimum, upward_maximum
from choquet.measures import Measure
from choquet.scales import Units, Unwrapped, unwrapped
from choquet.walks import DataSupport

_MAX_RULED = 32
"""Operators up to which rules are looked for: beyond, nobody would read them, nor wait for them."""

LEVEL = 0.95
"""Level of confidence of intervals that nobody asked a level for."""
_SURE_SOURCES = 7
"""Sources up to which the interval of an output takes milliseconds."""
_IDENTIFIED = 30
"""Supported subsets up to which near-optimal intervals are looked for unasked."""

NO_RULES = f"More than {_MAX_RULED} operators are too many for rules; decompose into fewer."
"""What is said in place of rules."""

_KEPT: WeakKeyDictionary[Any, tuple[Any, tuple[str, ...] | None, Decomposition]] = (
    WeakKeyDictionary()
)
"""Decompositions of estimators, with the measure and the names that they were made from."""


@dataclass(frozen=True, eq=False, repr=False)
class View(AbstractView):
    """What explanations and reports look at, whatever was fitted.

    Attributes
    ----------
    parts : Decomposition
        The operators and when each is used, in the units of the data.
    own : object or None
        The measure or estimator that answers by itself, on the common scale, so that the operators
        are a summary of it; None where they are the model.
    target : str or None
        What is predicted, where that has a name.

    Examples
    --------
    >>> from choquet import Measure
    >>> view_of(Measure([0, 0, 0, 1], sources=["ir", "emi"])).sources
    ('ir', 'emi')
    """

    parts: Decomposition
    own: Any = None
    target: str | None = None

    @cached_property
    def sources(self) -> tuple[str, ...]:
        """Names of the sources."""
        return self.parts.sources

    @cached_property
    def units(self) -> Units | None:
        """Of the data, where they are scaled."""
        return self.parts.units

    @cached_property
    def outcome(self) -> Outcome | None:
        """What the output says of a class, if of one."""
        return self.parts.outcome

    @cached_property
    def learned(self) -> bool:
        """Whether the operators were learned directly, so that there is no measure behind them."""
        return self.parts.measure is None

    @cached_property
    def width(self) -> float:
        """How much one of the operators' output is in the data."""
        return 1.0 if self.units is None else self.units.width

    @cached_property
    def signs(self) -> FloatArray | None:
        """Of a monotone measure: 1 for sources of which more gives more, -1 for the others.

        None where there is no such measure, or a source is best in between.
        """
        measure, units = self.parts.measure, self.units
        if measure is None or not measure.monotone:
            return None
        if units is None:
            return np.ones(len(self.sources))
        known = {"higher": 1.0, "lower": -1.0}
        found = [known.get(str(scale.direction), 0.0) for scale in units.scales]
        return np.array(found) if all(found) else None

    @cached_property
    def rules(self) -> RuleList | None:
        """The rules, or None if there are too many operators to have any worth reading."""
        return self.parts.rules if len(self.parts.operators) <= _MAX_RULED else None

    @cached_property
    def names(self) -> list[str]:
        """Names of the operators."""
        return self.parts.operator_names

    @cached_property
    def _long(self) -> dict[int, str]:
        return {}

    def phrase(self, operator: ContextualOperator) -> str:
        """What an operator takes, spelled out where it is made from a measure."""
        number = operator.number
        if operator.count or operator.source_weights.any():
            return self.phrases[number]
        if number not in self._long:
            self._long[number] = operator_phrase(operator.rank_weights)
        return self._long[number]

    @cached_property
    def phrases(self) -> list[str]:
        """What each operator takes, in words."""
        return operator_phrases(self.parts)

    def scaled(self, inputs: FloatArray) -> FloatArray:
        """Inputs that were checked, on the common scale."""
        return inputs if self.units is None else self.units.scaled(inputs)

    def in_data(self, scaled: npt.ArrayLike) -> FloatArray:
        """Outputs in the units of the data."""
        found = np.asarray(scaled, dtype=np.float64)
        return found if self.units is None else self.units.output(found)

    def outputs(self, inputs: FloatArray) -> FloatArray:
        """What the model gives for inputs that were checked, both in the units of the data."""
        return self.in_data(self.answers(self.scaled(inputs)))

    def answers(self, scaled: FloatArray, known: Assessment | None = None) -> FloatArray:
        """What the model gives on the common scale for inputs on it; `known` is of these inputs."""
        if self.own is None:
            found = self.parts.decided(scaled) if known is None else known
            return self.parts.outputs(scaled, found.operator)
        if self.outcome is None and hasattr(self.own, "predict"):
            with unnamed():
                return np.asarray(self.own.predict(scaled), dtype=np.float64)
        return (assess(self.parts, scaled) if known is None else known).integral

    @property
    def noise(self) -> Noise | None:
        """How the noise differs between rows, on the common scale; None if it is not known to."""
        known = getattr(self.own, "noise_", None) if self.outcome is None else None
        return known if isinstance(known, Noise) else None

    def confidence(self, scaled: FloatArray, level: float = LEVEL) -> FloatArray | None:
        """Interval of each output on the common scale; None where the model has no such intervals.

        Up to 7 sources, where intervals take milliseconds.
        """
        few = scaled.shape[1] <= _SURE_SOURCES and self.outcome is None
        if not few or not hasattr(self.own, "predict_interval"):
            return None
        try:
            with unnamed():
                found = self.own.predict_interval(scaled, level=level)
        except (OptionError, SolverError):
            return None
        return np.asarray(found, dtype=np.float64)

    def sure_ends(self, scaled: FloatArray) -> FloatArray | None:
        """The same at the usual level, in the units of the data."""
        found = self.confidence(scaled)
        return None if found is None else self.in_data(found)

    def along_walk(self, scaled: FloatArray, sort: IntArray) -> tuple[float, FloatArray, float]:
        """What the model itself gives for a sample; its weights by rank there; what it adds.

        The integral of the first j sources at 1 and the others at 0 is the value of their set.
        """
        n = len(sort)
        rows = np.zeros((n + 2, n))
        for rank, source in enumerate(sort):
            rows[rank + 1 : -1, source] = 1.0
        rows[-1] = scaled[0]
        values = self.answers(rows)
        return float(values[-1]), np.diff(values[:-1]), float(values[0])

    @cached_property
    def bounds(self) -> tuple[FloatArray, FloatArray, BoolArray, IntArray] | None:
        """Of a dense measure with data: bounds of every value, which are supported, how often.

        None where there is no such measure, or no data.
        """
        measure, support = self.parts.measure, self.parts.support
        if support is None or measure is None or not measure.is_dense:
            return None
        return value_bounds(measure, support)

    def rule_of(self, leaf: int | None, sorts: IntArray) -> tuple[str, int]:
        """The rule that applies in a leaf or to a sort, in words, and the operator it names."""
        if leaf is not None:
            return self.context_of(leaf), self.parts.leaves[leaf].operator
        if self.rules is None:
            return "", -1
        for rule in self.rules.rules:
            if rule.covers(sorts)[0]:
                return rule.text(self.sources), rule.operator
        return "otherwise" if self.rules.rules else "always", self.rules.default

    def context_of(self, leaf: int) -> str:
        """Conditions of a leaf, in words."""
        return self.parts.leaves[leaf].words(self.sources) or "always"

    def trusted_leaves(self) -> list[int]:
        """Leaves whose operator the data decided more than the penalty did."""
        trust = [operator.trust for operator in self.parts.operators]
        return [leaf for leaf, rule in self.parts.leaves.items() if trust[rule.operator] >= TRUSTED]

    def explained(self, X: Any, model: Any = None) -> list[Any]:
        """Why each row got its output: an `OperatorSample` each."""
        from choquet.explanation.sample import explained_rows

        return list(explained_rows(self, X, model))

    def story(self, *, n_requests: int = 5, support: DataSupport | None = None) -> Any:
        """What the model does: an `OperatorsExplanation`."""
        from choquet.explanation.model import explain_view

        return explain_view(self, n_requests=n_requests, support=support)

    def __repr__(self) -> str:
        return f"<View of {self.parts!r}>"


@contextmanager
def unnamed() -> Iterator[None]:
    """Ask a model without names: the columns are those it learned, and a frame brings pandas."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "X does not have valid feature names")
        yield


def value_bounds(
    measure: Measure, support: DataSupport
) -> tuple[FloatArray, FloatArray, BoolArray, IntArray]:
    """Bounds of every value, by mask, if only supported ones are known; NaN if not monotone.

    With them, whether each is supported, and by how many samples.

    Examples
    --------
    >>> from choquet import DataSupport, Measure
    >>> data = DataSupport.from_data([[0.9, 0.1]])
    >>> lower, upper, supported, counts = value_bounds(Measure([0, 0.2, 0.3, 1]), data)
    >>> lower, upper
    (array([0. , 0.2, 0. , 1. ]), array([0. , 0.2, 1. , 1. ]))
    """
    counts = support.count
    supported = counts > 0
    supported[[0, -1]] = True
    if not measure.monotone:
        unknown = np.where(supported, measure.values, np.nan)
        return unknown, unknown, supported, counts
    lower = upward_maximum(np.where(supported, measure.values, 0.0))
    upper = downward_minimum(np.where(supported, measure.values, measure.values[-1]))
    return lower, upper, supported, counts


def view_of(
    model: Any, *, label: Any = None, identify: bool = False, row: FloatArray | None = None
) -> AbstractView:
    """The view of a measure, a decomposition, a fitted model, or a pipeline that ends in one.

    What may be around a model is told by `choquet.scales.unwrapped`. Of several classes that of the
    `label` is shown (see `of_class`), or that which a contextual classifier puts a `row` into,
    which is on the common scale. To `identify` is to find out what the data of a regressor
    determine, where that is quickly done: two cone programs for each of up to 30 supported subsets.

    Examples
    --------
    >>> from choquet import Measure
    >>> view_of(Measure([0, 0, 0, 1])).parts.operator_names
    ['min']
    """
    if isinstance(model, AbstractView):
        return model
    held = model if isinstance(model, Unwrapped) else unwrapped(model)
    if is_additive(held.model):
        from choquet.explanation.additive import AdditiveView

        return AdditiveView(held.model, label)
    return _operators_in(held, label, identify, row)


def is_additive(model: Any) -> bool:
    """Whether a fitted model is a sum of small integrals; to ask takes nothing apart.

    Examples
    --------
    >>> from choquet import Measure
    >>> is_additive(Measure([0, 0, 0, 1]))
    False
    """
    held = vars(model).get("model_") if hasattr(model, "__dict__") else None
    # There is none before their room is loaded.
    room = sys.modules.get("choquet.additive.model")
    return room is not None and isinstance(held, room.AdditiveModel)


def operators_view(
    model: Any, *, label: Any = None, identify: bool = False, row: FloatArray | None = None
) -> View:
    """The view of what is taken apart into operators of all sources; others are refused.

    Examples
    --------
    >>> from choquet import Measure
    >>> operators_view(Measure([0, 0, 0, 1])).parts.n_operators
    1
    """
    if isinstance(model, View):
        return model
    held = model if isinstance(model, Unwrapped) else unwrapped(model)
    if isinstance(model, AbstractView) or hasattr(held.model, "contexts_"):
        raise DataError(
            "an additive model is a sum of small integrals, each with operators of its own; see "
            "its terms_ and decomposition_"
        )
    return _operators_in(held, label, identify, row)


def _operators_in(held: Unwrapped, label: Any, identify: bool, row: FloatArray | None) -> View:
    inner, units, names, target = held
    if label is not None:
        parts, own = _of_class(inner, label, names)
    else:
        parts, own = _parts(inner, names, identify, row)
    if own is None:  # measures get their names before they are taken apart
        parts = _renamed(parts, names)
    if units is not None:
        parts = parts.in_units(units)
    named = parts.units.target_name if parts.units is not None else None
    return View(parts, own, target or named)


def _parts(
    model: Any, names: tuple[str, ...] | None, identify: bool, row: FloatArray | None
) -> tuple[Decomposition, Any]:
    """The operators of what was learned, and what they are a summary of, if of anything."""
    if isinstance(model, Decomposition):
        return model, None
    several = vars(model).get("decompositions_") if hasattr(model, "__dict__") else None
    if several is not None:
        number = 0
        if row is not None and len(several) > 1:
            number = int(np.argmax([one.predict(row)[0] for one in several]))
        outcome = model.outcomes_[number] if row is not None else outcome_of(model)
        return replace(several[number], outcome=outcome), None
    own = getattr(model, "decomposition_", None)
    if isinstance(own, Decomposition):
        return own, None
    return _kept(model, names, identify), model


def _kept(model: Any, names: tuple[str, ...] | None, identify: bool) -> Decomposition:
    """The decomposition of a measure or an estimator; of the latter it is kept as long as it."""
    held = Unwrapped(model, None, names, None)  # units are put around the parts
    if not hasattr(model, "get_params"):
        return decompose(held)
    measure, found = getattr(model, "measure_", None), _KEPT.get(model)
    fresh = found is None or found[0] is not measure or found[1] != names
    parts: Any = decompose(held) if found is None or fresh else found[2]
    if identify and parts.identification is None:
        parts = replace(parts, identification=_identification(model))
    _KEPT[model] = (measure, names, parts)
    return parts  # type: ignore[no-any-return]


def _identification(model: Any) -> Any:
    """What the data of a fitted model determine, where that is quickly found."""
    support = getattr(model, "support_", None)
    if not hasattr(model, "identify") or support is None or len(support.words) > _IDENTIFIED:
        return None
    try:
        return model.identify()
    except (OptionError, SolverError):
        return None  # absolute loss and families have no such intervals


def _renamed(parts: Decomposition, names: tuple[str, ...] | None) -> Decomposition:
    """Contexts that were learned, with other names of the sources."""
    if names is None or names == parts.sources or parts.tree is None:
        return parts
    found: Any = parts
    contexts = replace(found.contexts, sources=names)
    operators = [replace(one, sources=names, contexts=contexts) for one in parts.operators]
    return replace(found, contexts=contexts, operators=tuple(operators))  # type: ignore[no-any-return]


def of_class(model: Any, label: Any) -> Decomposition:
    """What a classifier learned for one class; pass it to `explain_model`, `Report` and others.

    Parameters
    ----------
    model : fitted classifier, or a pipeline that ends in one
    label : object
        A class, its name, or the number that its name is.

    Returns
    -------
    Decomposition
        Of the class against the rest; its ``outcome`` says so. Where one measure serves all classes
        (two of them, ordered ones, or one shared measure), of that one.

    Raises
    ------
    OptionError
        If the model has no classes, or not this one.
    NotFittedError
        If the classifier is not fitted.

    Examples
    --------
    >>> import numpy as np
    >>> from choquet import ContextualClassifier, explain_model
    >>> X = np.random.default_rng(0).random((300, 3))
    >>> y = np.array(["low", "middle", "high"])[np.digitize(np.median(X, axis=1), [0.4, 0.6])]
    >>> model = ContextualClassifier(max_leaves=1).fit(X, y)
    >>> explain_model(of_class(model, "low")).opening()[-37:]
    'the log-odds of low against the rest.'
    """
    return operators_view(model, label=label).parts


def _of_class(model: Any, label: Any, names: tuple[str, ...] | None) -> tuple[Decomposition, Any]:
    """The operators of one class, and the measure that they are a summary of, if of any."""
    if hasattr(type(model), "outcomes_"):
        from choquet.estimators.foundation import check_is_fitted

        check_is_fitted(model, "classes_")
    alone: Any = getattr(model, "outcome", None)
    outcomes = getattr(model, "outcomes_", []) if alone is None else [alone]
    classes = outcomes[0].classes if outcomes else ()
    number = place_of(label, classes)
    if number is None:
        listed = ", ".join(map(repr, classes))
        known = f"the classes are {listed}" if classes else "the model has no classes"
        raise OptionError(f"there is no class {label!r}: {known}")
    place = next((k for k, one in enumerate(outcomes) if one.serves(number)), None)
    if place is None:
        raise OptionError(
            f"this was learned for class {classes[alone.number]!r} alone; ask the whole model for "
            f"{classes[number]!r}"
        )
    parts, own = (model, None) if alone is not None else _class_parts(model, place, names)
    return replace(parts, outcome=outcomes[place].of(number)), own


def _class_parts(model: Any, place: int, names: tuple[str, ...] | None) -> tuple[Any, Any]:
    """The operators of one class, as they were learned or taken out of its measure."""
    if hasattr(model, "decompositions_"):
        return model.decompositions_[place], None
    measure, support, bias = model.measures_[place], getattr(model, "support_", None), 0.0
    if hasattr(model, "models_"):
        # A fusion: each of them has data, and may have a bias, of its own.
        support, bias = model.supports_[place], model.models_[place].intercept_
    if names is not None:
        measure = measure.renamed(names)
    model = SimpleNamespace(measure_=measure, support_=support, intercept_=bias)
    return decompose(model), measure
