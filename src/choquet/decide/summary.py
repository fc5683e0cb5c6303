"""Everything that is reported of a decision, as plain data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from choquet._version import __version__
from choquet.decide.consistency import Consistency
from choquet.decide.models.families import FAMILIES, Family
from choquet.decide.models.program import EXACT, TIED, Program
from choquet.decide.nodes import Node
from choquet.decide.saying.levels import FILL_IN
from choquet.decide.words import SURE, counted, left_out, listed, verdict
from choquet.indices import interaction, shapley

if TYPE_CHECKING:
    from choquet.decide.answer import Answer
    from choquet.decide.decision import Decision

_NUMBERS = 80_000
"""Numbers of draws that a page carries for each family."""

_SHOWN = 12
"""Pairs of which one beats the other on every criterion that are listed."""

_DRAWS = 300
"""Draws that a page carries for each family at most."""


def _base(decision: Decision, title: str | None) -> dict[str, Any]:
    table = decision.table
    return {
        "kind": "decision",
        "title": title or _title(decision),
        "library_version": __version__,
        "alternatives": list(decision.alternatives),
        "criteria": list(decision.criteria),
        "table": [
            [_cell(low, high) for low, high in zip(*pair, strict=True)]
            for pair in zip(table.lower, table.upper, strict=True)
        ],
        "statements": [
            {"number": k, "line": one.line, "text": one.text, "firm": one.statement.firm}
            for k, one in enumerate(decision.statements)
        ],
        "left_out": left_out(decision),
    }


def _scales(decision: Decision) -> dict[str, Any]:
    levels = decision.levels
    return {
        "scales": [_scale(decision, name) for name in decision.criteria],
        "common": [levels.origin, levels.origin + levels.width],
    }


def _cell(low: float, high: float) -> Any:
    if not np.isfinite(low):
        return None
    return float(low) if low == high else [float(low), float(high)]


def _scale(decision: Decision, name: str) -> dict[str, Any]:
    levels = decision.levels
    scale = levels.scales.get(name)
    if scale is None:
        ends = [levels.origin, levels.origin + levels.width]
        return {"criterion": name, "points": ends, "values": [0.0, 1.0], "given": False}
    return {
        "criterion": name,
        "points": scale.points.tolist(),
        "values": scale.values.tolist(),
        "given": True,
    }


def summarise_start(decision: Decision, *, title: str | None = None) -> dict[str, Any]:
    """What is reported of a table without scales, before anything was said.

    Parameters
    ----------
    decision : Decision
        A table of which some columns need a scale.
    title : str, optional
        Heading.
    """
    unknown = [name for name in decision.criteria if name not in decision.directions]
    pairs = [] if unknown else decision.dominance()
    found = [f"{one} is at least as good as {two} on every criterion." for one, two in pairs]
    if unknown:
        found = [
            f"Which way is better is not known for {listed(unknown)}. Name the columns for which "
            "lower is better, for instance --lower-is-better price, or with a line such as "
            "“price: lower is better”; then we can say which alternatives are at least as good as "
            "others on every criterion."
        ]
    elif len(pairs) > _SHOWN:
        found = [*found[:_SHOWN], f"The same holds for {len(pairs) - _SHOWN} more pairs."]
    elif not pairs:
        found = ["No alternative is at least as good as another on every criterion."]
    first = decision.open_columns[0]
    return _base(decision, title) | {
        "state": "start",
        "headline": f"Nothing was said yet about {len(decision.alternatives)} alternatives.",
        "asked": f"First question: which level of {first} is poor, and which is good?",
        "sentences": found,
        "dominance": [list(pair) for pair in pairs],
        "fill_in": f"{FILL_IN}.",
        "lines": decision.lines_to_fill,
        "scales": [],
    }


def summarise_conflict(
    decision: Decision, found: Consistency, *, title: str | None = None
) -> dict[str, Any]:
    """What is reported when statements exclude each other.

    Parameters
    ----------
    decision : Decision
        Table and statements.
    found : Consistency
        Conflicts and repairs.
    title : str, optional
        Heading.
    """
    ways, size = len(found.conflicts), min(len(one) for one in found.conflicts)
    if ways > 1:
        headline = f"Your statements exclude each other in {counted(ways, 'way')}."
    elif size == 1:
        headline = "One of your statements cannot hold."
    else:
        headline = counted(size, "of your statement").capitalize() + " exclude each other."
    data = _base(decision, title) | _scales(decision)
    data |= {
        "state": "conflict",
        "headline": headline,
        "conflicts": [
            {
                "numbers": sorted(one),
                "said": [str(decision.statements[k]) for k in sorted(one)],
                "reason": why,
            }
            for one, why in zip(found.conflicts, found.reasons, strict=True)
        ],
        "repairs": [
            {
                "numbers": sorted(one),
                "said": [str(decision.statements[k]) for k in sorted(one)],
                "firm": float(sum(decision.statements[k].statement.firm for k in one)),
            }
            for one in found.repairs
        ],
        "sentences": found.sentences,
        "complete": found.complete,
    }
    return data


def _title(decision: Decision) -> str:
    names = decision.alternatives
    if len(names) <= 4:
        return f"Deciding between {listed(names)}"
    return f"Deciding between {len(names)} alternatives"


def summarise(answer: Answer, *, title: str | None = None, sure: float = SURE) -> dict[str, Any]:
    """What is reported of an answer.

    Parameters
    ----------
    answer : Answer
        What follows from what was said.
    title : str, optional
        Heading.
    sure : float, default 0.95
        The lowest share of first places at which a decision counts as settled.
    """
    decision = answer.decision
    said, ranks = verdict(answer, sure=sure), answer.shown_ranks
    data = _base(decision, title) | _scales(decision)
    data |= {
        "state": "settled" if said.settled else "open",
        "headline": said.headline,
        "verdict": {
            "shares": said.shares, "families": said.families, "question": said.question,
            "certain": said.certain, "changes": said.changes, "cautious": said.cautious,
        },
        "sure": sure,
        "samples": answer.samples,
        "seed": answer.seed,
        "split": answer.consistency.split if np.isfinite(answer.consistency.split) else None,
        "leader": answer.leader,
        "order": answer.order,
        "shares": {
            name: [answer.claimed(k, one) for k, one in enumerate(share)]
            for name, share in answer.shares.items()
        },
        "lowest": [answer.claimed(k, one) for k, one in enumerate(answer.lowest)],
        "highest": [answer.claimed(k, one) for k, one in enumerate(answer.highest)],
        "ranks": np.mean(list(answer.ranks.values()), axis=0).tolist(),
        "wins": _claimed_wins(answer).tolist(),
        "necessary": answer.necessary.tolist(),
        "possible": answer.possible.tolist(),
        "extreme_ranks": None if ranks is None else ranks.tolist(),
        "regrets": answer.regrets.tolist(),
        "cautious": answer.cautious,
        "families": [
            {"name": family.name, "meaning": FAMILIES[family.name], "holds": family.holds}
            for family in answer.families
        ],
        "question": _question(answer),
        "importances": _importances(answer),
        "nodes": [_node(node) for node in answer.nodes],
        "one": _one(answer),
        "explorer": [_draws(family) for family in answer.held],
    }  # fmt: skip
    follows = _follows(answer)
    for row, known in zip(data["statements"], follows, strict=True):
        row["follows"] = known
    return data


def _claimed_wins(answer: Answer) -> Any:
    """Lowest shares of wins; 0 and 1 only where they are proved."""
    least = 0.5 / answer.samples
    found = np.min(list(answer.wins.values()), axis=0)
    found = np.where(~answer.necessary.T, np.maximum(found, least), found)
    return np.where(~answer.necessary, np.minimum(found, 1 - least), found)


def _question(answer: Answer) -> dict[str, Any] | None:
    asked = answer.question
    if asked is None:
        return None
    return {
        "first": asked.first, "second": asked.second, "about": asked.about, "text": asked.text,
        "share": asked.share, "before": asked.before, "after": asked.after,
        "lines": [asked.line(asked.first), asked.line(asked.second), asked.line(None)],
    }  # fmt: skip


def _importances(answer: Answer) -> list[dict[str, Any]]:
    means = [family.importances.mean(axis=0) for family in answer.held]
    return [
        {
            "criterion": name,
            "low": max(float(answer.importances[i, 0]), 0.0),
            "high": float(answer.importances[i, 1]),
            "middle": float(means[-1][i]),
        }
        for i, name in enumerate(answer.criteria)
    ]


def _node(node: Node) -> dict[str, Any]:
    n = len(node.parts)
    pairs = [(i, j) for i in range(n) for j in range(i + 1, n)]
    rows = zip(node.parts, node.importance, node.low, node.high, strict=True)
    return {
        "name": node.name,
        "parts": [
            {"part": part, "importance": float(mean), "low": float(low), "high": float(high)}
            for part, mean, low, high in rows
        ],
        "pairs": [
            {"pair": [node.parts[i], node.parts[j]], "value": float(node.interaction[i, j])}
            for i, j in sorted(pairs, key=lambda p: -abs(node.interaction[p]))[:8]
        ],
    }


def _follows(answer: Answer) -> list[bool]:
    """Whether each statement follows from the others."""
    program = answer.everything
    found = []
    for number in range(program.n_statements):
        rest = [k for k in range(program.n_statements) if k != number]
        own = [row for row, owner in enumerate(program.owners) if number in owner]
        found.append(bool(own) and all(_row_follows(program, row, rest) for row in own))
    return found


def _row_follows(program: Program, row: int, rest: list[int]) -> bool:
    if program.strict[row]:
        # It follows if nothing that keeps the others strictly ends below or level.
        extra = (-program.matrix[[row]], np.array([-program.bound[row]]))
        return program.split(keep=rest, extra=extra, cap=1.0)[0] <= TIED
    for sign in (1.0, -1.0) if program.equal[row] else (1.0,):
        least = program.minimise(sign * program.matrix[row], keep=rest)
        if least is None or least[0] < sign * program.bound[row] - EXACT:
            return False
    return True


def _one(answer: Answer) -> dict[str, Any]:
    """One model of many, labelled as such."""
    model = answer.model("middle")
    n = len(answer.criteria)
    pairs = interaction(model.measure)
    order = sorted(
        ((i, j) for i in range(n) for j in range(i + 1, n)), key=lambda p: -abs(pairs[p])
    )
    return {
        "text": model.text,
        "importance": shapley(model.measure).tolist(),
        "pairs": [
            {"pair": [answer.criteria[i], answer.criteria[j]], "value": float(pairs[i, j])}
            for i, j in order[:8]
        ],
        "scores": np.asarray(model.measure.integral(answer.decision.levels.middle)).tolist(),
    }


def _draws(family: Family) -> dict[str, Any]:
    """Some draws, for the page to work with."""
    width = family.points.shape[1]
    count = max(min(len(family.points), _DRAWS, _NUMBERS // width), 20)
    step = max(len(family.points) // count, 1)
    chosen = slice(None, step * count, step)
    # Values stand in the order of their sets; coefficients need to know theirs. Sets are lists of
    # criteria, because a browser holds no more than 32 of them in one number.
    sets = [] if family.by_values else [np.flatnonzero(one).tolist() for one in family.sets]
    return {
        "name": family.name,
        "by_values": family.by_values,
        "sets": sets,
        "points": np.round(family.points[chosen], 5).tolist(),
        "importances": np.round(family.importances[chosen], 5).tolist(),
    }
