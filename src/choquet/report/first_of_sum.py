"""The first screen of a report on an additive model: the same five answers."""

from __future__ import annotations

from typing import Any

import numpy as np

from choquet.additive.model import FittedTerm
from choquet.arrays import BoolArray, FloatArray
from choquet.explanation import AdditiveView, Brief, list_words
from choquet.explanation.phrases import figure, number_word, percent, source_words
from choquet.report.first import LOG_ODDS, least_sure, no_quality, other_models, quality_warnings
from choquet.report.reliability import unreliable

_MATTERS = 0.01
"""Share of the variation from which on more data on a term are worth collecting."""

_NAMED = 2
"""Terms and places that one point names."""

_MANY_UNSEEN = 0.01
"""Share of samples where no data were from which on that is a warning."""


def first_of_sum(
    view: AdditiveView,
    brief: Brief,
    quality: dict[str, Any] | None,
    *,
    rows: FloatArray | None,
    samples: list[dict[str, Any]] | None,
    reliability: dict[str, Any] | None,
    targets: bool,
) -> dict[str, Any]:
    """The five answers of the first screen, in plain data.

    Parameters
    ----------
    view : AdditiveView
    brief : Brief
        The model in short.
    quality : dict or None
        Its scores beside others'.
    rows : array or None
        The samples, with levels as numbers.
    samples : list of dict or None
        Those that are listed.
    reliability : dict or None
        Of the probabilities.
    targets : bool
        Whether results of the samples are known.
    """
    unseen = None if rows is None else unseen_rows(view, rows)
    weak = [term for term in view.model.terms_ if _uncertain(view, term)]
    empty = _empty(view)
    return {
        "what": _what(view),
        "warnings": _warnings(brief, quality, unseen),
        "quality": quality,
        "no_quality": None if quality else no_quality(targets),
        "works": {**brief.to_dict(), "notes": _notes(view), "more": True},
        "distrust": _distrust(unseen, weak, empty, samples, reliability),
        "next": _next(quality, weak, empty),
    }


def unseen_rows(view: AdditiveView, rows: FloatArray) -> BoolArray:
    """Whether a sample lies where no data were: beyond their ends, or in an empty cell of a term.

    Parameters
    ----------
    view : AdditiveView
    rows : array
        Samples, with levels as numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from choquet import ChoquetAdditiveRegressor
    >>> from choquet.explanation import view_of
    >>> X = np.linspace(0, 1, 60)[:, None]
    >>> view = view_of(ChoquetAdditiveRegressor(link="add").fit(X, X[:, 0]))
    >>> unseen_rows(view, np.array([[0.5], [1.1]])).tolist()
    [False, True]
    """
    found = np.zeros(len(rows), dtype=np.bool_)
    for term, met, (cells, _, _, known) in zip(
        view.model.terms_, view.parts.counts, view.parts.places(rows), strict=True
    ):
        d = len(term.sources)
        seen = {tuple(cell) for cell in met[:, :d].tolist()}
        found |= ~known | np.array([tuple(cell) not in seen for cell in cells.tolist()], dtype=bool)
        for i, axis in zip(term.sources, term.axes, strict=True):
            found |= axis.beyond(rows[:, i]) != 0  # a missing value is told by `known`
    return found


def _uncertain(view: AdditiveView, term: FittedTerm) -> bool:
    """Whether, where rows were, the band of a term is wider than the term varies."""
    values, errors = term.values[view.score], term.errors[view.score]
    rows = _rows_at_corners(view, term)
    mean, error = np.average(values, weights=rows), np.average(errors, weights=rows)
    # A band of 95 % against the values of 95 % of the rows: 1.96 on either side cancels.
    return bool(error > np.sqrt(np.average((values - mean) ** 2, weights=rows)))


def _rows_at_corners(view: AdditiveView, term: FittedTerm) -> FloatArray:
    """Rows learned from by corner of a term's grid: those of a cell count for each of its ends."""
    at = next(t for t, one in enumerate(view.model.terms_) if one is term)
    met, d = view.parts.counts[at], len(term.sources)
    found = np.zeros(term.values[view.score].shape)
    for corner in np.ndindex(*(2,) * d):
        ends = [
            # A level is a place of its own; between knots there are two.
            np.where(met[:, j] < len(axis.knots) - 1, met[:, j] + corner[j], met[:, j])
            for j, axis in enumerate(term.axes)
        ]
        np.add.at(found, tuple(ends), met[:, -1])
    return found if found.any() else np.ones_like(found)


def _what(view: AdditiveView) -> str:
    into = view.target or "one output"
    if view.outcome is not None:
        classes = [str(one) for one in view.model.classes_]
        into = f"an answer: which of {len(classes)} classes"
        into += f" ({', '.join(classes)}) is true" if len(classes) <= 4 else " is true"
    terms = view.model.terms_
    single = sum(len(term.sources) == 1 for term in terms)
    text = f"The model combines {source_words(view.sources)} into {into}. "
    text += f"It adds up {number_word(len(terms))} "
    text += "term" if len(terms) == 1 else "terms"
    if 0 < single < len(terms):
        text += f": {number_word(single)} of one source, "
        text += f"{number_word(len(terms) - single)} of several"
    return f"{text}. It was learned from {view.model.n_rows_:,.10g} samples."


def _notes(view: AdditiveView) -> list[str]:
    notes = []
    if view.outcome is None and view.parts.origin is None:
        base = float(np.ravel(view.parts.output(np.zeros((1, 1))))[0])
        what = view.target or "the output"
        notes.append(f"Effects are added to {figure(base)}, which is {what} on average.")
    if view.parts.origin is not None or (view.outcome is not None and view.target is None):
        notes.append(view.meaning())
    if view.outcome is not None and view.model.model_.n_scores > 1:
        notes.append("A class is the more probable, the higher its score is above the others.")
    elif view.outcome is not None and not hasattr(view.model, "thresholds_"):
        notes.append(LOG_ODDS)
    return notes


def _warnings(brief: Brief, quality: dict[str, Any] | None, unseen: BoolArray | None) -> list[str]:
    found = quality_warnings(quality) if quality else []
    if brief.poor:
        found.append(
            f"The terms named below miss {percent(min(brief.lost, 1.0), 2)} of what the model "
            "does. Do not act on them alone; all terms follow further down."
        )
    if unseen is not None and unseen.mean() > _MANY_UNSEEN:
        found.append(
            f"{int(unseen.sum()):,} of {len(unseen):,} samples ({percent(float(unseen.mean()), 2)})"
            " lie where the model saw no data."
        )
    return found


def _distrust(
    unseen: BoolArray | None,
    weak: list[FittedTerm],
    empty: list[str],
    samples: list[dict[str, Any]] | None,
    reliability: dict[str, Any] | None,
) -> list[str]:
    found = []
    if unseen is not None:
        found.append(
            f"{percent(float(unseen.mean()), 2)} of the {len(unseen):,} samples lie beyond the "
            "ends of the data, or combine inputs in a way that no data showed."
            if unseen.any()
            else f"All {len(unseen):,} samples lie where data were seen. This says nothing about "
            "accuracy."
        )
    found += [
        f"The effect of {term.name} is uncertain: where the rows are, its 95 % band is wider than "
        "the effect varies."
        for term in weak[:_NAMED]
    ]
    found += empty[:_NAMED]
    shown = [
        {**row, "sure_low": row["interval"][0], "sure_high": row["interval"][1]}
        for row in samples or ()
        if row["probability"] is None
    ]
    known = {"rows": shown, "n": 0 if unseen is None else len(unseen)}
    found += [*least_sure(known), *unreliable(reliability)]
    return found or ["No samples were given, so nothing is known about where it can be trusted."]


def _empty(view: AdditiveView) -> list[str]:
    """Combinations of bands without data, of the largest terms of several sources."""
    found = []
    for term, met in zip(view.model.terms_, view.parts.counts, strict=True):
        d = len(term.sources)
        sizes = [max(len(axis.knots) - 1, axis.n_levels, 1) for axis in term.axes]
        seen = {tuple(cell) for cell in met[:, :d].tolist()}
        missing = [cell for cell in np.ndindex(*sizes) if cell not in seen]
        if d < 2 or not missing:
            continue
        # The first in the order of the grid lies at a corner, which is easiest to imagine.
        where = view.parts.place_words(term, missing[0])
        cells = f"{len(missing):,} of {int(np.prod(sizes)):,} combinations"
        found.append(
            f"Never seen: samples in which {where} ({cells})."
            if len(missing) == 1
            else f"Never seen: {cells} of {list_words(term.names)}, for example samples in which "
            f"{where}."
        )
    return found


def _next(quality: dict[str, Any] | None, weak: list[FittedTerm], empty: list[str]) -> list[str]:
    found = other_models(quality, "contextual")
    if quality is None:
        found.append("Give samples with known results, so that the report can measure errors.")
    if empty:
        found.append("Collect samples of the combinations that were never seen, if they occur.")
    elif weak and weak[0].share >= _MATTERS:
        found.append(f"Collect samples that differ in {weak[0].name}.")
    elif weak:
        found.append(
            f"{weak[0].name} is uncertain and hardly matters: a model with fewer terms "
            "(`--max-terms`) may do as well."
        )
    return found or ["Nothing stands out. Look at single inputs next."]
