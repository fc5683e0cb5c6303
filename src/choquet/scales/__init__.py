"""Scales: how the numbers in the data stand to those that sources are compared on.

An integral compares its inputs, so that they must be on one scale and point the same way. Needs
NumPy, and SciPy to find directions; the scikit-learn transformer is `choquet.Commensurate`.
"""

from choquet.scales.advice import against_target, fit_warnings
from choquet.scales.directions import (
    Direction,
    auto_directions,
    choose_directions,
    direction_note,
    rank_correlation,
)
from choquet.scales.figures import figure, figures, figures_of
from choquet.scales.scale import IDENTITY, METHODS, Scale, fit_scale, points_scale
from choquet.scales.units import Units, Unwrapped, unwrapped

__all__ = [
    "IDENTITY",
    "METHODS",
    "Direction",
    "Scale",
    "Units",
    "Unwrapped",
    "against_target",
    "auto_directions",
    "choose_directions",
    "direction_note",
    "figure",
    "figures",
    "figures_of",
    "fit_scale",
    "fit_warnings",
    "points_scale",
    "rank_correlation",
    "unwrapped",
]
