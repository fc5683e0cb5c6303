"""Measures and decompositions as notebooks show them: small tables, no scripts, no styles."""

from __future__ import annotations

from html import escape

import numpy as np

from choquet.decomposition import Decomposition
from choquet.explanation.phrases import operator_phrases, percent, rule_sentences
from choquet.lattice import subset_sizes
from choquet.measures import Measure
from choquet.shown import html_table

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
    listed = order[:_LISTED]
    rows = zip(measure.formatted(listed), (f"{v:.6g}" for v in measure.values[listed]), strict=True)
    more = len(order) - _LISTED
    note = f"<p>There are {more:,} more subsets.</p>" if more > 0 else ""
    caption = f"Measure on {measure.n_sources} sources"
    return html_table(caption, ("subset", "g"), rows) + note


def decomposition_html(decomposition: Decomposition) -> str:
    """A decomposition as an HTML table of its operators, with its rules in words.

    Examples
    --------
    >>> from choquet import Measure, decompose
    >>> text = decomposition_html(decompose(Measure([0, 0, 1, 1, 1, 1, 1, 1])))
    >>> "take the median of the three" in text
    True
    """
    names, learned = decomposition.operator_names, decomposition.measure is None
    rows = []
    for number, operator in enumerate(decomposition.operators[:_LISTED]):
        row = [str(number + 1), names[number]]
        row.append(", ".join(f"{w + 0.0:.3g}" for w in operator.weights))
        row += [f"{operator.bias + 0.0:.4g}"] if learned else []
        row.append(percent(operator.share))
        row.append(percent(operator.trust) if learned else f"{operator.error.worst:.3g}")
        rows.append(row)
    heads = ["", "operator", "weights, largest first", *(["adds"] if learned else [])]
    heads += [decomposition.unit, "trust" if learned else "worst error"]
    caption = f"{decomposition.n_operators} operators of {decomposition.n_sources} sources"
    more = decomposition.n_operators - _LISTED
    text = html_table(caption, heads, rows)
    if more > 0:
        text += f"<p>There are {more:,} more operators.</p>"
    if decomposition.n_operators <= _RULED:
        phrases = operator_phrases(decomposition)
        sentences = rule_sentences(decomposition.rules, decomposition.sources, phrases)
        text += f"<p>{'<br>'.join(map(escape, sentences))}</p>"
    return text
