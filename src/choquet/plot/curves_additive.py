"""Terms of additive models: utilities as curves with bands, pairs as maps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from choquet.additive.model import FittedTerm
from choquet.additive.terms import Places, Term
from choquet.errors import OptionError, SourceError
from choquet.plot.style import GREY, STYLES, axes_or_new

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def _term(model: Any, sources: tuple[Any, ...]) -> FittedTerm:
    terms: tuple[FittedTerm, ...] = model.terms_
    for term in terms:
        if set(sources) in (set(term.names), set(term.sources)):
            return term
    known = ", ".join(term.name for term in terms if len(term.names) == len(sources))
    raise SourceError(f"the model has no term of {' and '.join(map(str, sources))}; it has {known}")


def utility(
    model: Any,
    source: str | int,
    *,
    X: npt.ArrayLike | None = None,
    level: float = 0.95,
    score: int = 0,
    ax: Axes | None = None,
) -> Axes:
    """Curve of a source's utility with its band, and the density of data below it.

    Parameters
    ----------
    model : ChoquetAdditiveRegressor or ChoquetAdditiveClassifier
        Fitted.
    source : str or int
        By name or position.
    X : array-like, optional
        Values of the source, or rows of all sources in the order of the fit; ticks show where the
        values lie.
    level : float, default 0.95
        Of the band.
    score : int, default 0
        Which score, where a classifier has several.
    ax : matplotlib axes, optional

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> import numpy as np
    >>> from matplotlib.figure import Figure
    >>> from choquet import ChoquetAdditiveRegressor
    >>> X = np.random.default_rng(0).random((100, 2))
    >>> model = ChoquetAdditiveRegressor(link="add").fit(X, X[:, 0])
    >>> utility(model, "x0", ax=Figure().subplots()).get_xlabel()
    'x0'
    """
    from scipy.stats import norm

    if not 0 < level < 1:
        raise OptionError(f"level={level!r} must be between 0 and 1")
    term = _term(model, (source,))
    ax = axes_or_new(ax, (4.5, 3.2))
    scale = float(getattr(model, "scale_", 1.0))
    value, error = scale * term.values[score], scale * term.errors[score]
    half = norm.ppf((1 + level) / 2) * error
    axis, n = term.axes[0], len(term.axes[0].knots)
    style = STYLES[0]
    if n:
        ax.fill_between(
            axis.knots, (value - half)[:n], (value + half)[:n], color=style.colour, alpha=0.2
        )
        ax.plot(axis.knots, value[:n], color=style.colour)
    slots = np.arange(n, axis.size)
    if len(slots):
        at = np.arange(len(slots), dtype=np.float64)
        if n:
            at = axis.knots[-1] + (1 + at) * (axis.knots[-1] - axis.knots[0]) / 12
        ax.errorbar(at, value[slots], half[slots], fmt=style.marker, color=style.colour)
        if not n:
            levels = model.model_.sources[term.sources[0]].levels
            words = [*map(str, levels), *(["missing"] if axis.missing else [])]
            ax.set_xticks(at, words, parse_math=False)
    if X is not None:
        rows = np.asarray(X)
        whole = rows.ndim == 2 and rows.shape[1] > 1
        there = (rows[:, term.sources[0]] if whole else rows.ravel()).astype(np.float64)
        ax.plot(there, np.zeros(len(there)), "|", color=GREY, transform=ax.get_xaxis_transform())
    ax.axhline(0.0, color=GREY, linewidth=0.8)
    ax.set_xlabel(term.names[0], parse_math=False)
    ax.set_ylabel("effect")
    ax.set_title(f"{term.share:.0%} of the variance, trust {term.trust:.0%}", fontsize="small")
    return ax


def pair_map(
    model: Any,
    first: str | int,
    second: str | int,
    *,
    score: int = 0,
    size: int = 101,
    ax: Axes | None = None,
) -> Axes:
    """Map of the term of two sources: what they add together beyond their utilities.

    Parameters
    ----------
    model : ChoquetAdditiveRegressor or ChoquetAdditiveClassifier
        Fitted.
    first, second : str or int
        By name or position.
    score : int, default 0
        Which score, where a classifier has several.
    size : int, default 101
        Points along each source.
    ax : matplotlib axes, optional

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> import numpy as np
    >>> from matplotlib.figure import Figure
    >>> from choquet import ChoquetAdditiveRegressor
    >>> X = np.random.default_rng(0).random((200, 2))
    >>> model = ChoquetAdditiveRegressor(link="add").fit(X, X.min(axis=1))
    >>> pair_map(model, "x0", "x1", ax=Figure().subplots()).get_ylabel()
    'x1'
    """
    term = _term(model, (first, second))
    ax = axes_or_new(ax, (4.5, 3.8))
    axes = []
    for axis in term.axes:
        ends = (axis.knots[0], axis.knots[-1]) if len(axis.knots) else (0.0, axis.n_levels - 1.0)
        n = size if len(axis.knots) else axis.n_levels
        axes.append(np.linspace(ends[0], ends[1], n))
    grid = np.stack([part.ravel() for part in np.meshgrid(*axes, indexing="ij")], axis=1)
    rows = Term((0, 1), term.axes, np.zeros((0, 0)), np.zeros((0, 0))).rows(Places(grid))
    value = rows(term.values[score].ravel()).reshape(len(axes[0]), len(axes[1]))
    value = value * float(getattr(model, "scale_", 1.0))
    most = float(np.abs(value).max()) or 1.0
    image = ax.pcolormesh(
        axes[0], axes[1], value.T, cmap="RdBu_r", vmin=-most, vmax=most, shading="nearest"
    )
    for axis, line in zip(term.axes, (ax.axvline, ax.axhline), strict=True):
        for knot in axis.knots[1:-1]:
            line(knot, color="white", linewidth=0.4)
    ax.figure.colorbar(image, ax=ax, label="effect")
    ax.set_xlabel(term.names[0], parse_math=False)
    ax.set_ylabel(term.names[1], parse_math=False)
    return ax
