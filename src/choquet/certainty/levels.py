"""Levels of intervals, and how many standard errors an interval of a level is wide."""

from __future__ import annotations

import math
from typing import Any

from choquet.errors import OptionError

_STEPS = 500
"""Steps of Newton's method, at most: some ten are enough unless nearly nothing is known."""

_FAR = 1e150
"""Beyond this a quantile is infinite: its square would be."""


def check_level(level: Any) -> float:
    """The level of an interval as a float: a number between 0 and 1, without the ends.

    Examples
    --------
    >>> check_level(0.9)
    0.9
    """
    try:
        number = float(level)
    except (TypeError, ValueError):
        number = math.nan
    if not 0 < number < 1:
        raise OptionError(
            f"level={level!r} must be a number between 0 and 1: 0.95 means that about 95 of 100 "
            "intervals hold the truth"
        )
    return number


def student_quantile(level: float, spare: float) -> float:
    """How far Student's variable is from zero at most, with a probability of `level`.

    SciPy has this too, but its special functions take a tenth of a second to load: more than all
    intervals of a small model. Its F quantile with one degree of freedom is the square of this.

    Parameters
    ----------
    level : float
        Between 0 and 1.
    spare : float
        Degrees of freedom, more than 0; not always whole where rows have weights. Infinite for
        the normal distribution.

    Examples
    --------
    >>> [round(student_quantile(0.95, spare), 3) for spare in (1, 2.5, 30, math.inf)]
    [12.706, 3.575, 2.042, 1.96]
    """
    at = 0.0
    for _ in range(_STEPS):
        inside, density = _inside(at, spare)
        # The probability bends down: a step from below never goes too far.
        step = (level - inside) / (2 * density)
        at += step
        if at > _FAR:
            return math.inf
        if step <= 1e-15 * at:
            break
    return at


def _inside(at: float, spare: float) -> tuple[float, float]:
    """Probability of a distance from zero of at most `at`, and the density there."""
    if math.isinf(spare):
        return math.erf(at / math.sqrt(2)), math.exp(-at * at / 2) / math.sqrt(2 * math.pi)
    square, half = at * at, spare / 2
    fall = -(half + 0.5) * math.log1p(square / spare)
    density = _gamma_ratio(half) * math.exp(fall) / math.sqrt(math.pi * spare)
    # Two series of the incomplete beta function, of positive terms; each is short on its side.
    if square <= spare:
        series = _series(half + 0.5, 1.5, square / (spare + square))
        return 2 * at * density * series, density
    series = _series(half + 0.5, half + 1, spare / (spare + square))
    return 1 - 2 * at * density * series / spare, density


def _gamma_ratio(a: float) -> float:
    """Γ(a + 1/2) / Γ(a), whose logarithms lose digits where they are large."""
    if a < 100:
        return math.exp(math.lgamma(a + 0.5) - math.lgamma(a))
    inner = 1 / 128 + (5 / 1024 - (21 / 32768 + 399 / 262144 / a) / a) / a
    return math.sqrt(a) * (1 - (1 / 8 - inner / a) / a)


def _series(top: float, bottom: float, ratio: float) -> float:
    """Σ of products of (top + i) / (bottom + i) · ratio."""
    total, term, k = 1.0, 1.0, 0
    while term > 1e-17 * total:
        term *= ratio * (top + k) / (bottom + k)
        total += term
        k += 1
    return total
