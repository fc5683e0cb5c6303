"""What a model gives for samples, once and as plain arrays: all sections of a report take these."""

from __future__ import annotations

from dataclasses import dataclass

from choquet.arrays import FloatArray
from choquet.decomposition.runtime import Assessment, assess
from choquet.explanation.view import View


@dataclass(frozen=True, eq=False)
class Answers:
    """Of each sample what the model, its operators and its measure give, in the units of the data.

    What supports them (`known`) and the samples (`scaled`) are on the common scale; the `interval`
    bounds the integral.
    """

    known: Assessment
    scaled: FloatArray
    output: FloatArray
    operator_output: FloatArray
    integral: FloatArray
    interval: FloatArray


def answers_of(view: View, inputs: FloatArray) -> Answers:
    """Ask a view for samples, given in the data.

    Examples
    --------
    >>> import numpy as np
    >>> from choquet import Measure
    >>> from choquet.explanation import view_of
    >>> answers_of(view_of(Measure([0, 0, 0, 1])), np.array([[0.2, 0.9]])).output
    array([0.2])
    """
    scaled = view.scaled(inputs)
    known = assess(view.parts, scaled)
    told = view.parts.outputs(scaled, known.operator)
    found = view.answers(scaled, known) if len(scaled) else told
    return Answers(known, scaled, *map(view.in_data, (found, told, known.integral, known.interval)))
