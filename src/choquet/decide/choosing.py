"""One measure for a decision, by any of the ways to choose it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeGuard

import numpy as np

from choquet.arrays import check_option
from choquet.decide.models.capacities import CHOICES, OneOfMany, find_measure
from choquet.decide.models.fitting import entropy_measure, fit_ranking, fit_scores
from choquet.decide.models.program import program
from choquet.decide.models.spaces import MAX_GENERAL, space
from choquet.decide.saying.levels import Levels
from choquet.decide.saying.setting import Setting
from choquet.decide.saying.statements import InClass, Prefer, Statement
from choquet.errors import OptionError, TooLargeError

WAYS = (*CHOICES, "scores", "ranking", "sorting", "entropy")
"""Ways to choose one measure."""

_OTHERS = "Others agree as well and may rank differently."


def choose(
    way: str,
    statements: Sequence[Statement],
    setting: Setting,
    levels: Levels,
    *,
    k: int | None = None,
    scores: Mapping[str, float] | None = None,
    by: float = 0.1,
    raw: Any = None,
    **options: Any,
) -> OneOfMany:
    """One measure that agrees with statements, chosen by a row of `WAYS`.

    `scores` are for "scores", `by` is for "ranking" and "sorting", and `raw`, the table in its own
    units, for "entropy"; `find_measure` knows the other options.
    """
    check_option("choice", way, WAYS)
    names = list(setting.criteria)
    if way == "entropy":
        text = "Made from the variety in the table alone, without anything that was said."
        return OneOfMany(entropy_measure(raw, sources=names), way, 0.0, text)
    if setting.n > MAX_GENERAL and way != "maximum split":
        raise TooLargeError(
            f"{way!r} needs all 2**{setting.n} sets; up to {MAX_GENERAL} criteria it can be had"
        )
    wanted = k if setting.n <= MAX_GENERAL else 2
    if way in CHOICES:
        agreeing = program(space(setting.n, wanted), statements, setting)
        return find_measure(agreeing, way, sources=names, **options)
    order, rows = list(setting.lows), levels.middle
    if way == "scores":
        if not scores:
            raise OptionError("give the scores: scores={'Bolt': 0.8, 'Faro': 0.7}")
        agreeing = program(space(setting.n, wanted), statements, setting)
        at = [order.index(name) for name in scores]
        y = (np.array(list(scores.values())) - setting.origin) / setting.width
        point, fitted = fit_scores(agreeing, rows[at], y)
        error = float(np.mean((fitted - y) ** 2)) * setting.width**2
        text = f"Fits the scores given with a mean squared error of {error:.3g}. {_OTHERS}"
        return OneOfMany(agreeing.space.measure(point, names), way, error, text)
    ranking = way == "ranking"
    rest = [one for one in statements if not (_plain(one) if ranking else isinstance(one, InClass))]
    agreeing = program(space(setting.n, wanted), rest, setting)
    pairs, steps = _wanted_order(statements, order, way, by)
    if not pairs:
        raise OptionError(f"{way!r} needs statements to keep: say some first")
    point, _, mse = fit_ranking(agreeing, rows, pairs, [step / setting.width for step in steps])
    text = f"Keeps what was said as nearly as it can (mean squared error {mse:.3g}). {_OTHERS}"
    return OneOfMany(agreeing.space.measure(point, names), way, mse, text)


def _plain(said: Statement) -> TypeGuard[Prefer]:
    """Whether two alternatives are compared as wholes."""
    return isinstance(said, Prefer) and said.on is None and len(said.names()) == 2


def _wanted_order(
    statements: Sequence[Statement], order: list[str], way: str, by: float
) -> tuple[list[tuple[int, int]], list[float]]:
    if way == "ranking":
        said = [one for one in statements if _plain(one)]
        pairs = [(order.index(str(one.better)), order.index(str(one.worse))) for one in said]
        return pairs, [max(one.by, by) for one in said]
    placed = [one for one in statements if isinstance(one, InClass)]
    ranks = sorted({one.rank for one in placed})
    pairs = [
        (order.index(one.alternative), order.index(other.alternative))
        for one in placed
        for other in placed
        if ranks.index(one.rank) == ranks.index(other.rank) + 1
    ]
    return pairs, [by] * len(pairs)
