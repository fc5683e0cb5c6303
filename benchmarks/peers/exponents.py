"""How fast time and memory grow: a line through logarithms."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["Exponent", "fit_exponent"]


@dataclass(frozen=True)
class Exponent:
    """A power of the size, with its standard error.

    Examples
    --------
    >>> str(Exponent(1.5, 0.04, 5))
    '1.50 ± 0.04'
    """

    power: float
    error: float
    n_points: int

    def __str__(self) -> str:
        return f"{self.power:.2f} ± {self.error:.2f}"


def fit_exponent(
    sizes: npt.ArrayLike, values: npt.ArrayLike, *, floor: float = 0.0
) -> Exponent | None:
    """Slope of log(values) against log(sizes) by least squares, with its standard error.

    Parameters
    ----------
    sizes, values : array-like
        Sizes must be positive.
    floor : float, default 0
        Values below it are left out: there a fixed cost hides the growth.

    Returns
    -------
    Exponent, or None where fewer than three points are left

    Examples
    --------
    >>> fit = fit_exponent([10, 100, 1000, 10000], [0.02, 2, 200, 20000])
    >>> round(fit.power, 12), fit.error < 1e-9
    (2.0, True)
    """
    x, y = np.asarray(sizes, dtype=np.float64), np.asarray(values, dtype=np.float64)
    used = np.isfinite(y) & (y > 0) & (y >= floor)
    if np.count_nonzero(used) < 3:
        return None
    x, y = np.log(x[used]), np.log(y[used])
    x -= x.mean()
    spread = float(x @ x)
    if spread == 0:
        return None
    power = float(x @ y) / spread
    rest = y - y.mean() - power * x
    return Exponent(power, float(np.sqrt(rest @ rest / (len(x) - 2) / spread)), len(x))
