"""Which data to collect next: the subsets, unsupported or unstable, whose values would tell most.

Between its bounds a value is unknown: those of an unsupported subset follow from the values of
supported ones and monotonicity; those of a supported one are its near-optimal interval, where that
was found. An interval longer than 0.05 is called unstable: data are there, but leave it uncertain.

Under uniform inputs all walks are equally likely and each gap between neighbouring inputs is
1 / (N + 1) on average, so the mean width of the integral's interval over walks is

    Σ_A (upper(A) - lower(A)) / (C(N, |A|) (N + 1)).

A known value g(A) = v closes A's own interval, lifts the lower bounds of the supersets to v and
brings the upper bounds of the subsets down to it. Its expected gain is the mean of what that saves,
v uniform between A's bounds; the integrals are quadratic and done by hand.

Of a regressor that was learned from data (up to 10 sources) more is known: how large the noise is,
what the data leave open of each value, and where rows are expected. There the gain is how much
narrower one more sample makes the intervals of outputs: see `choquet.certainty.collecting`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from math import comb, factorial
from typing import Any

import numpy as np

from choquet.arrays import BoolArray, FloatArray, IntArray
from choquet.certainty.collecting import MAX_BELIEFS, Beliefs
from choquet.decomposition.result import Identified
from choquet.decomposition.runtime import known_part
from choquet.errors import OptionError
from choquet.explanation.abstract import PlainData
from choquet.explanation.phrases import list_words
from choquet.explanation.view import View, operators_view, value_bounds
from choquet.lattice import members, subset_sizes
from choquet.learning.data.statistics import Statistics
from choquet.measures import Measure
from choquet.shown import Shown, ShownTuple
from choquet.walks import DataSupport, random_sorts
from choquet.walks.paths import SupportedPaths

_DENSE_SOURCES = 16
"""Sources up to which all subsets are gone through."""

_DRAWN_WALKS = 500
"""Walks whose intervals stand for all, where they cannot be gone through."""

_CANDIDATES = 4_096
"""Subsets whose gain is worked out; those with the widest share of the sum come first."""

_COMPARISONS = 1 << 28
"""Pairs of subsets that are compared in all: beyond 16 sources fewer gains are worked out."""

_UNSTABLE = 0.05
"""Near-optimal intervals longer than this are unstable, as `Identification` has it."""

_BLOCK = 4_000_000
"""Pairs of subsets that are compared at a time."""


@dataclass(frozen=True, eq=False, repr=False)
class DataRequest(PlainData, Shown):
    """Samples that would tell more: of one more subset, or of one context of a learned model.

    Attributes
    ----------
    gain : float
        Of a subset and a regressor that was learned from data: how much narrower one more sample
        makes the 95 % intervals of outputs, where rows are expected. Of a subset and a measure with
        its support alone: the expected reduction of the mean width of the integral's interval;
        without a
        monotone measure, where widths are unbounded, the share of walks that need the value, times
        its interval where that is shorter than 1. Of a context: the expected fall of the mean
        squared error on samples like those learned from, if the samples of its operator were twice
        as many: half of noise × numbers learned / samples, times the share of the context.
    state : {"unsupported", "unstable", "learned"}
        Whether there are no such samples, or they leave the value uncertain, or an operator was
        learned from them directly.
    count : int
        Such samples so far.
    above, below : tuple of str
        Of a subset: every source of the first must be above every source of the second.
    mask : int or None
        The first as a bit mask.
    sort : tuple of str
        The walk through it that meets most unsupported widths, largest source first.
    interval : tuple of two floats
        What g of the subset can be so far; NaN if the measure is not monotone.
    walk_share : float
        Share of all walks that go through the subset.
    context : str
        Of a learned model: the context, in words.
    leaf, operator : int or None
        Its number in the tree, and that of its operator.
    trust : float
        Share of the operator's weights that data decided, not the penalty.

    Examples
    --------
    >>> sort = ("emi", "gpr", "ir")
    >>> DataRequest(0.1, above=("gpr", "emi"), below=("ir",), sort=sort).text()
    'samples in which gpr and emi are both above ir; best with emi above gpr'
    >>> DataRequest(0.01, "learned", 98, context="gpr is the largest").text()
    'samples in which gpr is the largest (98 so far)'
    """

    gain: float
    state: str = "unsupported"
    count: int = 0
    above: tuple[str, ...] = ()
    below: tuple[str, ...] = ()
    mask: int | None = None
    sort: tuple[str, ...] = ()
    interval: tuple[float, float] = (float("nan"), float("nan"))
    walk_share: float = float("nan")
    context: str = ""
    leaf: int | None = None
    operator: int | None = None
    trust: float = float("nan")

    def kind(self) -> str:
        """Which samples these are, in words."""
        if self.state == "learned":
            return "samples" if self.context == "always" else f"samples in which {self.context}"
        verb = {1: "is", 2: "are both"}.get(len(self.above), "are all")
        return f"samples in which {list_words(self.above)} {verb} above {list_words(self.below)}"

    def text(self) -> str:
        """What to collect, in words."""
        text, count = self.kind(), len(self.above)
        if self.state == "learned":
            return f"{text} ({self.count:,} so far)"
        details = [part for part in (self.sort[:count], self.sort[count:]) if len(part) > 1]
        if details:
            text += "; best with " + " and ".join(" above ".join(part) for part in details)
        if self.state == "unstable":
            there = "there is 1, but it leaves" if self.count == 1 else None
            there = there or f"there are {self.count:,}, but they leave"
            text += f" ({there} the value uncertain)"
        return text

    def _more(self) -> dict[str, Any]:
        return {"text": self.text()}


class DataRequests(ShownTuple[DataRequest]):
    """Requests in the order of their gain: a tuple that shows itself as a numbered list.

    Examples
    --------
    >>> DataRequests([DataRequest(0.1, above=("gpr",), below=("ir",), sort=("gpr", "ir"))])
    1. samples in which gpr is above ir
    """

    nothing = (
        "Nothing is asked for: no group of sources lacks data, or the model was not learned "
        "from data."
    )


def data_to_collect(model: Any, n: int = 5, *, support: DataSupport | None = None) -> DataRequests:
    """Rank contexts by how much more data on them would tell.

    Each gain is worked out on its own. After you have collected data, ask again.

    Parameters
    ----------
    model : Decomposition, Measure, fitted model, or a pipeline that ends in one
        What is to be supported. Unstable contexts are known for a decomposition that was given the
        ``identification``, and for fitted models with up to 30 supported subsets.
    n : int, default 5
        How many to list.
    support : DataSupport, optional
        Data to go by; the decomposition's own by default. Without any, nothing is asked for: a
        measure that was not learned needs no data.

    Returns
    -------
    DataRequests
        A tuple of `DataRequest` by decreasing gain. There are fewer than `n` if fewer subsets lack
        support, and none for measures on many sources that know few of their 2**N values. Beyond
        4,096 such subsets (fewer beyond 16 sources) only those with the widest intervals are
        ranked.

    Examples
    --------
    >>> from choquet import DataSupport, Measure, data_to_collect, decompose
    >>> g = Measure([0, 0, 1, 1, 1, 1, 1, 1], sources=["gpr", "ir", "emi"])
    >>> X = [[0.9, 0.4, 0.2], [0.8, 0.1, 0.3], [0.2, 0.6, 0.5]]
    >>> d = decompose(g, support=DataSupport.from_data(X))
    >>> for request in data_to_collect(d):
    ...     print(f"{request.gain:.3f}", request.text())
    0.083 samples in which emi is above gpr and ir; best with gpr above ir
    """
    return DataRequests(requests_of(operators_view(model, identify=True), n, support))


def requests_of(view: View, n: int, support: DataSupport | None) -> tuple[DataRequest, ...]:
    """The same of a view."""
    if isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 0:
        raise OptionError(f"n={n!r} must be a whole number of requests, at least 0")
    if view.learned:
        return _contexts(view, n)
    found = _subsets(view, n, support)
    return tuple(replace(one, gain=one.gain * view.width) for one in found)


def _contexts(view: View, n: int) -> tuple[DataRequest, ...]:
    """Contexts in the order of how much twice the samples of their operator would tell.

    Least squares of p numbers from m samples with noise of variance v is off by v p / m in the
    mean squared error, and twice the samples halve that.
    """
    parts, found = view.parts, []
    for leaf, rule in parts.leaves.items():
        operator = parts.operators[rule.operator]
        numbers = operator.trust * parts.n_sources + (operator.bias != 0)
        size = float(np.abs(operator.weights).max()) + abs(operator.bias)
        if operator.residual <= 1e-9 * size:
            continue  # nothing is left to learn
        excess = (operator.residual * view.width) ** 2 * numbers / max(operator.count, 1)
        found.append(
            DataRequest(
                float(excess * rule.share / 2),
                "learned",
                operator.count,
                context=view.context_of(leaf),
                leaf=leaf,
                operator=rule.operator,
                trust=operator.trust,
            )
        )
    return tuple(sorted(found, key=lambda request: -request.gain)[:n])


def _subsets(view: View, n: int, support: DataSupport | None) -> tuple[DataRequest, ...]:
    """Subsets of a measure, unsupported and unstable ones."""
    own = view.parts.support
    known, measure = own if support is None else support, view.parts.measure
    # Where walks are listed, next to all subsets lack support: there is no telling which matter.
    if known is None or n == 0 or not measure.is_dense:
        return ()
    bounds = view.bounds if known is own else None
    lower, upper, supported, counts = bounds or value_bounds(measure, known)
    unstable = np.zeros(len(lower), dtype=np.bool_)
    beliefs = _beliefs(view, measure, supported, upper - lower) if known is own else None
    identification = view.parts.identification
    if identification is not None:
        lower, upper = _near_optimal(measure, supported, identification)
        unstable = supported & (upper - lower > _UNSTABLE)
    elif beliefs is not None:
        half = np.where(supported, beliefs.widths / 2, 0.0)
        lower, upper = np.maximum(lower - half, 0.0), np.minimum(upper + half, 1.0)
        unstable = supported & (upper - lower > _UNSTABLE)
    missing = np.flatnonzero(~supported | unstable)
    if not len(missing):
        return ()
    shares = _walk_shares(measure.n_sources)
    widths = (upper - lower) * shares
    most = min(_CANDIDATES, _COMPARISONS >> measure.n_sources)
    candidates = missing[np.argsort(-widths[missing], kind="stable")[:most]]
    if beliefs is not None:
        gains = beliefs.narrowing(
            _usual_rows(_widest_walks(candidates, widths, measure.n_sources), measure.n_sources)
        )
    elif measure.monotone:
        gains = _gains(candidates, lower, upper, shares) / (measure.n_sources + 1)
    else:
        open_ = np.where(supported, np.minimum(upper - lower, 1.0), 1.0)
        widths = shares * np.where(supported & ~unstable, 0.0, open_)
        candidates = missing[np.argsort(-widths[missing], kind="stable")[:most]]
        gains = widths[candidates]
    best = np.argsort(-gains, kind="stable")[:n]
    names, found = measure.sources, []
    walks = _widest_walks(candidates[best], widths, measure.n_sources)
    for mask, gain, walk in zip(candidates[best].tolist(), gains[best], walks, strict=True):
        found.append(
            DataRequest(
                float(gain),
                "unstable" if unstable[mask] else "unsupported",
                int(counts[mask]),
                above=tuple(names[i] for i in members(mask)),
                below=tuple(name for i, name in enumerate(names) if not mask >> i & 1),
                mask=mask,
                sort=tuple(names[i] for i in walk),
                interval=(float(lower[mask]), float(upper[mask])),
                walk_share=float(shares[mask]),
            )
        )
    return tuple(found)


def _beliefs(
    view: View, measure: Measure, supported: BoolArray, widths: FloatArray
) -> Beliefs | None:
    """What is believed of the values of a regressor after the data; None where nothing is."""
    statistics = getattr(view.own, "statistics_", None)
    usual = measure.monotone and measure.normal and measure.n_sources <= MAX_BELIEFS
    if not usual or not isinstance(statistics, Statistics) or view.outcome is not None:
        return None
    found = Beliefs(statistics, measure.values, np.where(supported, 1.0, widths))
    return found if np.isfinite(found.noise) else None


def _usual_rows(walks: list[list[int]], n: int) -> FloatArray:
    """Rows of these orders whose gaps are those of uniform inputs on average."""
    rows = np.zeros((len(walks), 1 << n))
    for row, walk in zip(rows, walks, strict=True):
        row[np.cumsum(np.left_shift(1, walk))] = 1 / (n + 1)
    return rows


def _near_optimal(
    measure: Measure, supported: BoolArray, identification: Identified
) -> tuple[FloatArray, FloatArray]:
    """Bounds of every value if the supported ones are known to their near-optimal intervals only.

    What a subset has at least, each superset has at least, and so down from above.
    """
    known = supported & ~np.isnan(measure.values)
    lower = np.where(known, measure.values, -np.inf if not measure.monotone else 0.0)
    upper = np.where(known, measure.values, np.inf if not measure.monotone else measure.values[-1])
    found = identification.masks[known[identification.masks]]
    at = np.isin(identification.masks, found)
    lower[found], upper[found] = identification.lower[at], identification.upper[at]
    if measure.monotone:
        for i in range(measure.n_sources):
            without = np.flatnonzero(~np.arange(len(lower)) >> i & 1)
            pair = without | 1 << i
            lower[pair] = np.maximum(lower[pair], lower[without])
            upper[without] = np.minimum(upper[without], upper[pair])
    return lower, np.maximum(lower, upper)


def mean_width(
    measure: Any,
    support: DataSupport,
    bounds: tuple[FloatArray, FloatArray, BoolArray, IntArray] | None = None,
) -> float:
    """Mean width of the integral's interval under uniform inputs; NaN if not monotone.

    Where walks are listed it is a mean over 500 walks drawn, with seed 0.

    Examples
    --------
    >>> from choquet import DataSupport, Measure
    >>> round(mean_width(Measure([0, 0.2, 0.3, 1]), DataSupport.from_data([[0.9, 0.1]])), 6)
    0.166667
    """
    if not measure.is_dense:
        bounded = known_part(measure, support)
        if bounded is None:
            return float("nan")
        lower, upper = bounded.walk_bounds(random_sorts(measure.n_sources, _DRAWN_WALKS, rng=0))
        return float((upper - lower).sum(axis=1).mean()) / (bounded.n_sources + 1)
    lower, upper, _, _ = bounds or value_bounds(measure, support)
    shares = _walk_shares(measure.n_sources)
    return float(((upper - lower) * shares).sum() / (measure.n_sources + 1))


def supported_share(support: DataSupport, known: BoolArray | None = None) -> float:
    """Share of all walks that meet supported subsets only; `known` says which, by mask.

    Examples
    --------
    >>> from choquet import DataSupport
    >>> supported_share(DataSupport.from_data([[0.9, 0.1]]))
    0.5
    """
    n = support.n_sources
    if n > _DENSE_SOURCES:
        return float(Fraction(SupportedPaths(support.words, n).n_walks, factorial(n)))
    sizes, known = subset_sizes(n), support.supported if known is None else known
    share = np.zeros(1 << n)
    share[0] = 1.0
    for size in range(1, n + 1):
        here = np.flatnonzero((sizes == size) & known)
        # A walk comes from each of the subsets one source smaller equally often.
        for i in range(n):
            share[here] += np.where(here >> i & 1, share[here ^ 1 << i], 0.0)
        share[here] /= size
    return float(share[-1])


def _walk_shares(n: int) -> FloatArray:
    """Share of walks that go through each subset."""
    by_size = np.array([1 / comb(n, size) for size in range(n + 1)])
    return np.asarray(by_size[subset_sizes(n)], dtype=np.float64)


def _gains(
    candidates: IntArray, lower: FloatArray, upper: FloatArray, shares: FloatArray
) -> FloatArray:
    """Expected savings in the sum over subsets of width times share."""
    masks = np.arange(len(lower))
    open_ = upper > lower
    gains = np.zeros(len(candidates))
    step = max(1, _BLOCK // len(lower))
    for start in range(0, len(candidates), step):
        part = candidates[start : start + step, None]
        low, high = lower[part], upper[part]
        # A's own interval closes in full; it is also its own superset and subset.
        inside = (masks & part) == masks
        around = (masks & part) == part
        lifted = np.where(around & open_, np.maximum(high - lower, 0.0) ** 2, 0.0)
        brought = np.where(inside & open_, np.maximum(upper - low, 0.0) ** 2, 0.0)
        width = np.maximum(high - low, 1e-300)
        gains[start : start + step] = ((lifted + brought) / (2 * width)) @ shares
    return gains


def _widest_walks(targets: IntArray, widths: FloatArray, n: int) -> list[list[int]]:
    """For each subset the walk through it with the largest sum of widths (dynamic programming)."""
    masks = np.arange(1 << n)
    up, down = widths.copy(), widths.copy()
    sizes = subset_sizes(n)
    for size in range(1, n + 1):
        here, there = masks[sizes == size], masks[sizes == n - size]
        ways = [np.where(here >> i & 1, up[here ^ 1 << i], -1.0) for i in range(n)]
        up[here] += np.max(ways, axis=0)
        ways = [np.where(there >> i & 1, -1.0, down[there ^ 1 << i]) for i in range(n)]
        down[there] += np.max(ways, axis=0)
    walks = []
    for target in targets:
        first: list[int] = []
        mask = int(target)
        while mask:
            first.append(max(members(mask), key=lambda i: up[mask ^ 1 << i]))
            mask ^= 1 << first[-1]
        walk, mask = first[::-1], int(target)
        while len(walk) < n:
            left = [i for i in range(n) if not mask >> i & 1]
            walk.append(max(left, key=lambda i: down[mask | 1 << i]))
            mask |= 1 << walk[-1]
        walks.append(walk)
    return walks
