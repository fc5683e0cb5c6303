"""What should be said of a fit: it is worse than the mean, or a source runs against the target."""

from __future__ import annotations

from collections.abc import Sequence

from choquet.arrays import FloatArray
from choquet.scales.directions import auto_directions

__all__ = ["against_target", "fit_warnings"]

_NAMED = 6
"""Sources that a message names."""

_ROWS = 20_000
"""Rows that rank correlations are taken from, evenly spaced if there are more."""


def against_target(X: FloatArray, y: FloatArray, sources: Sequence[str]) -> list[str]:
    """Sources that fall where the target rises, by their rank correlation.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.column_stack([np.arange(20.0), -np.arange(20.0)])
    >>> against_target(X, np.arange(20.0), ["size", "price"])
    ['price']
    """
    step = max(1, -(-len(X) // _ROWS))
    directions, _ = auto_directions(X[::step], y[::step])
    return [name for name, one in zip(sources, directions, strict=True) if one == "lower"]


def fit_warnings(
    X: FloatArray, y: FloatArray, error: float, spread: float, sources: Sequence[str]
) -> list[str]:
    """What a monotone fit should be warned of, in sentences.

    Parameters
    ----------
    X, y : arrays
        Rows learned from.
    error, spread : float
        Sums of squares about the fit and about the mean of the target.
    sources : sequence of str
        Names of the columns.

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
    if spread > 0 and error > spread * (1 + 1e-9):
        found.append(
            "on the rows learned from, the fit is worse than the mean of the target "
            f"(R² {1 - error / spread:.2f}): put the columns on one scale with choquet.Commensurate"
        )
    against = against_target(X, y, sources)
    if against:
        more = len(against) - _NAMED
        listed = ", ".join(against[:_NAMED]) + (f" and {more} more" if more > 0 else "")
        verb, its = ("falls", "its direction") if len(against) == 1 else ("fall", "directions")
        found.append(
            f"{listed} {verb} where the target rises, which a monotone measure cannot follow: give "
            f"{its} with choquet.Commensurate(directions={{{against[0]!r}: 'lower'}}), or use "
            "monotone=False"
        )
    return found
