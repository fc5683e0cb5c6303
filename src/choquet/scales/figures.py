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
