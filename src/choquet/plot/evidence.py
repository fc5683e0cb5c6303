"""What data support: subsets by size, and walks by how much of them was seen."""

from __future__ import annotations

from math import comb, factorial
from typing import TYPE_CHECKING, Literal

import numpy as np

from choquet.arrays import FloatArray, IntArray, check_option
from choquet.errors import DataError
from choquet.lattice import subset_sizes
from choquet.plot.style import GREY, STYLES, axes_or_new, percent
from choquet.walks import DataSupport, OperatorGraph, random_sorts

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MAX_EXACT = 16
"""Most sources for which walks are counted exactly; beyond, a sample of them."""
_SAMPLE = 50_000


def support(
    support: DataSupport,
    *,
    show: Literal["subsets", "samples", "information"] = "subsets",
    ax: Axes | None = None,
) -> Axes:
    """How well data support the subsets of each size.

    Parameters
    ----------
    support : DataSupport
        Of the data.
    show : {"subsets", "samples", "information"}, default "subsets"
        The share of supported subsets as bars; or, for every supported subset, the number of its
        samples or its information (sum of squared gaps) as points with their median.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib Axes

    References
    ----------
    Islam et al. (2018). Data-driven compression and efficient learning of the Choquet integral.
    IEEE Transactions on Fuzzy Systems 26, 1908-1922: which variables data support.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from choquet import DataSupport, plot
    >>> seen = DataSupport.from_data([[0.9, 0.5, 0.1], [0.8, 0.2, 0.3]])
    >>> ax = plot.support(seen, ax=Figure().subplots())
    >>> [text.get_text() for text in ax.texts]
    ['1 of 3', '2 of 3']
    """
    check_option("show", show, ["subsets", "samples", "information"])
    n = support.n_sources
    if n < 2:
        raise DataError("a single source has no subsets besides ∅ and X, which need no support")
    sizes = np.bitwise_count(support.words).sum(axis=1).astype(np.int64)
    ax = axes_or_new(ax, (max(5.0, 0.75 * n + 2), 3.8))
    if show == "subsets":
        _draw_shares(ax, n, sizes)
    else:
        values = support.counts if show == "samples" else support.informations
        _draw_points(ax, sizes, np.asarray(values, dtype=np.float64))
        ax.set_ylabel("samples" if show == "samples" else "information (sum of squared gaps)")
    ax.set_xticks(range(1, n))
    ax.set_xlim(0.4, n - 0.4)
    ax.set_xlabel("subset size |A|")
    ax.set_title(
        f"{support.n_supported:,} of {2**n - 2:,} subsets supported by "
        f"{support.n_samples:,} samples ({support.n_tied:,} tied)",
        fontsize=10,
    )
    return ax


def _draw_shares(ax: Axes, n: int, sizes: IntArray) -> None:
    all_sizes = np.arange(1, n)
    seen = np.bincount(sizes, minlength=n)[1:n]
    total = np.array([float(comb(n, k)) for k in all_sizes])
    share = seen / total
    ax.bar(all_sizes, share, width=0.75, color=STYLES[0].colour)
    ax.bar(all_sizes, 1 - share, 0.75, share, color="white", edgecolor=GREY, hatch="//")
    font, turn, top = (8, 0, 1.12) if n <= 8 else (6, 90, 1.5)
    for k, number in enumerate(seen.tolist(), start=1):
        text = f"{number:,} of {comb(n, k):,}"
        ax.text(k, 1.02, text, ha="center", va="bottom", fontsize=font, rotation=turn)
    ax.set_ylim(0, top)
    ax.set_yticks(np.linspace(0, 1, 6))
    ax.set_ylabel("share of subsets (hatched: not supported)")


def _draw_points(ax: Axes, sizes: IntArray, values: FloatArray) -> None:
    # Points of one size beside each other, the same in every picture.
    beside = np.zeros(len(sizes))
    for size in np.unique(sizes):
        at = np.flatnonzero(sizes == size)
        places = np.linspace(-0.28, 0.28, len(at) + 2)[1:-1]
        beside[at[np.argsort(values[at], kind="stable")]] = places
        middle = np.median(values[at])
        ax.hlines(middle, size - 0.35, size + 0.35, color="black", linewidth=2, zorder=3)
    ax.scatter(
        sizes + beside, values, s=16, color=STYLES[1].colour, edgecolor="black", linewidth=0.4
    )
    # Values of one size only need no powers of ten.
    if len(values) and values.min() > 0 and values.max() > 30 * values.min():
        ax.set_yscale("log")


def coverage(thing: DataSupport | OperatorGraph, *, ax: Axes | None = None) -> Axes:
    """Share of all walks by Φ, the share of their subsets that no sample supports.

    The first bar holds the walks that are supported throughout. Beyond 16 sources the shares are
    those of 50,000 walks drawn at random, and the title says so.

    Parameters
    ----------
    thing : DataSupport or OperatorGraph
        A graph must have a support; the walks that it keeps are drawn solid, the others hatched.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib Axes

    References
    ----------
    Anderson et al. Fuzzy Integral = Contextual Linear Order Statistic, Algorithms 1 and 2.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from choquet import DataSupport, plot
    >>> seen = DataSupport.from_data([[0.9, 0.5, 0.1], [0.8, 0.2, 0.3]])
    >>> ax = plot.coverage(seen, ax=Figure().subplots())
    >>> [text.get_text() for text in ax.texts]
    ['33%', '33%', '33%']
    """
    found = thing.support if isinstance(thing, OperatorGraph) else thing
    if found is None:
        raise DataError("the graph has no support, so every walk is kept; give it one")
    n = found.n_sources
    ax = axes_or_new(ax, (max(5.0, 0.75 * n + 2), 3.8))
    shares, exact = walks_by_missing(found)
    kept = n
    if isinstance(thing, OperatorGraph):
        kept = max(1, sum(u < thing.epsilon * (n - 1) - 1e-12 for u in range(n)))
    for u, share in enumerate(shares):
        colour, hatch = (STYLES[0].colour, "") if u < kept else ("white", "//")
        ax.bar(u, share, color=colour, edgecolor="black", linewidth=0.6, hatch=hatch)
        ax.text(u, share, percent(share), ha="center", va="bottom", fontsize=8)
    ax.set_ylim(0, 1.1 * max(shares))
    ax.set_xticks(range(n), [f"{u / max(n - 1, 1):.2g}" for u in range(n)])
    ax.set_xlabel("Φ: share of the walk's subsets that no sample supports")
    ax.set_ylabel("share of all walks")
    seen = len(found.observed_sorts)
    walks = f"{factorial(n):,}" if n <= 15 else f"{float(factorial(n)):.2g}"
    note = "" if exact else f"; shares of {_SAMPLE:,} random walks"
    ax.set_title(f"{seen:,} of {walks} walks observed whole{note}", fontsize=10)
    return ax


def walks_by_missing(support: DataSupport) -> tuple[FloatArray, bool]:
    """Share of all walks with 0, 1, …, N - 1 unsupported subsets, and whether it is exact.

    Examples
    --------
    >>> from choquet import DataSupport
    >>> walks_by_missing(DataSupport.from_data([[0.9, 0.5, 0.1]]))
    (array([0.16666667, 0.33333333, 0.5       ]), True)
    """
    n = support.n_sources
    if n > _MAX_EXACT:
        missing = support.unsupported_steps(random_sorts(n, _SAMPLE, rng=0)).sum(axis=1)
        return np.bincount(missing, minlength=n) / _SAMPLE, False
    sizes, unsupported = subset_sizes(n), ~support.supported
    # Share of the walks to each subset that met u unsupported ones: one pass over the lattice.
    shares = np.zeros((1 << n, n + 1))
    shares[0, 0] = 1.0
    for size in range(1, n + 1):
        masks = np.flatnonzero(sizes == size)
        total = np.zeros((len(masks), n + 1))
        for i in range(n):
            inside = masks >> i & 1 == 1
            total[inside] += shares[masks[inside] ^ 1 << i]
        total /= size
        late = unsupported[masks]
        total[late] = np.roll(total[late], 1, axis=1)
        shares[masks] = total
    result: FloatArray = shares[-1, :n].copy()
    return result, True
