"""Operators and rules as people say them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from choquet.arrays import BoolArray, FloatArray, IntArray
from choquet.contexts import RuleList
from choquet.decomposition import ContextualOperator, Decomposition
from choquet.operators.blends import HEARD
from choquet.operators.names import FREE, nearest_name, ordinal
from choquet.scales import figure, figures
from choquet.shown import list_words, number_word

__all__ = [
    "NO_BIAS",
    "SPOKEN",
    "figure",
    "inputs_sentence",
    "list_words",
    "named_and_rest",
    "number_word",
    "operator_phrase",
    "operator_phrases",
    "percent",
    "plain",
    "rank_phrase",
    "rule_sentences",
    "source_words",
]

NO_BIAS = 1e-9
"""Bias up to which nothing is said of it: a solver's zero."""

SPOKEN = 12
"""Sources that are named in a sentence; the data hold all."""

_SPELLED_OUT = 3
"""Weights of a sum that a rule can take."""
_LEFT_OUT = 0.02
"""Share of a sum from which on a weight that is not said is counted."""
_ALIKE = 0.05
"""Largest difference of output, in shares of the sum of weights, up to which long sums, which would
be cut to a few weights otherwise, are "about" a familiar operator."""
_EXACT, _ABOUT = 1e-3, 0.02
"""Largest differences of output up to which an operator is a familiar one, or "about" it: that of
weights told with three digits, and that of weights told with two."""
_ORDINALS = ("", "", "second ", "third ", "fourth ", "fifth ", "sixth ", "seventh ", "eighth ")


def rank_phrase(rank: int, n_sources: int) -> str:
    """The input of a rank, counted from 1 from whichever end is nearer.

    Examples
    --------
    >>> [rank_phrase(j, 4) for j in range(1, 5)]
    ['the largest', 'the second largest', 'the second smallest', 'the smallest']
    >>> rank_phrase(2, 3), rank_phrase(12, 50), rank_phrase(22, 50)
    ('the median', 'the 12th largest', 'the 22nd largest')
    """
    if (rank, n_sources) == (2, 3):
        return "the median"
    from_end = n_sources + 1 - rank
    place, end = (rank, "largest") if rank <= from_end else (from_end, "smallest")
    which = _ORDINALS[place] if 0 < place < len(_ORDINALS) else f"{ordinal(place)} "
    return f"the {which}{end}"


def operator_phrase(weights: FloatArray) -> str:
    """What an operator takes, in words.

    Examples
    --------
    >>> import numpy as np
    >>> operator_phrase(np.array([0.0, 1.0, 0.0]))
    'the median of the three'
    >>> operator_phrase(np.array([1.0, 0.0, 0.0]))
    'the largest'
    >>> operator_phrase(np.array([0.51, 0.0, 0.0, 0.49]))
    'about halfway between the largest and the smallest'
    >>> operator_phrase(np.array([0.5, 0.5, 0.0]))
    'the mean of the two largest'
    >>> operator_phrase(np.array([0.4, 0.6, 0.0]))
    '0.4 times the largest plus 0.6 times the median'
    >>> operator_phrase(np.array([1.5, -0.5]))
    '1.5 times the largest minus 0.5 times the smallest'
    """
    return _short_name(weights) or _sum_phrase(weights)


def _short_name(weights: FloatArray) -> str | None:
    """A familiar operator that the weights are, or nearly are."""
    name = nearest_name(weights)
    if name.text == FREE:
        return None
    phrase = _familiar_phrase(name.nearest, len(weights))
    if name.distance <= _EXACT:
        return phrase
    return _mean_of_some(weights) or (f"about {phrase}" if name.distance <= _ABOUT else None)


def _mean_of_some(weights: FloatArray) -> str | None:
    """The mean of the largest inputs, or of the smallest, where the weights are that."""
    n, cumulated = len(weights), np.cumsum(weights)
    for k in range(2, n):
        mean = np.minimum(np.arange(1, n + 1) / k, 1.0)
        if np.abs(cumulated - mean).max() <= _EXACT:
            return f"the mean of the {number_word(k)} largest"
        if np.abs(np.cumsum(weights[::-1]) - mean).max() <= _EXACT:
            return f"the mean of the {number_word(k)} smallest"
    return None


def operator_phrases(decomposition: Decomposition) -> list[str]:
    """The phrase of each operator, short enough for a rule.

    Of sums of many weights the largest are said, and operators that would read the same are told
    apart by their number, from 1. Where operators were learned directly, each says what it adds.

    Examples
    --------
    >>> from choquet import Measure, decompose
    >>> operator_phrases(decompose(Measure([0, 0, 1, 1, 1, 1, 1, 1])))
    ['the largest', 'the median of the three']
    >>> operator_phrases(decompose(Measure([0, 2e-4, 4e-4, 1]), method="distinct"))
    ['the smallest (operator 1)', 'the smallest (operator 2)']
    """
    phrases = [_short_phrase(operator) for operator in decomposition.operators]
    times = Counter(phrases)
    phrases = [
        phrase if times[phrase] == 1 else f"{phrase} (operator {number})"
        for number, phrase in enumerate(phrases, start=1)
    ]
    if decomposition.measure is not None:
        return phrases
    pairs = zip(phrases, decomposition.operators, strict=True)
    return [_with_bias(phrase, operator) for phrase, operator in pairs]


def _short_phrase(operator: ContextualOperator) -> str:
    weights = operator.weights
    if operator.source_weights.any():
        return _mixed_phrase(operator)
    few = np.count_nonzero(_heard(weights)) <= _SPELLED_OUT
    if few or _short_name(weights):
        return operator_phrase(weights)
    ranks = [(float(w), rank_phrase(j + 1, len(weights))) for j, w in enumerate(weights)]
    return _multiple_phrase(weights) or _main_terms(ranks)


def _mixed_phrase(operator: ContextualOperator) -> str:
    """Weights by source, and by rank where there are any: "0.5 times ir plus 0.5 times the max"."""
    n, by_source, by_rank = len(operator.sources), operator.source_weights, operator.rank_weights
    terms = [(float(w), name) for w, name in zip(by_source, operator.sources, strict=True)]
    terms += [(float(w), rank_phrase(j + 1, n)) for j, w in enumerate(by_rank)]
    most = max(abs(w) for w, _ in terms)
    heard = [(w, what) for w, what in terms if abs(w) > 1e-3 * most]
    return _main_terms(terms) if len(heard) > _SPELLED_OUT else _terms(heard)


def _main_terms(terms: Sequence[tuple[float, str]]) -> str:
    """The largest terms of a sum that is too long to spell out, and how many there are besides."""
    heard = [abs(w) for w, _ in terms if w]
    sizes = sorted(heard, reverse=True)
    least = max(sizes[min(_SPELLED_OUT, len(sizes)) - 1], _ABOUT * sizes[0])
    kept = [term for term in terms if abs(term[0]) >= least]
    more = sum(size >= _LEFT_OUT * sum(sizes) for size in sizes) - len(kept)
    rest = f", and {number_word(more)} smaller term{'s' if more > 1 else ''}" if more > 0 else ""
    return f"{'about' if len(kept) == 1 else 'mainly'} {_terms(kept)}{rest}"


def _with_bias(phrase: str, operator: ContextualOperator) -> str:
    if not operator.weights.any() and not operator.source_weights.any():
        return f"{figure(operator.bias)}, whatever the inputs"
    loudest = max(np.abs(operator.weights).max(), np.abs(operator.source_weights).max())
    if abs(operator.bias) <= max(NO_BIAS, HEARD * loudest):
        return phrase
    return f"{phrase} {'plus' if operator.bias > 0 else 'minus'} {figure(abs(operator.bias))}"


def rule_sentences(rules: RuleList, sources: Sequence[str], phrases: Sequence[str]) -> list[str]:
    """Rules as instructions, the first that applies counting.

    Examples
    --------
    >>> from choquet import Measure, decompose
    >>> d = decompose(Measure([0, 0, 1, 1, 1, 1, 1, 1], sources=["gpr", "ir", "emi"]))
    >>> rule_sentences(d.rules, d.sources, operator_phrases(d))
    ['If gpr is the largest, take the median of the three; otherwise take the largest.']
    """
    last = phrases[rules.default]
    ends = [
        f"{rule.text(sources)}, take {phrases[rule.operator]}"
        + ("" if rule.precision == 1 else f" (right in {percent(rule.precision)} of such cases)")
        for rule in rules.rules
    ]
    if not ends:
        return [f"Always take {last}."]
    if len(ends) == 1:
        return [f"If {ends[0]}; otherwise take {last}."]
    middle = [f"Otherwise, if {end}." for end in ends[1:]]
    return [f"If {ends[0]}.", *middle, f"Otherwise take {last}."]


def source_words(sources: Sequence[str], *, title: bool = False) -> str:
    """The sources by name, or how many there are: fewer are named in a title.

    Examples
    --------
    >>> source_words(["ir", "emi"]), source_words(["ir"] * 8, title=True)
    ('ir and emi', '8 sources')
    """
    many = len(sources) > 6 or sum(map(len, sources)) > 80 if title else len(sources) > SPOKEN
    return f"{len(sources)} sources" if many else list_words(sources)


def inputs_sentence(
    sources: Sequence[str], inputs: FloatArray, sort: IntArray, *, scaled: bool
) -> str:
    """The inputs of a sample, the largest ones by name.

    Examples
    --------
    >>> inputs_sentence(["ir", "gpr"], np.array([0.2, 0.7]), np.array([1, 0]), scaled=False)
    'The inputs, largest first: gpr 0.7, ir 0.2.'
    """
    told = figures(inputs[sort[:SPOKEN]], 4)
    parts = [f"{sources[i]} {text}" for i, text in zip(sort, told, strict=False)]
    more = len(sort) - SPOKEN
    end = f" and {more} smaller ones" if more > 0 else ""
    scale = " after rescaling" if scaled else ""
    return f"The inputs, largest{scale} first: {', '.join(parts)}{end}."


def named_and_rest(contributions: FloatArray, order: Sequence[int]) -> tuple[list[int], list[int]]:
    """Sources that give most, as many as a sentence names, and the others, each in this order.

    Examples
    --------
    >>> named_and_rest(np.array([0.1, 0.0, 0.3]), [2, 1, 0])
    ([2, 1, 0], [])
    """
    most = set(sorted(order, key=lambda i: -abs(contributions[i]))[:SPOKEN])
    return [i for i in order if i in most], [i for i in order if i not in most]


def percent(share: float, digits: int = 3) -> str:
    """A share in per cent; only all is 100 %, and only nothing is 0 %.

    Examples
    --------
    >>> percent(0.25), percent(0.99999), percent(1.0), percent(0.00001)
    ('25 %', 'over 99.9 %', '100 %', 'under 0.1 %')
    """
    if not math.isfinite(share):
        return "unknown"
    if 0 < share < 0.001:
        return "under 0.1 %"
    # Shares are sums, and sums are rounded.
    if 0.999 < share < 1 - 1e-9:
        return "over 99.9 %"
    text = f"{100 * share:.{digits}g} %"
    return "over 99 %" if text == "1e+02 %" and share < 1 - 1e-9 else text.replace("1e+02", "100")


def plain(value: Any) -> Any:
    """The same data as JSON holds them: arrays as lists, what is not finite as None.

    Examples
    --------
    >>> import numpy as np
    >>> plain({"weights": np.array([0.5, np.nan]), "n": np.int64(2)})
    {'weights': [0.5, None], 'n': 2}
    """
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if hasattr(value, "to_dict"):
        return plain(value.to_dict())
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def _familiar_phrase(name: str, n: int) -> str:
    """Phrase of a row of the table of familiar operators."""
    of_all = f"of the {number_word(n)}"
    inner = "the largest and the smallest"
    phrases = {
        "identity": "the input",
        "max": "the largest",
        "min": "the smallest",
        "median": f"the median {of_all}",
        "mean": f"the mean {of_all}",
        "trimmed max": "the second largest",
        "trimmed min": "the second smallest",
        "trimmed mean": f"the mean {of_all} without {inner}",
        "midrange": f"halfway between {inner}",
        "soft max": f"halfway between the largest and the mean {of_all}",
        "soft min": f"halfway between the smallest and the mean {of_all}",
        "soft median": f"halfway between the median and the mean {of_all}",
    }
    if name in phrases:
        return phrases[name]
    place, end = name.split(" ")
    rank = int(place.rstrip("stndrh"))
    return rank_phrase(rank if end == "largest" else n + 1 - rank, n)


def _multiple_phrase(weights: FloatArray) -> str | None:
    """Weights that are nearly a multiple of a familiar operator's: "about 0.97 times the largest".

    Examples
    --------
    >>> import numpy as np
    >>> _multiple_phrase(np.array([1.94, 0.02, -0.01, 0.01]))
    'about 1.96 times the largest'
    """
    total = float(weights.sum())
    if abs(total) <= 1e-9 * float(np.abs(weights).sum()):
        return None
    name = nearest_name(weights / total)
    if name.distance > _ALIKE:
        return None
    times = "" if abs(total - 1) <= _ALIKE else f"{figure(total)} times "
    return f"about {times}{_familiar_phrase(name.nearest, len(weights))}"


def _heard(weights: FloatArray) -> BoolArray:
    """Which weights are worth a word: not those under a thousandth of the largest."""
    heard: BoolArray = np.abs(weights) > 1e-3 * max(float(np.abs(weights).max()), 1e-300)
    return heard


def _sum_phrase(weights: FloatArray) -> str:
    """Weights one by one: "0.7 times the largest plus 0.3 times the smallest"."""
    heard = np.flatnonzero(_heard(weights))
    terms = [(float(weights[at]), rank_phrase(int(at) + 1, len(weights))) for at in heard]
    return _terms(terms) or "nothing: every weight is 0"


def _terms(terms: Iterable[tuple[float, str]]) -> str:
    text = ""
    for weight, what in terms:
        sign = " minus " if weight < 0 else " plus "
        lead = ("minus " if weight < 0 else "") if not text else sign
        times = "" if figure(abs(weight)) == "1" else f"{figure(abs(weight))} times "
        text += f"{lead}{times}{what}"
    return text
