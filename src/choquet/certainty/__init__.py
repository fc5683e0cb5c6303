"""How sure: what data determine, averages over all measures that fit, and when to abstain."""

from choquet.certainty.identify import (
    STATES,
    Identification,
    identify,
    states,
)
from choquet.certainty.selective import (
    SelectiveCurve,
    selective_curve,
)

__all__ = [
    "STATES",
    "Identification",
    "SelectiveCurve",
    "identify",
    "selective_curve",
    "states",
]
