"""Linguistic summaries: "most samples in which gpr is the largest use the median"."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from choquet.arrays import BoolArray, as_inputs
from choquet.decomposition import Decomposition
from choquet.errors import OptionError
from choquet.explanation.phrases import operator_phrases

QUANTIFIERS: Mapping[str, tuple[float, float, float, float]] = MappingProxyType(
    {
        "few": (0.0, 0.0, 0.1, 0.3),
        "about half of the": (0.35, 0.45, 0.55, 0.65),
        "most": (0.3, 0.8, 1.0, 1.0),
        "almost all": (0.8, 0.95, 1.0, 1.0),
    }
)
"""Trapezoids over shares: a quantifier is wholly true between the middle two. "Most" is Zadeh's."""


@dataclass(frozen=True)
class LinguisticSummary:
    """One sentence about samples, with how true it is.

    Attributes
    ----------
    text : str
        The sentence.
    truth : float
        Degree of truth, from 0 to 1.
    share : float
        Share of the samples that the sentence is about which do what it says.
    coverage : float
        Share of all samples that it is about.
    quantifier, condition, operator : str
        Its parts; of the operator the name, which several may share.
    """

    text: str
    truth: float
    share: float
    coverage: float
    quantifier: str
    condition: str
    operator: str


def linguistic_summaries(
    decomposition: Decomposition,
    X: Any,
    *,
    least_truth: float = 0.5,
    least_coverage: float = 0.05,
    quantifiers: Mapping[str, tuple[float, float, float, float]] = QUANTIFIERS,
) -> tuple[LinguisticSummary, ...]:
    """Sentences "Q samples in which R use S" that are true of the samples, truest first.

    R is a source being the largest or the smallest input, or nothing; S is the operator that a
    sample uses; Q is a quantifier. The truth is the membership of the share of R that is S in Q.
    Of several quantifiers the truest is told, and of equally true ones the narrowest.

    Parameters
    ----------
    decomposition : Decomposition
        What says which operator a sample uses.
    X : array-like or data frame of shape (n_samples, N)
        The samples.
    least_truth, least_coverage : float
        Sentences that are less true, or about a smaller share of the samples, are left out.
    quantifiers : mapping from words to four numbers
        Trapezoids over shares.

    Returns
    -------
    tuple of LinguisticSummary

    References
    ----------
    Yager (1982), "A new approach to the summarization of data"; Kacprzyk & Zadrożny (2005),
    "Linguistic database summaries and their protoforms"; Zadeh (1983), "A computational approach to
    fuzzy quantifiers in natural languages".

    Examples
    --------
    >>> import numpy as np
    >>> from choquet import Clodd, Measure, decompose
    >>> g = Measure([0, 0, 1, 1, 1, 1, 1, 1], sources=["gpr", "ir", "emi"])
    >>> X = np.random.default_rng(0).random((200, 3))
    >>> found = linguistic_summaries(decompose(g, method=Clodd()), X)
    >>> print(next(one.text for one in found if "gpr is the largest" in one.text))
    Almost all samples in which gpr is the largest use the median of the three.
    """
    for name, value in (("least_truth", least_truth), ("least_coverage", least_coverage)):
        if not 0 <= value <= 1:
            raise OptionError(f"{name}={value} must lie between 0 and 1")
    _check_quantifiers(quantifiers)
    inputs = as_inputs(X, sources=decomposition.sources)
    used = np.asarray(decomposition.operator_of(inputs))
    phrases = operator_phrases(decomposition)
    found = []
    for condition, inside in _conditions(inputs, decomposition.sources):
        coverage = float(inside.mean())
        if coverage < least_coverage or not inside.any():
            continue
        for k, operator in enumerate(decomposition.operators):
            share = float((used[inside] == k).mean())
            quantifier, truth = _quantified(share, quantifiers)
            if truth < least_truth:
                continue
            words = f"{quantifier} samples{condition} use {phrases[k]}."
            text = words[0].upper() + words[1:]
            summary = (text, truth, share, coverage, quantifier, condition.strip(), operator.name)
            found.append(LinguisticSummary(*summary))
    # "Few" says what does not happen, which is less worth telling.
    found.sort(key=lambda one: (-one.truth, -one.share, -one.coverage))
    return tuple(found)


def _check_quantifiers(quantifiers: Mapping[str, tuple[float, float, float, float]]) -> None:
    if not quantifiers:
        raise OptionError("quantifiers is empty; give at least one")
    for name, corners in quantifiers.items():
        if len(corners) != 4 or not 0 <= corners[0] <= corners[1] <= corners[2] <= corners[3] <= 1:
            raise OptionError(
                f"the quantifier {name!r} must have four shares that ascend from 0 to 1, not "
                f"{tuple(corners)}"
            )


def _conditions(inputs: Any, sources: tuple[str, ...]) -> list[tuple[str, BoolArray]]:
    largest, smallest = inputs.max(axis=1), inputs.min(axis=1)
    every = [("", np.ones(len(inputs), dtype=bool))]
    for i, name in enumerate(sources):
        every.append((f" in which {name} is the largest", inputs[:, i] == largest))
        every.append((f" in which {name} is the smallest", inputs[:, i] == smallest))
    return every


def _quantified(
    share: float, quantifiers: Mapping[str, tuple[float, float, float, float]]
) -> tuple[str, float]:
    """The truest quantifier of a share, the narrowest of equals."""
    degrees = {
        name: float(np.interp(share, *_points(corners))) for name, corners in quantifiers.items()
    }
    best = max(degrees, key=lambda name: (degrees[name], -_width(quantifiers[name])))
    return best, degrees[best]


def _points(corners: tuple[float, float, float, float]) -> tuple[list[float], list[float]]:
    """Corners as points of a line; where a side is upright, it is wholly true at its end."""
    a, b, c, d = corners
    places, degrees = [b, c], [1.0, 1.0]
    if a < b:
        places, degrees = [a, *places], [0.0, *degrees]
    if c < d:
        places, degrees = [*places, d], [*degrees, 0.0]
    return places, degrees


def _width(corners: tuple[float, float, float, float]) -> float:
    return corners[3] - corners[0] + corners[2] - corners[1]
