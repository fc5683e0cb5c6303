"""Everything that is reported of a decision, as plain data."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from choquet._version import __version__
from choquet.arrays import FloatArray
from choquet.decide.consistency import Consistency
from choquet.decide.models.families import FAMILIES, Family
from choquet.decide.models.program import EXACT, TIED, Program
from choquet.decide.nodes import Node
from choquet.decide.saying.levels import FILL_IN
from choquet.decide.words import SURE, counted, left_out, verdict
from choquet.indices import interaction, shapley
from choquet.shown import list_words

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
    common = [levels.origin, levels.origin + levels.width]
    found = []
    for name in decision.criteria:
        scale = levels.scales.get(name)
        points = common if scale is None else scale.points.tolist()
        values = [0.0, 1.0] if scale is None else scale.values.tolist()
        given = scale is not None
        found.append({"criterion": name, "points": points, "values": values, "given": given})
    return {"scales": found, "common": common}


def _cell(low: float, high: float) -> Any:
    if not np.isfinite(low):
        return None
    return float(low) if low == high else [float(low), float(high)]


def summarise_start(decision: Decision, *, title: str | None = None) -> dict[str, Any]:
    """What is reported of a table of which some columns need a scale, before anything was said."""
    unknown = [name for name in decision.criteria if name not in decision.directions]
    pairs = [] if unknown else decision.dominance()
    found = [f"{one} is at least as good as {two} on every criterion." for one, two in pairs]
    if unknown:
        found = [
            f"Which way is better is not known for {list_words(unknown)}. Name the columns for "
            "which lower is better, for instance --lower-is-better price, or with a line such as "
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
    """What is reported when statements exclude each other."""
    ways, size = len(found.conflicts), min(len(one) for one in found.conflicts)
    if ways > 1:
        headline = f"Your statements exclude each other in {counted(ways, 'way')}."
    elif size == 1:
        headline = "One of your statements cannot hold."
    else:
        headline = counted(size, "of your statement").capitalize() + " exclude each other."

    def said(numbers: frozenset[int]) -> dict[str, Any]:
        sentences = [str(decision.statements[k]) for k in sorted(numbers)]
        return {"numbers": sorted(numbers), "said": sentences}

    firm = [one.statement.firm for one in decision.statements]
    data = _base(decision, title) | _scales(decision)
    return data | {
        "state": "conflict",
        "headline": headline,
        "conflicts": [
            said(one) | {"reason": why}
            for one, why in zip(found.conflicts, found.reasons, strict=True)
        ],
        "repairs": [
            said(one) | {"firm": float(sum(firm[k] for k in one))} for one in found.repairs
        ],
        "sentences": found.sentences,
        "complete": found.complete,
    }


def _title(decision: Decision) -> str:
    names = decision.alternatives
    if len(names) <= 4:
        return f"Deciding between {list_words(names)}"
    return f"Deciding between {len(names)} alternatives"


def summarise(answer: Answer, *, title: str | None = None, sure: float = SURE) -> dict[str, Any]:
    """What is reported of an answer; `sure` is the lowest share of first places that settles it."""
    decision = answer.decision
    said, ranks = verdict(answer, sure=sure), answer.shown_ranks
    data = _base(decision, title) | _scales(decision)
    data |= {
        "state": "settled" if said.settled else "open",
        "headline": said.headline,
        "verdict": {
            name: sentence for name, sentence in vars(said).items()
            if name not in ("headline", "settled")
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
    rows = zip(node.parts, node.importance, node.low, node.high, strict=True)
    return {
        "name": node.name,
        "parts": [
            {"part": part, "importance": float(mean), "low": float(low), "high": float(high)}
            for part, mean, low, high in rows
        ],
        "pairs": _strongest(node.parts, node.interaction),
    }


def _strongest(names: Sequence[str], interactions: FloatArray) -> list[dict[str, Any]]:
    """The pairs that interact most."""
    pairs = sorted(combinations(range(len(names)), 2), key=lambda p: -abs(interactions[p]))
    return [
        {"pair": [names[i], names[j]], "value": float(interactions[i, j])} for i, j in pairs[:8]
    ]


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
    return {
        "text": model.text,
        "importance": shapley(model.measure).tolist(),
        "pairs": _strongest(answer.criteria, interaction(model.measure)),
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
