"""Choquet, Sugeno, Shilkret and Šipoš integrals of batches of inputs, and their intervals.

All of them need, for each source, the set of sources with larger input. That set is found by
comparing inputs pairwise, without sorting: N(N-1)/2 branch-free comparisons per sample, which is as
fast as summing the rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from choquet.arrays import FloatArray, as_inputs, refuse_nonfinite
from choquet.errors import DataError, MeasureError
from choquet.lattice.threads import in_chunks
from choquet.measures import Measure, MobiusMeasure, SupportedMeasure

__all__ = [
    "choquet_integral",
    "choquet_interval",
    "integral_of",
    "shilkret_integral",
    "shilkret_interval",
    "sipos_integral",
    "sugeno_integral",
    "sugeno_interval",
]


def choquet_integral(measure: Measure | MobiusMeasure, X: npt.ArrayLike) -> FloatArray:
    """Choquet integral of each sample; for negative inputs the asymmetric one.

    Parameters
    ----------
    measure : Measure or MobiusMeasure
        On N sources.
    X : array-like of shape (n_samples, N)
        Inputs, one column for each source.

    Returns
    -------
    array of shape (n_samples,)

    References
    ----------
    Choquet, G. (1954). Theory of capacities. Annales de l'Institut Fourier 5, 131-295.

    Examples
    --------
    >>> from choquet import Measure, choquet_integral
    >>> g = Measure([0, 0, 1, 1, 1, 1, 1, 1], sources=["gpr", "ir", "emi"])
    >>> choquet_integral(g, [[0.9, 0.4, 0.2], [0.1, 0.4, 0.2]])  # median, then maximum
    array([0.4, 0.4])
    """
    if isinstance(measure, MobiusMeasure):
        return measure.integral(X)
    return _integrate(measure, X, "choquet")


def integral_of(measure: Any, X: npt.ArrayLike) -> FloatArray:
    """Choquet integral of any kind of measure; where values are bounded only, the middle of it.

    Parameters
    ----------
    measure : Measure, SupportedMeasure, or one with an ``integral`` of its own
    X : array-like of shape (n_samples, N)

    Examples
    --------
    >>> from choquet import SupportedMeasure
    >>> integral_of(SupportedMeasure.from_dict({"ir": 0.4}, ["ir", "emi"]), [[0.1, 0.9]])
    array([0.5])
    """
    if isinstance(measure, Measure):
        return choquet_integral(measure, X)
    if isinstance(measure, SupportedMeasure):
        return np.asarray(choquet_interval(measure, X).mean(axis=1))
    return np.asarray(measure.integral(X))


def sipos_integral(measure: Measure, X: npt.ArrayLike) -> FloatArray:
    """Symmetric Choquet integral (Šipoš 1979): of the positive parts minus of the negative parts.

    Examples
    --------
    >>> from choquet import Measure, sipos_integral
    >>> sipos_integral(Measure([0, 0.2, 0.3, 1]), [[1.0, -1.0]]).round(12)
    array([-0.1])
    """
    inputs = as_inputs(X, measure.n_sources)
    return choquet_integral(measure, np.maximum(inputs, 0.0)) - choquet_integral(
        measure, np.maximum(-inputs, 0.0)
    )


def sugeno_integral(measure: Measure, X: npt.ArrayLike) -> FloatArray:
    """Sugeno integral of each sample: the largest min(h, g) along its walk.

    Inputs and measure share one scale, so inputs must lie between 0 and g(X).

    References
    ----------
    Sugeno, M. (1974). Theory of fuzzy integrals and its applications. PhD thesis, Tokyo.

    Examples
    --------
    >>> from choquet import Measure, sugeno_integral
    >>> sugeno_integral(Measure([0, 0.2, 0.3, 1]), [[0.9, 0.25]])
    array([0.25])
    """
    _refuse_off_scale(X, float(measure.values[-1]))
    return _integrate(measure, X, "sugeno")


def shilkret_integral(measure: Measure, X: npt.ArrayLike) -> FloatArray:
    """Shilkret integral of each sample: the largest product h·g along its walk; inputs ≥ 0.

    References
    ----------
    Shilkret, N. (1971). Maxitive measure and integration. Indagationes Mathematicae 33, 109-116.

    Examples
    --------
    >>> from choquet import Measure, shilkret_integral
    >>> shilkret_integral(Measure([0, 0.2, 0.3, 1]), [[0.9, 0.25]])
    array([0.25])
    """
    _refuse_off_scale(X, np.inf)
    return _integrate(measure, X, "shilkret")


def choquet_interval(measure: SupportedMeasure, X: npt.ArrayLike) -> FloatArray:
    """Tight bounds of the Choquet integral over all measures that agree with the supported values.

    Parameters
    ----------
    measure : SupportedMeasure
        Values on some subsets.
    X : array-like of shape (n_samples, N)
        Inputs.

    Returns
    -------
    array of shape (n_samples, 2)
        Lower and upper bound of each sample; both are attained, by the lowest and the highest
        monotone filling.

    References
    ----------
    Islam, Anderson, Pinar, Havens (2018). Data-driven compression and efficient learning of the
    Choquet integral. IEEE Transactions on Fuzzy Systems 26, 1908-1922.

    Examples
    --------
    >>> from choquet import SupportedMeasure, choquet_interval
    >>> g = SupportedMeasure.from_dict({"ir": 0.4}, sources=["ir", "emi"])
    >>> choquet_interval(g, [[0.9, 0.1], [0.1, 0.9]]).round(12)
    array([[0.42, 0.42],
           [0.1 , 0.9 ]])
    """
    inputs, lower, upper = _bounds_along_walks(measure, X)
    # Gaps between neighbouring inputs, largest first, are the non-negative coefficients of the
    # chain's values; the last one multiplies g(X), which is known.
    gaps = -np.diff(inputs, axis=1, append=0.0)
    return np.column_stack([(gaps * lower).sum(axis=1), (gaps * upper).sum(axis=1)])


def sugeno_interval(measure: SupportedMeasure, X: npt.ArrayLike) -> FloatArray:
    """Tight bounds of the Sugeno integral over all measures that agree with the supported values.

    Examples
    --------
    >>> from choquet import SupportedMeasure, sugeno_interval
    >>> g = SupportedMeasure.from_dict({"ir": 0.4}, sources=["ir", "emi"])
    >>> sugeno_interval(g, [[0.9, 0.1], [0.1, 0.9]])
    array([[0.4, 0.4],
           [0.1, 0.9]])
    """
    _refuse_off_scale(X, measure.total)
    inputs, lower, upper = _bounds_along_walks(measure, X)
    return np.column_stack(
        [np.minimum(inputs, lower).max(axis=1), np.minimum(inputs, upper).max(axis=1)]
    )


def shilkret_interval(measure: SupportedMeasure, X: npt.ArrayLike) -> FloatArray:
    """Tight bounds of the Shilkret integral over all measures that agree with the supported values.

    Examples
    --------
    >>> from choquet import SupportedMeasure, shilkret_interval
    >>> g = SupportedMeasure.from_dict({"ir": 0.4}, sources=["ir", "emi"])
    >>> shilkret_interval(g, [[0.9, 0.1], [0.1, 0.9]]).round(12)
    array([[0.36, 0.36],
           [0.1 , 0.9 ]])
    """
    _refuse_off_scale(X, np.inf)
    inputs, lower, upper = _bounds_along_walks(measure, X)
    return np.column_stack([(inputs * lower).max(axis=1), (inputs * upper).max(axis=1)])


def _bounds_along_walks(
    measure: SupportedMeasure, X: npt.ArrayLike
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Inputs of each sample in decreasing order, and bounds of g along its walk."""
    inputs = as_inputs(X, measure.n_sources)
    sorts = np.argsort(-inputs, axis=1, kind="stable")
    lower, upper = measure.walk_bounds(sorts)
    return np.take_along_axis(inputs, sorts, axis=1), lower, upper


def _integrate(measure: Measure, X: npt.ArrayLike, integral: str) -> FloatArray:
    from choquet.lattice import _kernels

    inputs = as_inputs(X, measure.n_sources, finite=False)
    result = np.empty(len(inputs))
    number = _kernels.INTEGRALS.index(integral)

    def part(low: int, high: int) -> bool:
        return bool(_kernels.integrate(measure.values, inputs[low:high], number, result[low:high]))

    if not all(in_chunks(part, len(inputs), measure.n_sources**2)):
        refuse_nonfinite(inputs)
    return result


def _refuse_off_scale(X: npt.ArrayLike, top: float) -> None:
    inputs = as_inputs(X)
    if top <= 0:
        raise MeasureError(f"g(X) = {top:g}: this integral needs a positive measure")
    outside = (inputs < 0) | (inputs > top)
    if outside.any():
        row, column = (int(k) for k in np.argwhere(outside)[0])
        scale = "be at least 0" if np.isinf(top) else f"lie between 0 and g(X) = {top:g}"
        raise DataError(
            f"inputs of this integral must {scale}: row {row}, column {column} holds "
            f"{inputs[row, column]:g}; rescale them first"
        )
