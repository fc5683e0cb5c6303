"""Choquet, Sugeno, Shilkret and Šipoš integrals of batches of inputs, and their intervals.

Every kind of measure integrates by a method of its own (`AbstractMeasure.integral`); these
functions check the scale of the inputs and give the integrals their names.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from choquet.arrays import FloatArray, as_inputs
from choquet.errors import DataError, MeasureError, OptionError
from choquet.measures.abstract import AbstractMeasure, check_measure
from choquet.silent import silent_integral, silent_interval, span_of

__all__ = [
    "choquet_integral",
    "choquet_interval",
    "shilkret_integral",
    "shilkret_interval",
    "sipos_integral",
    "sugeno_integral",
    "sugeno_interval",
]


def choquet_integral(measure: AbstractMeasure, X: Any, *, missing: Any = "error") -> FloatArray:
    """Choquet integral of each sample; for negative inputs the asymmetric one.

    Parameters
    ----------
    measure : AbstractMeasure
        On N sources. Where only bounds of its values are known, the middle of what is possible is
        returned; `choquet_interval` gives both ends.
    X : array-like or data frame of shape (n_samples, N)
        Inputs, one column for each source; frames are read by the names of the sources.
    missing : {"error", "present", "interval"} or (low, high), default "error"
        What NaN means: an error; a source that is left out, so that the measure restricted to the
        others integrates, g(A) g(X) / g(S); or a value from 0 to 1, or from low to high, where the
        middle of all possible integrals is returned (`choquet_interval` gives both ends).

    Returns
    -------
    array of shape (n_samples,)
        NaN where the sources that are present have no weight, with ``missing="present"``.

    References
    ----------
    Choquet, G. (1954). Theory of capacities. Annales de l'Institut Fourier 5, 131-295.

    Examples
    --------
    >>> from choquet import Measure, choquet_integral
    >>> g = Measure([0, 0, 1, 1, 1, 1, 1, 1], sources=["gpr", "ir", "emi"])
    >>> choquet_integral(g, [[0.9, 0.4, 0.2], [0.1, 0.4, 0.2]])  # median, then maximum
    array([0.4, 0.4])
    >>> choquet_integral(g, [[0.9, 0.4, float("nan")]], missing="present")
    array([0.4])
    """
    if isinstance(missing, str) and missing == "error":
        return check_measure(measure).integral(X)
    inputs = _with_gaps(measure, X)
    return silent_integral(measure, inputs, missing, measure.integral)


def _with_gaps(measure: AbstractMeasure, X: Any) -> FloatArray:
    """Inputs in which NaN says that a source is silent."""
    inputs = as_inputs(X, sources=check_measure(measure).sources, finite=False)
    if np.isinf(inputs).any():
        raise DataError("an input is infinite; NaN says that a value is missing")
    return inputs


def sipos_integral(measure: AbstractMeasure, X: Any) -> FloatArray:
    """Symmetric Choquet integral (Šipoš 1979): of the positive parts minus of the negative parts.

    Parameters
    ----------
    measure : AbstractMeasure
        On N sources.
    X : array-like or data frame of shape (n_samples, N)
        Inputs, one column for each source; frames are read by the names of the sources.

    Returns
    -------
    array of shape (n_samples,)
        The integral of each sample.

    Examples
    --------
    >>> from choquet import Measure, sipos_integral
    >>> sipos_integral(Measure([0, 0.2, 0.3, 1]), [[1.0, -1.0]]).round(12)
    array([-0.1])
    """
    inputs = as_inputs(X, sources=check_measure(measure).sources)
    return measure.integral(np.maximum(inputs, 0.0)) - measure.integral(np.maximum(-inputs, 0.0))


def sugeno_integral(measure: AbstractMeasure, X: Any) -> FloatArray:
    """Sugeno integral of each sample: the largest min(h, g) along its walk.

    Inputs and measure share one scale, so inputs must lie between 0 and g(X).

    Parameters
    ----------
    measure : AbstractMeasure
        On N sources.
    X : array-like or data frame of shape (n_samples, N)
        Inputs, one column for each source; frames are read by the names of the sources.

    Returns
    -------
    array of shape (n_samples,)
        The integral of each sample.

    References
    ----------
    Sugeno, M. (1974). Theory of fuzzy integrals and its applications. PhD thesis, Tokyo.

    Examples
    --------
    >>> from choquet import Measure, sugeno_integral
    >>> sugeno_integral(Measure([0, 0.2, 0.3, 1]), [[0.9, 0.25]])
    array([0.25])
    """
    return measure.integral(_on_scale(measure, X), kind="sugeno")


def shilkret_integral(measure: AbstractMeasure, X: Any) -> FloatArray:
    """Shilkret integral of each sample: the largest product h·g along its walk; inputs ≥ 0.

    Parameters
    ----------
    measure : AbstractMeasure
        On N sources.
    X : array-like or data frame of shape (n_samples, N)
        Inputs, one column for each source; frames are read by the names of the sources.

    Returns
    -------
    array of shape (n_samples,)
        The integral of each sample.

    References
    ----------
    Shilkret, N. (1971). Maxitive measure and integration. Indagationes Mathematicae 33, 109-116.

    Examples
    --------
    >>> from choquet import Measure, shilkret_integral
    >>> shilkret_integral(Measure([0, 0.2, 0.3, 1]), [[0.9, 0.25]])
    array([0.25])
    """
    return measure.integral(_on_scale(measure, X, np.inf), kind="shilkret")


def choquet_interval(measure: AbstractMeasure, X: Any, *, missing: Any = "error") -> FloatArray:
    """Tight bounds of the Choquet integral over all measures that agree with the supported values.

    Parameters
    ----------
    measure : AbstractMeasure
        Where all values are known, both bounds are the integral.
    X : array-like or data frame of shape (n_samples, N)
        Inputs; frames are read by the names of the sources.
    missing : {"error", "interval"} or (low, high), default "error"
        What NaN means: an error, or any value from 0 to 1, or from low to high.

    Returns
    -------
    array of shape (n_samples, 2)
        Lower and upper bound of each sample; both are attained, by the lowest and the highest
        monotone filling, and by some values of the missing inputs.

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
    >>> choquet_interval(g, [[0.9, float("nan")]], missing="interval").round(12)
    array([[0.36, 1.  ]])
    """
    if isinstance(missing, str) and missing == "error":
        return check_measure(measure).interval(X)
    span = span_of(missing)
    if span is None:
        raise OptionError(
            "missing='present' gives one number a row: use choquet_integral, or missing='interval'"
        )
    return silent_interval(measure, _with_gaps(measure, X), span, measure.interval)


def sugeno_interval(measure: AbstractMeasure, X: Any) -> FloatArray:
    """Tight bounds of the Sugeno integral over all measures that agree with the supported values.

    Parameters
    ----------
    measure : AbstractMeasure
        On N sources; where all its values are known, both bounds are the integral.
    X : array-like or data frame of shape (n_samples, N)
        Inputs, one column for each source; frames are read by the names of the sources.

    Returns
    -------
    array of shape (n_samples, 2)
        Lower and upper bound for each sample.

    Examples
    --------
    >>> from choquet import SupportedMeasure, sugeno_interval
    >>> g = SupportedMeasure.from_dict({"ir": 0.4}, sources=["ir", "emi"])
    >>> sugeno_interval(g, [[0.9, 0.1], [0.1, 0.9]])
    array([[0.4, 0.4],
           [0.1, 0.9]])
    """
    return measure.interval(_on_scale(measure, X), kind="sugeno")


def shilkret_interval(measure: AbstractMeasure, X: Any) -> FloatArray:
    """Tight bounds of the Shilkret integral over all measures that agree with the supported values.

    Parameters
    ----------
    measure : AbstractMeasure
        On N sources; where all its values are known, both bounds are the integral.
    X : array-like or data frame of shape (n_samples, N)
        Inputs, one column for each source; frames are read by the names of the sources.

    Returns
    -------
    array of shape (n_samples, 2)
        Lower and upper bound for each sample.

    Examples
    --------
    >>> from choquet import SupportedMeasure, shilkret_interval
    >>> g = SupportedMeasure.from_dict({"ir": 0.4}, sources=["ir", "emi"])
    >>> shilkret_interval(g, [[0.9, 0.1], [0.1, 0.9]]).round(12)
    array([[0.36, 0.36],
           [0.1 , 0.9 ]])
    """
    return measure.interval(_on_scale(measure, X, np.inf), kind="shilkret")


def _on_scale(measure: AbstractMeasure, X: Any, top: float | None = None) -> FloatArray:
    """Inputs between 0 and `top`, g(X) by default, which these integrals need."""
    inputs = as_inputs(X, sources=check_measure(measure).sources)
    top = measure.total if top is None else top
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
    return inputs
