"""What should be said of a fit: it is worse than the mean, or a source runs against the target."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from choquet.arrays import FloatArray
from choquet.scales.directions import auto_directions

_NAMED = 6
"""Sources that a message names."""

_AGAINST = 0.2
"""Rank correlation below 0 from which on a source is said to run against the target."""

_ERRORS = 4.0
"""Standard errors that it must also be below 0: of many sources some fall a little by chance."""


_CONSTANT = 1e-14
"""Spread of a target that counts as none, as a share of its squares."""


def against_target(
    X: FloatArray, y: FloatArray, sources: Sequence[str], weight: FloatArray | None = None
) -> list[str]:
    """Sources that fall where the target rises, clearly, by their rank correlation.

    A source of which more is better beside the other sources is not among them.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.column_stack([np.arange(20.0), -np.arange(20.0)])
    >>> against_target(X, np.arange(20.0), ["size", "price"])
    ['price']
    """
    n = float(len(X) if weight is None else weight.sum())
    least = max(_AGAINST, _ERRORS / max(n, 1.0) ** 0.5)
    found = auto_directions(X, y, weight)
    return [
        name
        for name, size, way in zip(sources, found.correlations, found.directions, strict=True)
        if size < -least and way == "lower"
    ]


def fit_warnings(
    X: FloatArray,
    y: FloatArray,
    error: float,
    spread: float,
    sources: Sequence[str],
    *,
    weight: FloatArray | None = None,
    monotone: bool = True,
) -> list[str]:
    """What should be said of a fit, in sentences.

    Parameters
    ----------
    X, y : arrays
        Rows learned from.
    error, spread : float
        Sums of squares about the fit and about the mean of the target.
    sources : sequence of str
        Names of the columns.
    weight : array, optional
        How much each row counts.
    monotone : bool, default True
        Whether more input cannot give less output, so that directions matter.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.column_stack([np.arange(20.0), -np.arange(20.0)])
    >>> for text in fit_warnings(X, np.arange(20.0), 700.0, 665.0, ["size", "price"]):
    ...     print(text)
    on the rows learned from, the fit is worse than the mean of the target (R² -0.05): put the \
columns on one scale with choquet.Commensurate
    price falls where the target rises, which a monotone measure cannot follow: give its direction \
with choquet.Commensurate(directions={'price': 'lower'}), or use monotone=False
    """
    found = []
    size = float((y * y if weight is None else weight * y * y).sum())
    # A target that is constant but for rounding has another warning.
    if spread > _CONSTANT * size and error > spread * (1 + 1e-9) and len(y) > 1:
        inside = X.size and np.nanmin(X) >= 0 and np.nanmax(X) <= 1
        what = (
            "rows are few, or these columns do not tell the target"
            if inside and y.min() >= 0 and y.max() <= 1
            else "put the columns on one scale with choquet.Commensurate"
        )
        found.append(
            "on the rows learned from, the fit is worse than the mean of the target "
            f"(R² {1 - error / spread:.2f}): {what}"
        )
    against = against_target(X, y, sources, weight) if monotone else []
    if against:
        more = len(against) - _NAMED
        listed = ", ".join(against[:_NAMED]) + (f" and {more} more" if more > 0 else "")
        # Sources without names are called x1, x2, ... here, but a transformer counts from x0.
        nameless = list(sources) == [f"x{i + 1}" for i in range(len(sources))]
        key = list(sources).index(against[0]) if nameless else against[0]
        verb, its = ("falls", "its direction") if len(against) == 1 else ("fall", "directions")
        found.append(
            f"{listed} {verb} where the target rises, which a monotone measure cannot follow: give "
            f"{its} with choquet.Commensurate(directions={{{key!r}: 'lower'}}), or use "
            "monotone=False"
        )
    return found
