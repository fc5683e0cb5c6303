"""Numbers as people write them."""

from __future__ import annotations

import math

import numpy as np

__all__ = ["figure"]

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
