"""How sure: what data determine, intervals, draws of measures, averages, and when to abstain."""

from choquet.certainty.draws import Draws, draw_measures
from choquet.certainty.identify import STATES, Identification, identify, states
from choquet.certainty.indices import IndexIntervals
from choquet.certainty.region import Region, confidence_slack
from choquet.certainty.reliability import Reliability, reliability_curve
from choquet.certainty.selective import SelectiveCurve, selective_curve

__all__ = [
    "STATES",
    "Draws",
    "Identification",
    "IndexIntervals",
    "Region",
    "Reliability",
    "SelectiveCurve",
    "confidence_slack",
    "draw_measures",
    "identify",
    "reliability_curve",
    "selective_curve",
    "states",
]
