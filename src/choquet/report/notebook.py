"""Measures and decompositions as notebooks show them: small tables, no scripts, no styles."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

import numpy as np

from choquet.decomposition import Decomposition
from choquet.decomposition.trees import TreeDecomposition
from choquet.explanation.contextual import biased_phrases
from choquet.explanation.learned import Learned
from choquet.explanation.phrases import operator_phrases, percent, rule_sentences
from choquet.lattice import subset_sizes
from choquet.measures import Measure

__all__ = ["contextual_html", "decomposition_html", "measure_html"]

_LISTED = 32
"""Rows of a table."""

_RULED = 12
"""Operators up to which rules are shown: a notebook should not wait for them."""


def measure_html(measure: Measure) -> str:
    """A measure as an HTML table of its values, the smallest subsets first.

    Examples
    --------
    >>> from choquet import Measure
    >>> "{ir, emi}" in measure_html(Measure([0, 0.2, 0.3, 1], sources=["ir", "emi"]))
    True
    """
    order = np.argsort(subset_sizes(measure.n_sources), kind="stable")
    rows = ((measure.format(int(mask)), f"{measure.values[mask]:.6g}") for mask in order[:_LISTED])
    more = len(order) - _LISTED
    note = f"<p>… and {more:,} more subsets</p>" if more > 0 else ""
    caption = f"Measure on {measure.n_sources} sources"
    return _table(caption, ("subset", "g"), rows) + note


def decomposition_html(decomposition: Decomposition) -> str:
    """A decomposition as an HTML table of its operators, with its rules in words.

    Examples
    --------
    >>> from choquet import Measure, decompose
    >>> text = decomposition_html(decompose(Measure([0, 0, 1, 1, 1, 1, 1, 1])))
    >>> "take the median of the three" in text
    True
    """
    if isinstance(decomposition, TreeDecomposition):
        return contextual_html(decomposition)
    names = decomposition.operator_names
    rows = (
        (
            str(number + 1),
            names[number],
            ", ".join(f"{w + 0.0:.3g}" for w in operator.weights),
            percent(operator.share),
            f"{operator.error.worst:.3g}",
        )
        for number, operator in enumerate(decomposition.operators[:_LISTED])
    )
    caption = f"{decomposition.n_operators} operators of {decomposition.measure.n_sources} sources"
    heads = ("", "operator", "weights, largest first", "walks", "worst error")
    more = decomposition.n_operators - _LISTED
    text = _table(caption, heads, rows)
    if more > 0:
        text += f"<p>… and {more:,} more operators</p>"
    if decomposition.n_operators <= _RULED:
        phrases = operator_phrases(decomposition)
        sentences = rule_sentences(decomposition.rules, decomposition.measure.sources, phrases)
        text += f"<p>{'<br>'.join(map(escape, sentences))}</p>"
    return text


def contextual_html(model: TreeDecomposition) -> str:
    """A contextual model as an HTML table of its operators, with its rules in words.

    Examples
    --------
    >>> import numpy as np
    >>> from choquet import ContextualRegressor
    >>> X = np.random.default_rng(0).random((60, 3))
    >>> model = ContextualRegressor(convex=True, l2=0.0).fit(X, np.median(X, axis=1)).decomposition_
    >>> "Always take the median of the three." in contextual_html(model)
    True
    """
    rows = (
        (
            str(number + 1),
            name,
            ", ".join(f"{w + 0.0:.3g}" for w in operator.weights),
            f"{operator.bias + 0.0:.4g}",
            percent(operator.share),
            percent(operator.trust),
        )
        for number, (name, operator) in enumerate(
            zip(model.operator_names, model.operators, strict=True)
        )
    )
    caption = f"{model.n_operators} operators of {len(model.sources)} sources"
    heads = ("", "operator", "weights, largest first", "adds", "samples", "trust")
    sentences = rule_sentences(model.rules, model.sources, biased_phrases(Learned(model)))
    return _table(caption, heads, rows) + f"<p>{'<br>'.join(map(escape, sentences))}</p>"


def _table(caption: str, heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    head = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in heads)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows
    )
    return (
        f"<table><caption>{escape(caption)}</caption><thead><tr>{head}</tr></thead>"
        f"<tbody>{body}</tbody></table>"
    )
