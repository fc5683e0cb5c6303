"""Curves: selective prediction, reliability, and the distribution of the integral."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from choquet.arrays import FloatArray, as_vector
from choquet.certainty import Reliability
from choquet.errors import DataError
from choquet.indices import uniform_distribution
from choquet.integrals import choquet_integral
from choquet.measures import AbstractMeasure, Measure
from choquet.plot.style import GREY, STYLES, axes_or_new, legend, style_of
from choquet.walks import OperatorGraph

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MAX_OPERATORS = 6_000
"""Most operators whose splines are summed; beyond, samples are drawn."""
_SAMPLES = 200_000


def selective(
    curve: Any,
    error: npt.ArrayLike | None = None,
    *,
    name: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Error on the samples that are accepted, against their share.

    Call it again with the same axes to lay another curve over the first.

    Parameters
    ----------
    curve : array-like of shares, or an object with ``.accepted`` and ``.error``
        Share of samples accepted, in [0, 1].
    error : array-like, optional
        Error among those; needed if `curve` is an array.
    name : str, optional
        What the curve is called in the legend.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib Axes

    References
    ----------
    El-Yaniv, Wiener (2010). On the foundations of noise-free selective classification. JMLR 11,
    1605-1641.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from choquet import plot
    >>> ax = plot.selective([0.2, 0.6, 1.0], [0.01, 0.02, 0.08], ax=Figure().subplots())
    >>> ax.get_xlabel(), len(ax.lines)
    ('share of samples accepted', 1)
    """
    if error is None:
        if not hasattr(curve, "accepted") or not hasattr(curve, "error"):
            raise DataError(
                "give the accepted shares and the errors, or an object with .accepted and .error, "
                f"not {type(curve).__name__} alone"
            )
        curve, error = curve.accepted, curve.error
    share = as_vector(curve, "accepted")
    errors = as_vector(error, "error", len(share))
    if not len(share) or share.min() < 0 or share.max() > 1:
        raise DataError("accepted shares must lie in [0, 1], and there must be at least one")
    ax = axes_or_new(ax, (5.5, 4.0))
    number = sum(line.get_gid() == "selective" for line in ax.lines)
    order = np.argsort(share, kind="stable")
    label = f"curve {number + 1}" if name is None else name
    every = max(1, len(share) // 12)
    ax.plot(
        share[order], errors[order], markevery=every, markersize=5, gid="selective", label=label,
        **style_of(number).curve,
    )  # fmt: skip
    ax.set_xlim(-0.02, 1.02)
    lines = [line for line in ax.lines if line.get_gid() == "selective"]
    ax.set_ylim(bottom=min(0.0, *(float(np.min(line.get_ydata())) for line in lines)))
    ax.set_xlabel("share of samples accepted")
    ax.set_ylabel("error among those accepted")
    if name is not None or number:
        legend(ax, [(line, str(line.get_label())) for line in lines])
    return ax


def reliability(curve: Reliability, *, name: str | None = None, ax: Axes | None = None) -> Axes:
    """Share of right answers against the probability that they were given.

    Points below the dashed diagonal are answers that were given too much. Bars are 95 % intervals.
    Call it again with the same axes to lay another curve over the first.

    Parameters
    ----------
    curve : Reliability
        As from `choquet.certainty.reliability_curve`.
    name : str, optional
        What the curve is called in the legend.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib Axes

    References
    ----------
    Bröcker & Smith (2007), "Increasing the reliability of reliability diagrams".

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from choquet import plot
    >>> from choquet.certainty import reliability_curve
    >>> told, right = [0.6] * 30 + [0.9] * 30, [True, False] * 15 + [True] * 30
    >>> ax = plot.reliability(reliability_curve(told, right), ax=Figure().subplots())
    >>> ax.get_title()
    'mean distance 10 points on 60 samples (by chance 5.7)'
    """
    if not isinstance(curve, Reliability):
        raise DataError(
            f"give what choquet.certainty.reliability_curve returns, not {type(curve).__name__}"
        )
    ax = axes_or_new(ax, (4.6, 4.6))
    number = sum(line.get_gid() == "reliability" for line in ax.lines)
    if not number:
        ax.axline((0, 0), slope=1, color=GREY, linestyle="--", linewidth=1.2)
    style = style_of(number)
    ends = np.maximum(np.stack([curve.right - curve.low, curve.high - curve.right]), 0.0)
    ax.errorbar(curve.told, curve.right, ends, fmt="none", ecolor=style.colour, capsize=3)
    ax.plot(
        curve.told,
        curve.right,
        color=style.colour,
        linestyle=style.line,
        marker=style.marker,
        markersize=5,
        gid="reliability",
        label=f"curve {number + 1}" if name is None else name,
    )
    least = float(min(curve.told.min(), curve.low.min()))
    before = ax.get_xlim()[0] if number else 1.0
    start = min(before, np.floor(10 * least) / 10 - 0.02)
    ax.set_xlim(start, 1.02)
    ax.set_ylim(start, 1.02)
    ax.set_aspect("equal")
    ax.set_xlabel("probability given")
    ax.set_ylabel("share of right answers")
    lines = [line for line in ax.lines if line.get_gid() == "reliability"]
    if name is not None or number:
        legend(ax, [(line, str(line.get_label())) for line in lines])
    else:
        ax.set_title(
            f"mean distance {100 * curve.gap:.2g} points on {curve.n_samples:,} samples "
            f"(by chance {100 * curve.chance:.2g})",
            fontsize=10,
        )
    return ax


def distribution(measure: AbstractMeasure, *, n_points: int = 201, ax: Axes | None = None) -> Axes:
    """Density and distribution function of the Choquet integral of uniform inputs.

    Exact up to 6,000 distinct operators; beyond, from 200,000 samples, and the title says so.

    Parameters
    ----------
    measure : AbstractMeasure
        With values ≥ 0, all of them known.
    n_points : int, default 201
        Where the curves are computed.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default. The distribution function gets a scale of its own
        on the right.

    Returns
    -------
    matplotlib Axes

    References
    ----------
    Marichal, Kojadinovic (2008). Distribution functions of linear combinations of lattice
    polynomials from the uniform distribution. Statistics & Probability Letters 78, 985-991.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from choquet import datasets, plot
    >>> ax = plot.distribution(datasets.make_demining().measure, ax=Figure().subplots())
    >>> ax.get_ylabel()
    'density (filled)'
    """
    dense = measure.to_measure()
    exact = uniform_distribution(dense)
    top = max(1.0, float(dense.values.max()))
    points = np.linspace(0.0, top, n_points)
    density, below, note = _curves(dense, points)
    ax = axes_or_new(ax, (6.0, 4.0))
    colour = STYLES[4].colour
    ax.fill_between(points, density, color=colour, alpha=0.6, linewidth=0)
    ax.plot(points, density, color="black", linewidth=1.0)
    ax.set_xlim(0, top)
    ax.set_ylim(bottom=0)
    ax.axvline(exact.mean, color=GREY, linestyle=":", linewidth=1.4)
    ax.set_xlabel("Choquet integral of independent uniform inputs")
    ax.set_ylabel("density (filled)")
    right = ax.twinx()
    right.plot(points, below, color=STYLES[5].colour, linestyle="--", linewidth=1.8)
    right.set_ylim(0, 1.05)
    right.set_ylabel("probability of at most that (dashed)")
    ax.set_title(f"mean {exact.mean:.3g} (dotted), deviation {exact.sd:.3g}{note}", fontsize=10)
    return ax


def _curves(measure: Measure, points: FloatArray) -> tuple[FloatArray, FloatArray, str]:
    if OperatorGraph(measure).n_operators <= _MAX_OPERATORS:
        exact = uniform_distribution(measure)
        return exact.pdf(points), exact.cdf(points), ""
    inputs = np.random.default_rng(0).random((_SAMPLES, measure.n_sources))
    drawn = np.sort(choquet_integral(measure, inputs))
    below = np.searchsorted(drawn, points, side="right") / _SAMPLES
    counts, edges = np.histogram(drawn, bins=80, range=(points[0], points[-1]), density=True)
    density = np.interp(points, (edges[1:] + edges[:-1]) / 2, counts)
    return density, below, f"; {_SAMPLES:,} samples"
