"""How sure: what data determine, intervals, draws of measures, averages, and when to abstain."""

from typing import TYPE_CHECKING

from choquet.doors import lazy_door

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

if TYPE_CHECKING:
    from choquet.certainty.draws import Draws, draw_measures
    from choquet.certainty.identification import STATES, Identification, identify, states
    from choquet.certainty.indices import IndexIntervals
    from choquet.certainty.region import Region, confidence_slack
    from choquet.certainty.reliability import Reliability, reliability_curve
    from choquet.certainty.selective import SelectiveCurve, selective_curve
else:
    __getattr__, __dir__ = lazy_door(
        __name__,
        {
            "draws": "Draws draw_measures",
            "identification": "STATES Identification identify states",
            "indices": "IndexIntervals",
            "region": "Region confidence_slack",
            "reliability": "Reliability reliability_curve",
            "selective": "SelectiveCurve selective_curve",
        },
    )
