"""The page of fused classifiers: all classes in one table, then one class at a time."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from choquet._version import __version__
from choquet.explanation import list_words
from choquet.explanation.brief import Brief, brief_formula, brief_of
from choquet.explanation.model import explain_view
from choquet.explanation.phrases import figure, percent, plain
from choquet.explanation.view import View, operators_view
from choquet.report.explorer import explorer_data
from choquet.report.quality import scores_table
from choquet.report.reliability import reliability_table, unreliable

if TYPE_CHECKING:
    from choquet.estimators.held_out import HeldOut

_EXAMINED = 2_000
"""Samples that are looked at, evenly spaced if there are more."""

_NAMED = 3

_SAME_PAIRS = 1e-6
"""How far the scores of two classes may be from summing to one."""


def summarise_fusion(
    model: Any, X: Any = None, y: Any = None, *, title: str | None = None, n_samples: int = 100
) -> dict[str, Any]:
    """What a report says about a `FusionClassifier`; see `choquet.report.summarise`.

    Parameters
    ----------
    model : FusionClassifier
    X : scores, optional
        As the model takes them.
    y : array-like, optional
        True classes; not needed where a frame holds them.
    title : str, optional
    n_samples : int, default 100
    """
    given = None if X is None else model.class_scores(X)
    if given is not None and y is not None:
        given = given.labelled(y)
    sources, labels = model.measure_.sources, [str(one) for one in model.classes_.tolist()]
    if given is not None and len(given.scores) > _EXAMINED:
        given = given.taken(range(0, len(given.scores), -(-len(given.scores) // _EXAMINED)))
    n_views = len(model.measures_)
    views = [operators_view(model, label=label) for label in model.classes_[:n_views]]
    truth = None if given is None else given.truth
    judged, n = None, 0 if given is None else len(given.scores)
    if given is not None and truth is not None:
        judged = _quality(model, given)
    quality, reliability = scores_table(judged, n=n), reliability_table(judged, n=n)
    facts = None if given is None else _Facts(model, given)
    briefs = [
        brief_of(
            _of_any_class(view) if n_views == 1 else view,
            None
            if given is None
            else given.scores[:, k].copy()
            if n_views > 1
            else given.scores.reshape(-1, len(sources)),
        )
        for k, view in enumerate(views)
    ]
    if n_views == 1:
        briefs = [replace(briefs[0], n_classes=len(labels))]
    classes = _class_rows(model, views, briefs, labels, facts)
    data = {
        "format": "choquet report",
        "format_version": 3,
        "library_version": __version__,
        "title": title or f"How {len(sources)} classifiers are combined",
        "sources": sources,
        "labels": labels,
        "shared": n_views == 1,
        "first": {
            "what": _what(model, sources, labels),
            "warnings": _warnings(quality, facts),
            "quality": quality,
            "no_quality": (
                None
                if quality
                else "No samples with known classes were given, so this report "
                "cannot say how good the model is."
            ),
            "works": _works(model, views, briefs, given),
            "distrust": [*_distrust(classes, facts, views), *unreliable(reliability)],
            "next": _next(quality, classes, facts),
        },
        "note": _symmetry(labels, given) if n_views == 1 else None,
        "classes": classes,
        "known": truth is not None,
        "reliability": reliability,
        "samples": None if facts is None else facts.rows(n_samples),
        "explorer": _explorer(model, views, given, facts, n_samples),
    }
    found: dict[str, Any] = plain(data)
    return found


def _of_any_class(view: View) -> View:
    """The view of a measure that serves all classes, so that words name none of them."""
    outcome = view.outcome
    if outcome is None:
        return view
    parts: Any = replace(view.parts, outcome=replace(outcome, number=None))  # type: ignore[type-var]
    return replace(view, parts=parts)


class _Facts:
    """What the model says of the samples."""

    def __init__(self, model: Any, given: Any) -> None:
        self.model, self.given = model, given
        self.proba = model.predict_proba(given)
        self.answer = self.proba.argmax(axis=1)
        self.sure = self.proba.max(axis=1)
        self.seen = model.support_share(given)
        self.interval = model.support_interval(given)
        self.labels = [str(one) for one in model.classes_.tolist()]
        names = {label: k for k, label in enumerate(self.labels)}
        truth = given.truth
        self.place = (
            None if truth is None else np.array([names[str(one)] for one in truth.tolist()])
        )

    @property
    def unseen(self) -> float:
        """Share of samples whose scores rank in an order without data."""
        return float((self.seen < 1).mean())

    def confused(self) -> list[tuple[int, str, str]]:
        """Pairs of classes that are taken for each other, the most frequent first."""
        if self.place is None:
            return []
        wrong = np.flatnonzero(self.answer != self.place)
        pairs, times = np.unique(
            np.column_stack([self.place[wrong], self.answer[wrong]]), axis=0, return_counts=True
        )
        order = np.argsort(-times, kind="stable")
        return [(int(times[k]), *(self.labels[c] for c in pairs[k])) for k in order]

    def rows(self, most: int) -> dict[str, Any]:
        """The samples, those that are wrong or least sure first."""
        doubt = (
            self.sure
            if self.place is None
            else np.where(self.answer == self.place, self.sure, self.sure - 2)
        )
        order = np.argsort(doubt, kind="stable")[:most]
        second = np.argsort(-self.proba, axis=1)[:, min(1, self.proba.shape[1] - 1)]
        rows = [
            {
                "id": str(self.given.ids[k]),
                "answer": self.labels[self.answer[k]],
                "probability": self.sure[k],
                "low": self.interval[k, 0],
                "high": self.interval[k, 1],
                "next": self.labels[second[k]],
                "next_probability": self.proba[k, second[k]],
                "truth": None if self.place is None else self.labels[self.place[k]],
                "seen": self.seen[k],
                "row": int(k),
            }
            for k in order
        ]
        return {"n": len(self.answer), "rows": rows}


def _quality(model: Any, given: Any) -> HeldOut | None:
    from choquet.estimators.fusion.baselines import fusion_scores
    from choquet.walks import DataSupport

    flat = given.scores.reshape(-1, given.scores.shape[2])
    rows = flat if len(model.measures_) == 1 else given.scores[:, 0]
    known = model.supports_[0]
    refit = False
    if known.n_samples == len(rows):
        again = DataSupport.from_data(rows, tolerance=known.tolerance)
        refit = bool(np.array_equal(again.words, known.words) and again.n_tied == known.n_tied)
    return fusion_scores(model, given, refit=refit)


def _what(model: Any, sources: Any, labels: list[str]) -> str:
    names = list_words(sources) if len(sources) <= 12 else f"{len(sources)} classifiers"
    how = "in the same way for every class" if len(model.measures_) == 1 else "class by class"
    listed = f" ({', '.join(labels)})" if len(labels) <= 6 else ""
    return (
        f"The model combines the scores of {names} into one answer: which of {len(labels)} "
        f"classes{listed} a sample belongs to. It combines them {how}."
    )


def _warnings(quality: dict[str, Any] | None, facts: _Facts | None) -> list[str]:
    found = []
    rows = {row["key"]: row for row in quality["rows"]} if quality else {}
    own = rows.get("model")
    names = {
        "average": "the plain mean of the scores", "single": "the best single classifier",
        "vote": "a majority vote", "product": "the product of the scores", "stacking": "stacking",
    }  # fmt: skip
    for key, name in names.items():
        if own is None or key not in rows or rows[key]["log_loss"] is None:
            continue
        other = rows[key]
        wrong, lost = own["error"] - other["error"], own["log_loss"] - other["log_loss"]
        # Differences within the intervals are nothing to warn of.
        clear = wrong > max(own["error_half"], other["error_half"])
        clear |= lost > max(own["log_loss_half"], other["log_loss_half"])
        if clear and wrong >= 0 and lost >= 0:
            found.append(
                f"{name[0].upper()}{name[1:]} does better: {percent(1 - rows[key]['error'])} right "
                f"and log-loss {figure(rows[key]['log_loss'], 2)}, against "
                f"{percent(1 - own['error'])} and {figure(own['log_loss'], 2)}."
            )
    if facts is not None and facts.unseen > 0.01:
        n = int((facts.seen < 1).sum())
        found.append(
            f"{n:,} of {len(facts.seen):,} samples ({percent(facts.unseen, 2)}) have scores that "
            "rank in an order not seen when the model was learned."
        )
    return found


def _works(model: Any, views: list[View], briefs: list[Brief], given: Any) -> dict[str, Any]:
    brief, notes = briefs[0], []
    if given is not None and (len(views) > 1 or brief.kind == "formula"):
        flat = given.scores.reshape(-1, given.scores.shape[2])
        fused = model.fuse(given).ravel()
        brief = brief_formula(
            model.measure_.sources, "the combined score of a class", flat, fused, views[0].signs
        )
        brief = replace(brief, n_classes=given.scores.shape[1])
    if len(views) > 1:
        notes.append("This holds on average over the classes; the table below has each class.")
    notes.insert(0, "For each class, the scores are combined into one; the largest wins.")
    if model.power_ == model.power_:
        notes.append(
            f"Probabilities are the combined scores raised to the power {figure(model.power_, 2)} "
            "and divided by their sum. This power fits held-out samples best."
        )
    return {**brief.to_dict(), "notes": notes, "more": True}


def _class_rows(
    model: Any, views: list[View], briefs: list[Brief], labels: list[str], facts: _Facts | None
) -> list[dict[str, Any]]:
    rows = []
    for k, label in enumerate(labels):
        at = k if len(views) > 1 else 0
        support = model.supports_[at]
        row: dict[str, Any] = {
            "label": label,
            "n_operators": views[at].parts.n_operators,
            "never": 2**support.n_sources - 2 - support.n_supported,
            "sentences": briefs[at].sentences,
            "cost": briefs[at].cost(),
            "n": None, "right": None, "false": None, "unseen": None, "taken_for": None,
        }  # fmt: skip
        if facts is not None:
            mine = facts.answer == k
            row["unseen"] = float((facts.seen[mine] < 1).mean()) if mine.any() else None
            if facts.place is not None:
                true = facts.place == k
                row["n"] = int(true.sum())
                row["right"] = float(mine[true].mean()) if true.any() else None
                row["false"] = int((mine & ~true).sum())
                others = facts.answer[true & ~mine]
                if len(others):
                    row["taken_for"] = labels[int(np.bincount(others).argmax())]
        rows.append(row)
    return rows


def _distrust(classes: list[dict[str, Any]], facts: _Facts | None, views: list[View]) -> list[str]:
    found = []
    if facts is not None:
        n = len(facts.seen)
        found.append(
            f"All {n:,} samples have scores in an order that was seen. This says nothing about "
            "accuracy."
            if facts.unseen == 0
            else f"{percent(facts.unseen, 2)} of the {n:,} samples have scores in an order not "
            "seen before."
        )
        width = facts.interval[:, 1] - facts.interval[:, 0]
        worst = int(np.argmax(width))
        if width[worst] > 1e-3:
            found.append(
                f"The data leave the answer most open for sample {facts.given.ids[worst]}: its "
                f"probability could lie anywhere from {percent(facts.interval[worst, 0], 2)} to "
                f"{percent(facts.interval[worst, 1], 2)}."
            )
    known = [row for row in classes if row["right"] is not None and row["right"] < 1]
    found += [
        f"{row['label']}: {round(row['right'] * row['n'])} of {row['n']} samples are found; "
        f"{_missed(row)} taken for {row['taken_for']}."
        for row in sorted(known, key=lambda row: row["right"])[:_NAMED]
    ]
    if len(views) > 1:
        open_ = sorted(classes, key=lambda row: -row["never"])[:_NAMED]
        if open_[0]["never"]:
            listed = [f"{row['label']} ({row['never']})" for row in open_ if row["never"]]
            found.append(f"Most sets of classifiers without data: {list_words(listed)}.")
    else:
        story = explain_view(views[0])
        never = [one for one in story.requests if one.state == "unsupported"]
        found += [f"Never seen: {one.kind()}." for one in never[:2]]
    return found or ["No data came with the model, so nothing is known about where to trust it."]


def _missed(row: dict[str, Any]) -> str:
    missed = row["n"] - round(row["right"] * row["n"])
    return "the other is" if missed == 1 else "the others are most often"


def _next(
    quality: dict[str, Any] | None, classes: list[dict[str, Any]], facts: _Facts | None
) -> list[str]:
    if quality is None:
        return ["Give samples with known classes, so that the report can measure errors."]
    found = []
    if facts is not None:
        for times, true, answer in facts.confused()[:2]:
            if times > 1:
                found.append(
                    f"Look at the {times} samples of {true} that are taken for {answer}; the list "
                    "of samples begins with the wrong ones."
                )
        wrong = 0 if facts.place is None else int((facts.answer != facts.place).sum())
        if wrong and not found:
            answers = "the wrong answer" if wrong == 1 else f"the {wrong} wrong answers"
            found.append(f"Look at {answers}: the list of samples begins there.")
    few = [row for row in classes if row["n"] is not None and row["n"] < 10]
    if few:
        names = list_words([row["label"] for row in few[:_NAMED]])
        found.append(f"Collect more samples of {names}: their shares rest on fewer than 10.")
    return found or ["Nothing stands out. Look at single samples next."]


def _symmetry(labels: list[str], given: Any) -> str | None:
    """What two classes make of indices, whatever the data."""
    if len(labels) != 2:
        return None
    if given is not None and np.abs(given.scores.sum(axis=1) - 1).max() > _SAME_PAIRS:
        return None
    return (
        "With two classes whose scores sum to 1, the model treats both alike. Whatever the data, "
        "pairs of sources then neither need nor replace each other (their interactions are 0), and "
        "the model leans neither to the largest nor to the smallest score (its orness is ½). These "
        "numbers say nothing here."
    )


def _explorer(
    model: Any, views: list[View], given: Any, facts: _Facts | None, n_samples: int
) -> dict[str, Any]:
    """One explorer for each measure, and the samples that it opens on."""
    samples = []
    if facts is not None and given is not None:
        fused = model.fuse(given)
        for row in facts.rows(n_samples)["rows"]:
            k = row["row"]
            scores = given.scores[k].round(6)
            answer = int(facts.answer[k])
            samples.append({"id": row["id"], "answer": answer, "scores": scores, "fused": fused[k]})
    label = samples[0]["answer"] if samples else 0
    opened = samples[0]["scores"][label][None] if samples else None
    parts = []
    for view in views:
        # The integral itself answers; its operators stand in the table of classes.
        one = {**explorer_data(view, opened), "error": None, "labels": None, "tree": None}
        parts.append({"explorer": {**one, "weights": None, "own": True}, "operators": []})
    return {"views": parts, "label": label, "sample": 0, "power": model.power_, "samples": samples}
