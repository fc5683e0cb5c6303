"""Fused classifiers beside simpler ways to combine the same scores."""

from __future__ import annotations

import warnings
from collections import Counter
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

from choquet.errors import ChoquetError, DataError
from choquet.estimators.fusion.calibration import probabilities
from choquet.estimators.fusion.class_scores import ClassScores
from choquet.estimators.held_out import HeldOut, Score, Told, parts_of, score_classes
from choquet.watching import each

_LEAST = 1e-15
"""Least score in a product, so that one source cannot rule a class out alone."""

_STACKED = 400_000
"""Numbers (samples × classes × sources) up to which stacking is tried: beyond, it is too slow."""


def fusion_scores(model: Any, given: ClassScores, *, refit: bool, folds: int = 5) -> HeldOut | None:
    """Accuracy and log-loss of a fusion, and of others on the same samples.

    The best single source and stacking learn from these samples by cross-validation; the mean, the
    vote and the product learn nothing.

    Parameters
    ----------
    model : FusionClassifier
        Fitted, unless `refit`.
    given : ClassScores
        With the true classes.
    refit : bool
        Whether to fit the model to all folds but one in turn, because it has seen the samples.
    folds : int, default 5

    Returns
    -------
    HeldOut or None
        None where classes are too rare to be held out.
    """
    assert given.truth is not None
    places = {str(label): k for k, label in enumerate(given.classes.tolist())}
    strange = sorted({str(label) for label in given.truth.tolist()} - set(places))
    if strange:
        raise DataError(f"the model does not know the class {strange[0]!r}")
    place = np.array([places[str(label)] for label in given.truth.tolist()])
    parts = parts_of(np.zeros((len(place), 1)), place, folds, 0, classify=True)
    if parts is None and refit:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            proba = _refitted(model, given, parts) if refit else model.predict_proba(given)
        except (ChoquetError, ValueError):
            return None
        found = {"model": score_classes(proba, place)}
        if parts is not None:
            found |= _learned(given, place, parts)
    found |= _fixed(given.scores, place)
    order = ("model", "average", "single", "vote", "product", "stacking")
    kept = {name: found[name] for name in order if name in found}
    reliability = Told(proba, proba.argmax(axis=1)).reliability(place)
    return HeldOut(len(parts) if refit and parts else 0, len(place), kept, reliability)


def _refitted(model, given, parts):
    proba = np.empty(given.scores.shape[:2])
    for train, test in each("holding out samples", parts):
        fresh = clone(model).set_params(
            estimators=None, sources=given.sources, classes=list(given.classes)
        )
        fresh.fit(given.scores[train], given.truth[train])
        proba[test] = fresh.predict_proba(given.scores[test])
    return proba


def _fixed(scores, place) -> dict[str, Score]:
    mean = scores.mean(axis=2)
    votes = np.zeros_like(mean)
    for winner in scores.argmax(axis=1).T:
        np.add.at(votes, (np.arange(len(place)), winner), 1.0)
    logs = np.log(np.maximum(scores, _LEAST)).sum(axis=2)
    product = np.exp(logs - logs.max(axis=1, keepdims=True))
    return {
        "average": score_classes(probabilities(mean, np.nan), place),
        # Ties of votes are broken by the mean.
        "vote": score_classes(votes + 1e-6 * mean, place, sure=True),
        "product": score_classes(probabilities(product, np.nan), place),
    }


def _learned(given, place, parts) -> dict[str, Score]:
    """The best single source, and a logistic regression on all scores, fold by fold."""
    scores, chosen = given.scores, []
    single, stacked = np.empty(scores.shape[:2]), np.zeros(scores.shape[:2])
    stack, flat = scores.size <= _STACKED, scores.reshape(len(scores), -1)
    for train, test in each("trying simpler ways", parts):
        right = (scores[train].argmax(axis=1) == place[train, None]).mean(axis=0)
        chosen.append(int(right.argmax()))
        single[test] = probabilities(scores[test][:, :, chosen[-1]], np.nan)
        if stack:
            fitted = LogisticRegression(max_iter=100, C=10.0, tol=1e-3).fit(
                flat[train], place[train]
            )
            stacked[np.ix_(test, fitted.classes_)] = fitted.predict_proba(flat[test])
    best = given.sources[Counter(chosen).most_common(1)[0][0]]
    found = {"single": score_classes(single, place, best)}
    return found | ({"stacking": score_classes(stacked, place)} if stack else {})
