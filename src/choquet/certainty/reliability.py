"""Whether probabilities can be believed: how often answers of a given probability are right."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from choquet.arrays import FloatArray, IntArray, as_vector
from choquet.errors import DataError, OptionError

_GROUPS = 10
"""Groups at most."""

_SAMPLES = 30
"""Samples in a group at least, where there are as many: fewer say next to nothing."""

_DECIMALS = 3
"""Decimals to which probabilities are told apart."""

_NORMAL = 1.959963984540054
"""Standard errors on either side of a share in an interval of 95 %."""

_DRAWS = 4_000
"""How often chance is tried."""


@dataclass(frozen=True, eq=False)
class Reliability:
    """Probabilities of answers beside the share of them that is right, in groups of samples.

    Attributes
    ----------
    told : array of shape (G,)
        Mean probability in each group, rising.
    right : array of shape (G,)
        Share of right answers.
    low, high : arrays of shape (G,)
        Where that share lies by 95 % intervals (Wilson); wide where samples are few.
    count : array of G ints
        Samples in each group.
    mean_told, mean_right : float
        The same of all samples together.
    mean_low, mean_high : float
    gap : float
        Mean distance of both over the samples: the expected calibration error.
    chance : float
        The gap that probabilities without any error have on so many samples, on average.
    limit : float
        The gap that they stay below in 95 % of cases.
    """

    told: FloatArray
    right: FloatArray
    low: FloatArray
    high: FloatArray
    count: IntArray
    mean_told: float
    mean_right: float
    mean_low: float
    mean_high: float
    gap: float
    chance: float
    limit: float

    @property
    def n_samples(self) -> int:
        """How many samples it rests on."""
        return int(self.count.sum())

    @property
    def lean(self) -> int:
        """1 if the model claims too much, -1 if too little, 0 if the samples do not show either.

        That is, whether the mean probability lies above or below the interval of the share of
        right answers.
        """
        return int(self.mean_told > self.mean_high) - int(self.mean_told < self.mean_low)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, with a row for each group.

        Examples
        --------
        >>> found = reliability_curve([0.9, 0.9, 0.6], [True, True, False]).to_dict()
        >>> found["n"], found["rows"][0]["n"], found["lean"]
        (3, 3, 0)
        """
        columns = (self.count, self.told, self.right, self.low, self.high)
        rows = zip(*(column.tolist() for column in columns), strict=True)
        names = ("n", "told", "right", "low", "high")
        return {
            "n": self.n_samples,
            "rows": [dict(zip(names, row, strict=True)) for row in rows],
            "told": self.mean_told,
            "right": self.mean_right,
            "low": self.mean_low,
            "high": self.mean_high,
            "gap": self.gap,
            "chance": self.chance,
            "limit": self.limit,
            "lean": self.lean,
        }


def reliability_curve(
    told: npt.ArrayLike,
    right: npt.ArrayLike,
    *,
    sample_weight: npt.ArrayLike | None = None,
    n_groups: int | None = None,
) -> Reliability:
    """How often answers of a given probability are right.

    Samples are put into groups of about equal size by their probability. Samples of the same
    probability, to a tenth of a percentage point, stay together, so the order of the samples does
    not matter.

    Parameters
    ----------
    told : array-like of shape (n_samples,)
        Probability that each answer was given, in [0, 1].
    right : array-like of n bools
        Whether it was right.
    sample_weight : array-like of shape (n_samples,), optional
        How much each sample counts. Intervals go by the number of equal samples that would say as
        much (Kish), so weights as a whole may have any size.
    n_groups : int, optional
        At most; by default 10, or fewer so that each has about 30 samples.

    Returns
    -------
    Reliability

    Notes
    -----
    With few samples, probabilities that are exactly right have a gap too. `Reliability.chance` and
    `Reliability.limit` tell how large it is: answers are drawn 4,000 times as if each group had
    one probability. Where probabilities differ inside of a group, chance does a little less than
    that (Hoeffding), so the two numbers err on the side of calling a model fair.

    References
    ----------
    Bröcker & Smith (2007), "Increasing the reliability of reliability diagrams"; Naeini, Cooper &
    Hauskrecht (2015), "Obtaining well calibrated probabilities using Bayesian binning"; Wilson
    (1927), "Probable inference, the law of succession, and statistical inference"; Kish (1965),
    "Survey sampling"; Hoeffding (1956), "On the distribution of the number of successes in
    independent trials".

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> told = rng.uniform(0.5, 1.0, 400)
    >>> fair = reliability_curve(told, rng.random(400) < told)
    >>> fair.gap < fair.limit, fair.lean
    (True, 0)
    >>> boast = reliability_curve(told, rng.random(400) < told - 0.2)
    >>> boast.gap < boast.limit, boast.lean
    (False, 1)
    """
    told, hit, weight = _checked(told, right, sample_weight)
    kept = weight > 0
    told, hit, weight = told[kept], hit[kept], weight[kept]
    n_groups = _number(n_groups, len(told))
    group = _groups(told, weight, n_groups)
    n = int(group.max()) + 1
    count = np.bincount(group, minlength=n)
    total = np.bincount(group, weight, minlength=n)
    # A mean of equal numbers may miss them by a rounding.
    mean = np.clip(np.bincount(group, weight * told, minlength=n) / total, 0.0, 1.0)
    share = np.clip(np.bincount(group, weight * hit, minlength=n) / total, 0.0, 1.0)
    equal = total**2 / np.bincount(group, weight**2, minlength=n)
    low, high = _wilson(share, equal)
    everyone = np.array([weight.sum() ** 2 / (weight**2).sum()])
    mean_right = np.clip(np.array([weight @ hit / weight.sum()]), 0.0, 1.0)
    mean_low, mean_high = _wilson(mean_right, everyone)
    parts = total / total.sum()
    chance = _by_chance(mean, equal, parts)
    return Reliability(
        mean,
        share,
        low,
        high,
        count,
        float(np.clip(weight @ told / weight.sum(), 0.0, 1.0)),
        float(mean_right[0]),
        float(mean_low[0]),
        float(mean_high[0]),
        float(parts @ np.abs(mean - share)),
        float(chance.mean()),
        float(np.quantile(chance, 0.95)),
    )


def _checked(
    told: npt.ArrayLike, right: npt.ArrayLike, weight: npt.ArrayLike | None
) -> tuple[FloatArray, FloatArray, FloatArray]:
    said = as_vector(told, "told")
    if not len(said):
        raise DataError("no samples: reliability needs at least one")
    if said.min() < 0 or said.max() > 1:
        strange = said[(said < 0) | (said > 1)][0]
        raise DataError(f"told holds {strange}; probabilities lie in [0, 1]")
    hit = as_vector(np.asarray(right, dtype=np.float64), "right", len(said))
    if not np.isin(hit, (0.0, 1.0)).all():
        raise DataError("right must hold True or False for each sample")
    if weight is None:
        return said, hit, np.ones(len(said))
    heavy = as_vector(weight, "sample_weight", len(said))
    if heavy.min() < 0 or not heavy.max() > 0:
        raise DataError("sample_weight must not be negative, and not be 0 everywhere")
    # A power of two, so that squares stay within range and whole weights stay exact.
    return said, hit, np.ldexp(heavy, -int(np.frexp(heavy.max())[1]))


def _number(n_groups: int | None, n: int) -> int:
    if n_groups is None:
        return min(_GROUPS, max(1, n // _SAMPLES))
    if n_groups < 1:
        raise OptionError(f"n_groups={n_groups} must be at least 1")
    return n_groups


def _groups(told: FloatArray, weight: FloatArray, n_groups: int) -> IntArray:
    """Group of each sample, by where the middle of its ties lies; none is empty."""
    _, place = np.unique(told.round(_DECIMALS), return_inverse=True)
    heavy = np.bincount(place, weight)
    middle = np.cumsum(heavy) - heavy / 2
    group = np.minimum((n_groups * middle / heavy.sum()).astype(np.int64), n_groups - 1)
    found: IntArray = np.unique(group, return_inverse=True)[1][place]
    return found


def _wilson(share: FloatArray, n: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Ends of the 95 % intervals of shares among so many samples."""
    z = _NORMAL**2 / n
    middle = (share + z / 2) / (1 + z)
    half = np.sqrt(z * (share * (1 - share) + z / 4)) / (1 + z)
    # The ends are 0 and 1 where no answer, or each, is right.
    low = np.where(share == 0, 0.0, np.maximum(middle - half, 0.0))
    return low, np.where(share == 1, 1.0, np.minimum(middle + half, 1.0))


def _by_chance(told: FloatArray, n: FloatArray, parts: FloatArray) -> FloatArray:
    """Gaps of probabilities that are exactly right, in a number of draws."""
    whole = np.maximum(np.rint(n), 1).astype(np.int64)
    drawn = np.random.default_rng(0).binomial(whole, told, size=(_DRAWS, len(told)))
    found: FloatArray = np.abs(drawn / whole - told) @ parts
    return found
