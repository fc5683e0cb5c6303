"""Torra's Hellinger distance between fuzzy measures, by their derivatives."""

from __future__ import annotations

import numpy as np

from choquet.arrays import FloatArray
from choquet.errors import MeasureError, SourceError
from choquet.measures import Measure

_ROUNDING = 1e-9
"""By how much an integral may miss a value of the measure that it must give."""


def derivative(measure: Measure, reference: Measure) -> FloatArray:
    """The function f whose Choquet integral over every subset gives the measure, if there is one.

    Parameters
    ----------
    measure : Measure
        What is differentiated.
    reference : Measure
        What it is differentiated by; positive on every source.

    Returns
    -------
    array of shape (N,)
        f(i) = g({i}) / λ({i}).

    Raises
    ------
    MeasureError
        If there is no such function: most pairs of measures have none.

    References
    ----------
    Sugeno (2013), "A note on derivatives of functions with respect to fuzzy measures".

    Examples
    --------
    >>> derivative(Measure.additive([0.2, 0.8]), Measure.additive([0.5, 0.5]))
    array([0.4, 1.6])
    """
    if measure.sources != reference.sources:
        raise SourceError("both measures must be on the same sources, in one order")
    n = measure.n_sources
    alone = 1 << np.arange(n)
    if (reference.values[alone] <= 0).any():
        name = measure.sources[int(np.flatnonzero(reference.values[alone] <= 0)[0])]
        raise MeasureError(f"the reference is 0 on {{{name}}}, so nothing can be divided by it")
    slope: FloatArray = measure.values[alone] / reference.values[alone]
    inside = (np.arange(1 << n)[:, None] >> np.arange(n) & 1).astype(np.float64)
    missed = np.abs(reference.integral(inside * slope) - measure.values)
    if missed.max() > _ROUNDING * max(1.0, float(np.abs(measure.values).max())):
        worst = int(missed.argmax())
        raise MeasureError(
            "the measure has no derivative with respect to the reference: on "
            f"{measure.format(worst)} the integral misses it by {missed[worst]:.3g}. "
            "measure_distance(…, metric='hellinger') compares any two measures, walk by walk"
        )
    return slope


def hellinger_distance(first: Measure, second: Measure, reference: Measure) -> float:
    """Hellinger distance of two measures that have derivatives with respect to a third.

    H² is half the Choquet integral, by the reference, of the squared difference of the square roots
    of both derivatives. For probabilities it is the usual Hellinger distance, whatever the
    (additive) reference.

    Parameters
    ----------
    first, second : Measure
        On the same sources.
    reference : Measure
        The measure that both are differentiated by.

    Returns
    -------
    float

    Raises
    ------
    MeasureError
        If one of them has no derivative.

    References
    ----------
    Torra, Narukawa, Sugeno & Carlson (2013), "Hellinger distance for fuzzy measures", EUSFLAT.

    Examples
    --------
    >>> p, q = Measure.additive([0.2, 0.8]), Measure.additive([0.5, 0.5])
    >>> round(hellinger_distance(p, q, Measure.additive([0.3, 0.7])), 6)
    0.226532
    """
    roots = [np.sqrt(derivative(one, reference)) for one in (first, second)]
    square = float(reference.integral((roots[0] - roots[1])[None] ** 2)[0]) / 2
    return float(np.sqrt(max(square, 0.0)))
