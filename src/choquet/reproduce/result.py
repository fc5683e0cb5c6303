"""What an experiment gives back: a table against the paper, numbers, and pictures still to draw."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from choquet.arrays import FloatArray
from choquet.errors import OptionError

Verdict: TypeAlias = Literal["holds", "corrected", "not reproducible", "differs", "skipped"]

VERDICTS: tuple[str, ...] = get_args(Verdict)
"""Whether a statement of the paper holds; is wrong, and what is right; cannot be checked with what
was published; comes out otherwise here; or was not looked at, because data are absent."""


@dataclass(frozen=True)
class Row:
    """One statement of the paper beside what was found.

    Parameters
    ----------
    paper, found : str
        What the paper says, and what came out.
    verdict : str
        One of `VERDICTS`.

    Examples
    --------
    >>> Row("three operators", "two", "corrected").verdict
    'corrected'
    """

    paper: str
    found: str
    verdict: Verdict

    def __post_init__(self) -> None:
        if self.verdict not in VERDICTS:
            raise OptionError(
                f"verdict={self.verdict!r} is unknown; choose one of {', '.join(VERDICTS)}"
            )


@dataclass(frozen=True)
class Table:
    """Numbers that stand better in a table of their own than in a sentence.

    Examples
    --------
    >>> Table("Errors", ("method", "error"), (("mean", "0.1"), ("median", "0.2"))).header
    ('method', 'error')
    """

    caption: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.header):
                raise OptionError(f"row {tuple(row)} has not {len(self.header)} cells")


@dataclass(frozen=True)
class Picture:
    """A picture that is drawn when it is called with a matplotlib Figure.

    Parameters
    ----------
    caption : str
        What stands below it.
    size : tuple of two floats
        Width and height in inches.
    draw : callable
        Takes the figure and draws into it.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> picture = Picture("A line.", (4, 3), lambda figure: figure.subplots().plot([0, 1]))
    >>> figure = Figure()
    >>> picture(figure)
    >>> len(figure.axes)
    1
    """

    caption: str
    size: tuple[float, float]
    """Width and height in inches."""
    draw: Callable[[Any], object]

    def __call__(self, figure: Any) -> None:
        """Draw into the figure."""
        self.draw(figure)


@dataclass(frozen=True, eq=False)
class ExperimentResult:
    """What one experiment found.

    Attributes
    ----------
    name : str
        As in `EXPERIMENTS`.
    title : str
        A heading.
    rows : tuple of Row
        The table "paper says / we find / verdict".
    numbers : dict
        Everything measured, as plain numbers, lists and dicts.
    figures : mapping from name to Picture
        Functions that draw into a matplotlib Figure.
    notes : tuple of str
        How it was done: paragraphs for the page.
    tables : tuple of Table
        Numbers that the page shows beside the comparison.

    Examples
    --------
    >>> result = ExperimentResult("demo", "A demo", (Row("one", "one", "holds"),), {"n": 1})
    >>> result.complete, result.verdicts
    (True, {'holds': 1})
    """

    name: str
    title: str
    rows: tuple[Row, ...]
    numbers: Mapping[str, Any]
    figures: Mapping[str, Picture] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    tables: tuple[Table, ...] = ()

    @property
    def complete(self) -> bool:
        """Whether nothing was skipped."""
        return all(row.verdict != "skipped" for row in self.rows)

    @property
    def verdicts(self) -> dict[str, int]:
        """How often each verdict was given."""
        found = [row.verdict for row in self.rows]
        return {verdict: found.count(verdict) for verdict in VERDICTS if verdict in found}


@dataclass(frozen=True)
class Estimate:
    """A mean with half the width of its 95 % confidence interval (Student's t).

    Examples
    --------
    >>> f"{estimate([1.0, 2.0, 3.0]):+.1f}"
    '+2.0 ± 2.5'
    """

    mean: float
    half: float
    n: int

    @property
    def bar(self) -> float:
        """Length of an error bar: none where there was one repetition only."""
        return self.half if math.isfinite(self.half) else 0.0

    @property
    def low(self) -> float:
        """Lower end of the interval."""
        return self.mean - self.bar

    @property
    def high(self) -> float:
        """Upper end of the interval."""
        return self.mean + self.bar

    def __format__(self, spec: str) -> str:
        if not math.isfinite(self.half) or self.half == 0:
            return format(self.mean, spec)
        return f"{self.mean:{spec}} ± {self.half:{spec.lstrip('+')}}"

    def to_dict(self) -> dict[str, float | int]:
        """As numbers for a file."""
        return {"mean": self.mean, "half": self.half, "n": self.n}


def estimate(values: npt.ArrayLike) -> Estimate:
    """Mean and confidence interval of repetitions; NaN among them is left out.

    Examples
    --------
    >>> estimate([2.0, 2.0, float("nan")])
    Estimate(mean=2.0, half=0.0, n=2)
    """
    from scipy.special import stdtrit

    array = np.asarray(values, dtype=np.float64).ravel()
    array = array[np.isfinite(array)]
    n = len(array)
    if n < 2:
        return Estimate(float(array.mean()) if n else math.nan, math.nan, n)
    spread = float(array.std(ddof=1)) / math.sqrt(n)
    return Estimate(float(array.mean()), float(stdtrit(n - 1, 0.975)) * spread, n)


def share_of(count: int, total: int) -> str:
    """A count among runs, with Wilson's 95 % interval of the share.

    References
    ----------
    Wilson (1927), "Probable inference, the law of succession, and statistical inference".

    Examples
    --------
    >>> share_of(78, 100)
    '78 of 100 runs (95 % interval 69% to 85%)'
    """
    z = 1.959964
    share, scale = count / total, 1 + z**2 / total
    middle = (share + z**2 / (2 * total)) / scale
    half = z * math.sqrt(share * (1 - share) / total + z**2 / (4 * total**2)) / scale
    return f"{count} of {total} runs (95 % interval {middle - half:.0%} to {middle + half:.0%})"


def quantiles(values: FloatArray | None) -> dict[str, float] | None:
    """Median of the runs, and the range from 2.5 % to 97.5 % of them."""
    if values is None or not len(values):
        return None
    low, middle, high = np.quantile(values, [0.025, 0.5, 0.975])
    return {"median": float(middle), "low": float(low), "high": float(high)}


def between(one: Mapping[str, float] | None) -> str:
    """Median and range in words.

    Examples
    --------
    >>> between(quantiles(np.arange(101.0))), between(None)
    ('50 (2.5 to 97.5)', '–')
    """
    return "–" if one is None else f"{one['median']:.3g} ({one['low']:.3g} to {one['high']:.3g})"


def check_seeds(seeds: int) -> int:
    """The number of repetitions, at least one.

    Examples
    --------
    >>> check_seeds(3)
    3
    """
    if isinstance(seeds, bool) or not isinstance(seeds, int) or seeds < 1:
        raise OptionError(f"seeds={seeds!r} must be a whole number, at least 1")
    return seeds
