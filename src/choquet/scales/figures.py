"""Numbers as people write them."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def figure(value: float | None, digits: int = 3) -> str:
    """A number as people write it: so many digits, no exponents, zero is 0.

    Numbers that only rounding made, below 1e-12, are zero; a dash stands for what is not known.

    Examples
    --------
    >>> figure(8.88e-16), figure(45932.4), figure(0.000123456), figure(-0.0), figure(1984.0, 4)
    ('0', '45,900', '0.000123', '0', '1984')
    >>> figure(None), figure(4.2e-9), figure(1e20)
    ('–', '4.2 × 10⁻⁹', '1 × 10²⁰')
    """
    if value is None or not math.isfinite(value):
        return "–"
    if abs(value) < 1e-12:
        return "0"
    rounded = float(f"{value:.{digits}g}")
    if not 1e-6 <= abs(rounded) < 1e15:
        mantissa, _, exponent = f"{rounded:.{digits - 1}e}".partition("e")
        mantissa = mantissa.rstrip("0").rstrip(".") if "." in mantissa else mantissa
        return f"{mantissa} × 10{str(int(exponent)).translate(_SUPERSCRIPTS)}"
    if abs(rounded) >= 10_000:
        return f"{rounded:,.0f}"
    return str(np.format_float_positional(rounded, trim="-"))


def figures(values: Iterable[float | None], digits: int = 3) -> list[str]:
    """Several numbers as people write them.

    Examples
    --------
    >>> figures([0.25, None, 12345.6])
    ['0.25', '–', '12,300']
    """
    return [figure(value, digits) for value in values]


def decimals_of(width: float, digits: int = 2) -> int:
    """Decimals of a number that is known within a width: those that its first digits have.

    Examples
    --------
    >>> decimals_of(0.024), decimals_of(0.62), decimals_of(1200.0), decimals_of(0.75, 1)
    (3, 2, -2, 1)
    """
    return digits - 1 - math.floor(math.log10(width)) if 0 < width < math.inf else digits


def fixed(value: float | None, decimals: int) -> str:
    """A number with so many decimals; zero is 0, and a dash stands for what is not known.

    Examples
    --------
    >>> fixed(0.0431, 3), fixed(97.0, 1), fixed(45932.4, -2), fixed(2.5e-9, 4), fixed(None, 2)
    ('0.043', '97.0', '45,900', '0', '–')
    """
    if value is None or not math.isfinite(value):
        return "–"
    rounded = round(value, decimals)
    if rounded == 0:
        return "0"
    grouping = "," if abs(rounded) >= 10_000 else ""
    return f"{rounded:{grouping}.{max(decimals, 0)}f}"


def span(low: float, high: float) -> str:
    """Two ends with as many decimals as their distance deserves.

    Examples
    --------
    >>> span(0.47, 0.6138), span(32.91, 43.82), span(16504.2, 52931.0), span(0.25, 0.25)
    ('0.47 to 0.61', '33 to 44', '17,000 to 53,000', '0.25')
    """
    if not high > low:
        return figure(low)
    decimals = decimals_of(high - low)
    return f"{fixed(low, decimals)} to {fixed(high, decimals)}"


def figures_of(numbers: Iterable[float], beside: Iterable[float] = ()) -> str:
    """Numbers of one kind with two digits; what does not change those of the largest is 0.

    Examples
    --------
    >>> figures_of([1.0, -7.8e-6, 0.034]), figures_of([-6.7e-6], beside=[1.0, 0.0])
    ('1, 0, 0.034', '0')
    """
    shown = list(numbers)
    most = max((abs(x) for x in (*shown, *beside)), default=0.0)
    return ", ".join(figure(x if abs(x) >= 0.005 * most else 0.0, 2) for x in shown)
