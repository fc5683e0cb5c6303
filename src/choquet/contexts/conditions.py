"""Conditions on one sample: a source among the largest, above another, or at least a value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from choquet.arrays import BoolArray, FloatArray, IntArray, as_inputs
from choquet.errors import DataError, OptionError
from choquet.measures.sources import check_sources
from choquet.scales import Scale, figure
from choquet.shown import number_word
from choquet.walks.sorts import as_sorts, sorts_of


@dataclass(frozen=True)
class Condition:
    """A condition on a sample: one source among the largest, above another, or at least a value.

    Parameters
    ----------
    source : int
        Number of the source it is about.
    top : int, optional
        The source is among the `top` largest inputs, or …
    above : int, optional
        … its input is larger than that of this source, or …
    value : float, optional
        … its input is at least this. One of the three must be given.
    negated : bool, default False
        Whether the opposite is meant.
    scale : Scale, optional
        From the units of the data to the scale that `value` is on; words are in these units.

    Examples
    --------
    >>> from choquet.contexts import Condition
    >>> largest = Condition(0, top=1)
    >>> largest.text(["gpr", "ir", "emi"])
    'gpr is the largest'
    >>> largest.holds([[0, 2, 1], [2, 1, 0]])
    array([ True, False])
    >>> largest.holds_in([[0.9, 0.1, 0.2]])
    array([ True])
    >>> Condition(1, above=2).text(["gpr", "ir", "emi"])
    'ir is above emi'
    >>> Condition(0, top=2, negated=True).text(["gpr", "ir", "emi"])
    'gpr is the smallest'
    >>> Condition(0, value=0.25).text(["gpr", "ir", "emi"])
    'gpr is at least 0.25'
    >>> from choquet.scales import Scale
    >>> price = Scale(np.array([10.0, 50.0]), np.array([1.0, 0.0]))
    >>> Condition(0, value=0.25, scale=price).text(["price", "ir", "emi"])
    'price is at most 40'
    """

    source: int
    top: int | None = None
    above: int | None = None
    value: float | None = None
    negated: bool = False
    scale: Scale | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        given = [x for x in (self.top, self.above, self.value) if x is not None]
        if len(given) != 1:
            raise OptionError(
                f"a condition has one of top=, above= and value=, not top={self.top}, "
                f"above={self.above} and value={self.value}"
            )
        if self.source < 0 or self.source == self.above or (self.above or 0) < 0:
            raise OptionError(f"source {self.source} above source {self.above} is no condition")
        if self.top is not None and self.top < 1:
            raise OptionError(f"top={self.top} must be at least 1")

    def holds(self, sorts: npt.ArrayLike) -> BoolArray:
        """Whether it holds, for each sort (source numbers, largest input first)."""
        rows = as_sorts(sorts)
        self._check(rows.shape[1])
        return self._holds(np.argsort(rows, axis=1))

    def holds_in(self, X: npt.ArrayLike) -> BoolArray:
        """Whether it holds, for each sample (row) of inputs; ties by the order of the sources."""
        inputs = as_inputs(X)
        self._check(inputs.shape[1])
        return self._holds(np.argsort(sorts_of(inputs), axis=1), inputs)

    @property
    def opposite(self) -> Condition:
        """What holds where this one does not."""
        if self.above is not None and not self.negated:
            return Condition(self.above, above=self.source)
        return replace(self, negated=not self.negated)

    def text(self, sources: Sequence[str]) -> str:
        """The condition in words, with the names of the sources."""
        return self._words(check_sources(sources, len(sources)))

    def _words(self, names: Sequence[str]) -> str:
        n = len(names)
        self._check(n)
        name, no = names[self.source], "not " if self.negated else ""
        if self.above is not None:
            return f"{name} is {no}above {names[self.above]}"
        if self.value is not None:
            return f"{name} is {self._value_words(self.value)}"
        top = self.top or 1
        if n == 2 or top == n - 1 != 1:
            # Not among the top N - 1 is the smallest; of two sources, not the largest is too.
            if n == 2:
                return f"{name} is the {'smallest' if self.negated else 'largest'}"
            return f"{name} is {'' if self.negated else 'not '}the smallest"
        if top == 1:
            return f"{name} is {no}the largest"
        if 2 * top > n:
            no = "" if self.negated else "not "
            return f"{name} is {no}among the bottom {number_word(n - top)}"
        return f"{name} is {no}among the top {number_word(top)}"

    def _value_words(self, value: float) -> str:
        """Where the input of the source lies, in the units of the data."""
        if self.scale is None:
            return f"{'below' if self.negated else 'at least'} {value:.4g}"
        direction = self.scale.direction
        ends = self.scale.inverse(np.full(2, value), self.scale.points[[0, -1]])
        first, last = (figure(float(end), 4) for end in ends)
        if direction == "higher":
            return f"{'below' if self.negated else 'at least'} {last}"
        if direction == "lower":
            return f"{'above' if self.negated else 'at most'} {first}"
        if self.negated:
            return f"below {first} or above {last}"
        return f"between {first} and {last}"

    def _check(self, n_sources: int) -> None:
        if max(self.source, self.above or 0) >= n_sources or (self.top or 1) >= max(n_sources, 2):
            raise DataError(f"{self} is no condition on {n_sources} sources")

    def _holds(self, positions: IntArray, inputs: FloatArray | None = None) -> BoolArray:
        if self.value is not None:
            if inputs is None:
                raise DataError(f"{self} is about a value, which a sort alone does not tell")
            return np.asarray((inputs[:, self.source] >= self.value) != self.negated)
        bound = positions[:, self.above] if self.above is not None else self.top or 1
        held: BoolArray = (positions[:, self.source] < bound) != self.negated
        return held


@dataclass(frozen=True)
class Rule:
    """Conditions that lead to an operator.

    Attributes
    ----------
    conditions : tuple of Condition
        All of them must hold.
    operator : int
        Label of the operator.
    share : float
        Share of all walks (or samples), by weight, that this rule decides.
    precision : float
        Share of these for which the operator is right; NaN if it decides none.
    unless : tuple of tuples of Condition
        Exceptions: where all conditions of one of them hold, the rule does not apply. A rule of a
        list has none, for what an earlier rule decides never comes to it; a rule that is to be read
        alone has all that matter.

    Examples
    --------
    >>> from choquet.contexts import Condition, Rule
    >>> Rule((Condition(0, top=1), Condition(1, above=2)), 4, 1 / 6, 1.0).text(["a", "b", "c"])
    'a is the largest and b is above c'
    >>> Rule((), 0, 2 / 3, 1.0, unless=((Condition(0, top=1),),)).text(["a", "b", "c"])
    'a is not the largest'
    """

    conditions: tuple[Condition, ...]
    operator: int
    share: float
    precision: float
    unless: tuple[tuple[Condition, ...], ...] = ()

    def covers(self, sorts: npt.ArrayLike) -> BoolArray:
        """Whether it applies, for each sort."""
        rows = as_sorts(sorts)
        self._check(rows.shape[1])
        return self._covers(np.argsort(rows, axis=1))

    def covers_in(self, X: npt.ArrayLike) -> BoolArray:
        """Whether it applies, for each sample (row) of inputs."""
        inputs = as_inputs(X)
        self._check(inputs.shape[1])
        return self._covers(np.argsort(sorts_of(inputs), axis=1), inputs)

    def text(self, sources: Sequence[str]) -> str:
        """Its conditions in words, with its exceptions; nothing if it always applies."""
        return self.words(check_sources(sources, len(sources)))

    def words(self, names: Sequence[str]) -> str:
        """The same, with names that were checked."""
        conditions = list(self.conditions)
        # A single condition that must not hold is a condition itself.
        conditions += [part[0].opposite for part in self.unless if len(part) == 1]
        unless = [part for part in self.unless if len(part) > 1]
        text = " and ".join(condition._words(names) for condition in conditions)
        if not unless:
            return text
        parts = [" and ".join(one._words(names) for one in part) for part in unless]
        return f"{text}{', ' if text else ''}unless {', or '.join(parts)}"

    def _check(self, n_sources: int) -> None:
        for condition in (*self.conditions, *(one for part in self.unless for one in part)):
            condition._check(n_sources)

    def _covers(self, positions: IntArray, inputs: FloatArray | None = None) -> BoolArray:
        held = _all_hold(self.conditions, positions, inputs)
        for part in self.unless:
            held &= ~_all_hold(part, positions, inputs)
        return held


def _all_hold(
    conditions: tuple[Condition, ...], positions: IntArray, inputs: FloatArray | None
) -> BoolArray:
    held = np.ones(len(positions), dtype=np.bool_)
    for condition in conditions:
        held &= condition._holds(positions, inputs)
    return held


@dataclass(frozen=True)
class Context:
    """When an operator is used: where one of its rules applies, each complete and true alone.

    Attributes
    ----------
    rules : tuple of Rule
        Each with its exceptions, so that none needs another to be read; none if it is never used.
    sources : tuple of str
        Names, for the words.

    Examples
    --------
    >>> from choquet import Measure, decompose
    >>> d = decompose(Measure([0, 0, 1, 1, 1, 1, 1, 1], sources=["gpr", "ir", "emi"]))
    >>> [str(operator.context) for operator in d.operators]
    ['gpr is not the largest', 'gpr is the largest']
    >>> d.operators[1].context.holds_in([[0.9, 0.4, 0.2]])
    array([ True])
    """

    rules: tuple[Rule, ...]
    sources: tuple[str, ...]

    def holds(self, sorts: npt.ArrayLike) -> BoolArray:
        """Whether the operator is used, for each sort."""
        rows = as_sorts(sorts, len(self.sources))
        covered = [rule.covers(rows) for rule in self.rules]
        return np.asarray(np.any([np.zeros(len(rows), dtype=np.bool_), *covered], axis=0))

    def holds_in(self, X: npt.ArrayLike) -> BoolArray:
        """Whether the operator is used, for each sample (row) of inputs."""
        inputs = as_inputs(X, sources=self.sources)
        covered = [rule.covers_in(inputs) for rule in self.rules]
        return np.asarray(np.any([np.zeros(len(inputs), dtype=np.bool_), *covered], axis=0))

    def text(self) -> str:
        """The context in words, complete."""
        parts = [rule.words(self.sources) or "always" for rule in self.rules]
        return "; or ".join(parts) or "never"

    __str__ = text

    def __len__(self) -> int:
        return len(self.rules)
