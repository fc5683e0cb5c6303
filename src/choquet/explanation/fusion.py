"""Why fused classifiers give a sample its class: the answer, and how its scores were combined."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from choquet.explanation.abstract import PlainData
from choquet.explanation.phrases import percent
from choquet.explanation.sample import OperatorSample, explained_row
from choquet.explanation.view import operators_view
from choquet.shown import Shown


@dataclass(frozen=True, eq=False, repr=False)
class FusionExplanation(PlainData, Shown):
    """Why fused classifiers give a sample its class.

    Attributes
    ----------
    answer : object
        The class.
    probability : float
    runner_up : object
        The class that comes next.
    runner_up_probability : float
    why : OperatorSample
        How the sources' scores for the answer were combined.
    """

    answer: Any
    probability: float
    runner_up: Any
    runner_up_probability: float
    why: OperatorSample

    def text(self) -> str:
        """The explanation in sentences."""
        first = (
            f"The answer is {self.answer}, with a probability of {percent(self.probability)}; "
            f"{self.runner_up} comes next with {percent(self.runner_up_probability)}."
        )
        return f"{first}\nThe scores for {self.answer} are combined as follows.\n{self.why.text()}"

    def html_table(self) -> str:
        """The sources as a table, for notebooks."""
        return self.why.html_table()


def explain_fusion(model: Any, X: Any) -> list[FusionExplanation]:
    """Explain the answers of a fitted `FusionClassifier`.

    Examples
    --------
    >>> import numpy as np
    >>> from choquet import FusionClassifier
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 3, 200)
    >>> scores = np.eye(3)[y][:, :, None] * [0.8, 0.5] + 0.2 * rng.random((200, 3, 2))
    >>> model = FusionClassifier(sources=["resnet", "vgg"]).fit(scores, y)
    >>> why = explain_fusion(model, scores[:1])[0]
    >>> bool(why.answer == y[0]), why.why.sources
    (True, ('resnet', 'vgg'))
    """
    scores = model.class_scores(X).scores
    views: dict[int, Any] = {}
    found = []
    for row, proba in zip(scores, model.predict_proba(X), strict=True):
        order = (-proba).argsort(kind="stable")
        first, second = int(order[0]), int(order[1] if len(order) > 1 else order[0])
        if first not in views:
            views[first] = operators_view(model, label=model.classes_[first])
        found.append(
            FusionExplanation(
                model.classes_.tolist()[first],
                float(proba[first]),
                model.classes_.tolist()[second],
                float(proba[second]),
                explained_row(views[first], row[first]),
            )
        )
    return found
