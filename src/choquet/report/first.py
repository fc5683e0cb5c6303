"""The first screen of a report: what, how good, how, where not to trust it, and what to do next."""

from __future__ import annotations

from typing import Any

import numpy as np

from choquet.arrays import BoolArray, FloatArray
from choquet.decomposition.runtime import TRUSTED
from choquet.explanation import list_words
from choquet.explanation.answers import Answers
from choquet.explanation.brief import Brief
from choquet.explanation.model import OperatorsExplanation
from choquet.explanation.phrases import number_word, percent, source_words
from choquet.explanation.view import View
from choquet.report.decimals import span
from choquet.report.reliability import unreliable
from choquet.scales.advice import against_target

_NAMED = 3
"""Contexts, samples and sources that one point names."""

_MANY_UNSEEN = 0.01
"""Share of samples of a kind not seen before from which on that is a warning."""


LOG_ODDS = (
    "Log-odds say how likely a class is: 0 means as likely as not, and each unit more multiplies "
    "the odds by 2.7."
)
_NO_DATA = "No data came with the model, so nothing is known about where it can be trusted."


def first_screen(
    view: View,
    story: OperatorsExplanation,
    brief: Brief,
    quality: dict[str, Any] | None,
    answers: Answers | None,
    *,
    inputs: FloatArray | None,
    targets: FloatArray | None,
    samples: dict[str, Any] | None = None,
    reliability: dict[str, Any] | None = None,
    learned_from: bool = True,
) -> dict[str, Any]:
    """The five answers of the first screen, in plain data.

    Parameters
    ----------
    view, story, brief
        What the model is, in long and in short.
    quality : dict or None
        Its scores beside others'.
    answers : Answers or None
        What the model gives for the samples, and what is known about them.
    inputs, targets : arrays or None
        The samples.
    samples : dict or None
        Those that are listed, with what is known of each.
    reliability : dict or None
        Of the probabilities of a classifier.
    learned_from : bool
        Whether the model knows data of its own, beside these samples.
    """
    against = _against(view, inputs, targets)
    known = None if answers is None else answers.known.supported
    unseen = None if known is None else 1 - float(known.mean())
    return {
        "what": _what(view, story, learned_from=learned_from),
        "warnings": _warnings(brief, quality, against, known, unseen),
        "quality": quality,
        "no_quality": None if quality else no_quality(targets is not None),
        "works": {
            **brief.to_dict(),
            "notes": _notes(view, brief),
            "more": view.parts.n_operators > 1 or brief.kind != "rules",
        },
        "distrust": (
            [
                *_distrust(view, story, answers, unseen),
                *least_sure(samples),
                *unreliable(reliability),
            ]
            if learned_from
            else [_NO_DATA]
        ),
        "next": _next(story, quality, against),
    }


def _what(view: View, story: OperatorsExplanation, *, learned_from: bool) -> str:
    outcome = view.outcome
    into = view.target or "one output"
    if outcome is not None:
        into = f"an answer: which of {len(outcome.classes)} classes"
        if len(outcome.classes) <= 4:
            into += f" ({', '.join(outcome.labels)})"
        into += " is true"
    text = f"The model combines {source_words(view.sources)} into {into}."
    count = len(story.operators)
    if story.poor:
        ways = "one way" if count == 1 else f"{number_word(count)} ways"
        text += f" No short description comes near how; the nearest one has {ways} of doing it."
    elif count > 1:
        text += f" It does so in {number_word(count)} ways, depending on which inputs are larger "
        text += "than others."
    else:
        text += " It always combines them in the same way."
    n = story.evidence.n_samples if story.evidence is not None else story.n_samples
    if n == n and n and learned_from:
        counted = f"{n:,.10g} samples" if story.evidence is None else story.evidence.counted()
        text += f" It was learned from {counted}."
    return text


def no_quality(given: bool) -> str:
    """Why there are no scores."""
    if given:
        return "There were too few samples to compare the model with others."
    return (
        "No samples with known results were given, so this report cannot say how good the model is."
    )


def _notes(view: View, brief: Brief) -> list[str]:
    """What a reader must know to use the sentences."""
    notes = []
    if brief.kind == "rules" and view.units is not None:
        target = view.target or "the output"
        notes.append(
            "Inputs are compared, and weighed, after each was rescaled to 0–1; the result is "
            f"turned back into {target}."
        )
    outcome = view.outcome
    if outcome is not None and outcome.kind == "log-odds":
        notes.append(LOG_ODDS)
    if outcome is not None and outcome.kind in ("integral", "level"):
        notes.append(outcome.meaning())
    return notes + (outcome.notes() if outcome is not None else [])


def _against(view: View, inputs: FloatArray | None, targets: FloatArray | None) -> list[str]:
    """Sources that fall where the target rises, of a model that cannot follow that."""
    if inputs is None or targets is None or view.signs is None or len(inputs) < 2:
        return []
    outcome = view.outcome
    if outcome is not None and len(outcome.classes) > 2 and outcome.kind != "level":
        return []  # a source may speak for one class and against another
    return against_target(view.scaled(inputs), targets, view.sources)


def _warnings(
    brief: Brief,
    quality: dict[str, Any] | None,
    against: list[str],
    known: BoolArray | None,
    unseen: float | None,
) -> list[str]:
    found = quality_warnings(quality) if quality else []
    if against:
        falls = "falls" if len(against) == 1 else "fall"
        found.append(
            f"{_some(against)} {falls} where the target rises. The model assumes the opposite and "
            "cannot follow that."
        )
    if brief.poor:
        found.append(
            f"The short description below misses {percent(min(brief.lost, 1.0), 2)} of what the "
            "model does. Do not act on it alone; the full rules follow further down."
        )
    if known is not None and unseen is not None and unseen > _MANY_UNSEEN:
        n = int((~known).sum())
        found.append(
            f"{n:,} of {len(known):,} samples ({percent(unseen, 2)}) are of a kind that "
            "the model did not see when it was learned."
        )
    return found


def _some(names: list[str]) -> str:
    """Names in a sentence: all of a few, the first of many."""
    if len(names) <= _NAMED + 1:
        return list_words(names)
    return list_words([*names[:_NAMED], f"{number_word(len(names) - _NAMED)} more"])


def quality_warnings(quality: dict[str, Any]) -> list[str]:
    """Simple answers that the model is worse than."""
    rows = {row["key"]: row for row in quality["rows"]}
    own, found, numbers = rows["model"], [], quality["numbers"]
    words = {
        "mean": "always answering the mean"
        if quality["numbers"]
        else "always the most frequent class",
        "single": "the best single source alone",
        "linear": "a linear model" if numbers else "logistic regression",
    }

    def told(row: dict[str, Any]) -> str:
        return str(row["told"]["error"]) if numbers else percent(row["error"])

    unit = "error" if numbers else "share of wrong answers"
    for key, name in words.items():
        if key not in rows or own["error"] <= rows[key]["error"] * (1 + 1e-9):
            continue
        if key == "mean" or rows[key]["beats"]:
            verb = "worse than" if key != "linear" else "less accurate than"
            found.append(
                f"The model is {verb} {name}: its {unit} is {told(own)} against {told(rows[key])}."
                + (" Do not use it as it is." if key == "mean" else "")
            )
        if key == "mean":
            break
    rival = rows.get("linear")
    if not numbers and rival is not None and not found:
        away = own["log_loss"] - rival["log_loss"]
        if away > max(own["log_loss_half"], rival["log_loss_half"]):
            found.append(
                f"The probabilities are worse than those of logistic regression: log-loss "
                f"{own['told']['log_loss']} against {rival['told']['log_loss']}."
            )
    return found


def _distrust(
    view: View, story: OperatorsExplanation, answers: Answers | None, unseen: float | None
) -> list[str]:
    found = []
    if (
        answers is not None
        and unseen is not None
        and (view.learned or view.parts.support is not None)
    ):
        n = len(answers.scaled)
        if unseen == 0:
            found.append(
                f"All {n:,} samples are of a kind that was seen before. This says nothing about "
                "accuracy."
            )
        else:
            found.append(
                f"{percent(unseen, 2)} of the {n:,} samples are of a kind not seen before: the "
                "inputs rank in an order for which data are missing."
            )
        widest = _widest(view, answers)
        found += [widest] if widest else []
    elif story.evidence is not None:
        share = story.evidence.walk_share
        found.append(
            "The data are enough for every order of the inputs."
            if share == 1
            else f"The data are enough for {percent(share, 2)} of all orders of the inputs only."
        )
    if story.evidence is not None and story.evidence.noise:
        found.append(story.evidence.noise)
    found += _never_seen(view, story)
    return found or [_NO_DATA]


def least_sure(samples: dict[str, Any] | None) -> list[str]:
    """The sample, of those listed, whose answer is known least exactly."""
    # Those listed are the first.
    rows = [] if samples is None else [row for row in samples["rows"] if "sure_low" in row]
    if not rows:
        return []
    widths = [row["sure_high"] - row["sure_low"] for row in rows]
    worst = int(np.argmax(widths))
    if not widths[worst] > 0:
        return []
    row = rows[worst]
    some = (
        ""
        if samples is None or samples["n"] <= len(rows)
        else f" among the first {len(rows):,} samples"
    )
    return [
        f"The widest 95 % interval of an answer{some} is that of sample {worst + 1}: "
        f"{span(row['sure_low'], row['sure_high'])}."
    ]


def _widest(view: View, answers: Answers) -> str | None:
    """The samples whose answers the data leave most open."""
    low, high = answers.interval.T
    width = high - low
    if not np.isfinite(width).any() or np.nanmax(width) <= 1e-9 * max(view.width, 1e-300):
        return None
    worst = int(np.nanargmax(width))
    return (
        f"The data leave the answer most open for sample {worst + 1}: it could lie anywhere from "
        f"{span(low[worst], high[worst])}."
    )


def _never_seen(view: View, story: OperatorsExplanation) -> list[str]:
    """Contexts without data, by name."""
    if view.learned:
        weak = [one for one in story.operators if one.trust < TRUSTED]
        return [
            f"Few data stand behind the case in which {one.context} ({one.count:,} samples)."
            for one in weak[:_NAMED]
        ]
    never = [one for one in story.requests if one.state == "unsupported"]
    open_ = [one for one in story.requests if one.state == "unstable"]
    found = [f"Never seen: {one.kind()}." for one in never[:_NAMED]]
    if not found:
        found += [f"Seen, but still uncertain: {one.kind()}." for one in open_[:1]]
    return found


def _next(
    story: OperatorsExplanation, quality: dict[str, Any] | None, against: list[str]
) -> list[str]:
    found = []
    if against:
        found.append(
            f"Tell the model that lower values of {_some(against)} are better: with "
            "`--lower-is-better` of `choquet fit`, or with `directions=` of `Commensurate` in "
            "Python."
        )
    if not against:
        found += other_models(quality, "contextual", "additive")
    if quality is None:
        found.append("Give samples with known results, so that the report can measure errors.")
    never = [one for one in story.requests if one.state == "unsupported"]
    weak = [one for one in story.requests if one.state == "learned" and one.trust < TRUSTED]
    if never:
        found.append(
            "Collect samples of the kinds that were never seen. The list below begins with those "
            "that would tell most."
        )
    elif weak:
        found.append(f"Collect {weak[0].text()}.")
    if not found:
        found.append("Nothing stands out. Look at single samples next.")
    return found[:5]


def other_models(quality: dict[str, Any] | None, *learners: str) -> list[str]:
    """What else to try, where a simple answer is better than the model."""
    rows = {row["key"]: row for row in quality["rows"]} if quality else {}
    beaten = [key for key in ("linear", "single", "mean") if key in rows and rows[key]["beats"]]
    if not beaten or quality is None:
        return []
    names = learners if quality["numbers"] else [f"{name}-classifier" for name in learners]
    options = " or ".join(f"`--learner {name}`" for name in names)
    return [f"Try another kind of model: `choquet fit` with {options}."]
