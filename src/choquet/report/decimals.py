"""Numbers with as many decimals as what is known of them deserves."""

from __future__ import annotations

import math

from choquet.scales import figure


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
