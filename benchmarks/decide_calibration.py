"""Is "95 % first" right as often as it says, and how many questions does it take?

Run ``python benchmarks/decide_calibration.py``; it prints the table of ``docs/decide.md``. A truth
is drawn: plain weights, a measure in which pairs interact, or any measure, each uniformly. It
answers questions about random alternatives until one of them is first in 95 % of the models of
every family. Then we look whether the truth ranks that one first. Random questions are drawn from
the comparisons of alternatives that are still open. With ``--record FILE`` each run is one line of
a file, and what the file holds already is not run again: a long table can be made in slices.
"""

from __future__ import annotations

import argparse
import json
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from choquet import Decision, Measure
from choquet.decide import Setting, draw, program, space
from choquet.decide.questions import Question

KINDS = {"plain weights": 1, "pairs interact": 2, "any interact": None}
SURE = 0.95
MOST = 60


def truth(kind: str, n: int, X: np.ndarray, rng: np.random.Generator) -> tuple[Any, Any]:
    """Scores of the alternatives and importance of the criteria under a measure drawn uniformly."""
    from choquet.decide.models.functionals import Importance, Integral, all_sets

    k = KINDS[kind]
    if k is None:
        point, sets = Measure.random(n, rng=rng).mobius(), all_sets(n)
    else:
        chosen = space(n, k)
        names = [f"c{i}" for i in range(n)]
        point = draw(program(chosen, [], Setting(names)), 40, rng)[-1]
        sets = np.eye(n, dtype=bool) if k == 1 else chosen.sets
    scores = np.array([Integral(x).games(sets) @ point for x in X])
    weights = np.array([Importance(i).games(sets) @ point for i in range(n)])
    return scores, weights


def run(
    kind: str, n: int, seed: int, *, alternatives: int, samples: int, at_random: bool
) -> tuple[bool, bool, int]:
    """Whether a leader was claimed, whether it is the true first one, and how many answers."""
    rng = np.random.default_rng([seed, n, list(KINDS).index(kind)])
    X = rng.random((alternatives, n))
    scores, weights = truth(kind, n, X, rng)
    problem = Decision(X)
    value = dict(zip(problem.alternatives, scores, strict=True))
    value |= dict(zip(problem.criteria, weights, strict=True))
    for asked in range(MOST + 1):
        answer = problem.solve(samples=samples, rng=rng)
        right = bool(scores[answer.order[0]] >= scores.max())
        if answer.certainty >= SURE:
            return True, right, asked
        question = _random(answer, rng) if at_random else answer.question
        if question is None:
            return False, right, asked
        better = max((question.first, question.second), key=value.__getitem__)
        problem = problem.copy().say(question.statement(better))
    return False, right, MOST


def _random(answer: Any, rng: np.random.Generator) -> Question | None:
    wins = np.mean(list(answer.wins.values()), axis=0)
    pairs = np.argwhere(np.triu((wins > 0.02) & (wins < 0.98), 1))
    if not len(pairs):
        return None
    a, b = pairs[rng.integers(len(pairs))]
    names = answer.alternatives
    return Question(names[a], names[b], "alternatives", float(wins[a, b]), 0.0, 0.0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--random-runs", type=int, default=20)
    parser.add_argument("--samples", type=int, default=1000)
    parser.add_argument("--alternatives", type=int, default=12)
    parser.add_argument("--criteria", type=int, nargs="+", default=[5, 8])
    parser.add_argument("--record", type=Path, help="a file with one line for each run made")
    chosen = parser.parse_args()
    options = {"alternatives": chosen.alternatives, "samples": chosen.samples}
    known = _recorded(chosen.record, options)
    found: dict[tuple[int, str, bool], list[tuple[bool, bool, int]]] = {}
    for at_random, runs in ((False, chosen.runs), (True, chosen.random_runs)):
        for n, kind in product(chosen.criteria, KINDS):
            rows = found.setdefault((n, kind, at_random), [])
            for seed in range(runs):
                row = known.get((n, kind, at_random, seed))
                if row is None:
                    row = run(kind, n, seed, at_random=at_random, **options)
                    if chosen.record:
                        line = json.dumps([options, n, kind, at_random, seed, *row])
                        with chosen.record.open("a", encoding="utf-8") as file:
                            print(line, file=file)
                rows.append(row)
    print("| criteria | truth | claimed | right | interval | answers | same: chosen | random |")
    print("|---|---|---|---|---|---|---|---|")
    for n, kind in product(chosen.criteria, KINDS):
        own, others = found[n, kind, False], found[n, kind, True]
        claims = [right for claimed, right, _ in own if claimed]
        share = np.mean(claims) if claims else np.nan
        low, high = _interval(sum(claims), len(claims))
        few = own[: len(others)]
        print(
            f"| {n} | {kind} | {len(claims)} of {len(own)} | {100 * share:.0f} % "
            f"| {100 * low:.0f} to {100 * high:.0f} % | {_answers(own):.1f} "
            f"| {_answers(few):.1f} | {_answers(others):.1f} |"
        )


def _recorded(path: Path | None, options: dict[str, int]) -> dict[Any, tuple[bool, bool, int]]:
    """Runs that were made before, with the same options."""
    if path is None or not path.exists():
        return {}
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return {tuple(row[1:5]): tuple(row[5:]) for row in rows if row[0] == options}


def _interval(right: int, count: int) -> tuple[float, float]:
    """The shares that so many right ones do not exclude, at 95 % (Clopper and Pearson)."""
    from scipy.stats import beta

    low = beta.ppf(0.025, right, count - right + 1) if right else 0.0
    high = beta.ppf(0.975, right + 1, count - right) if right < count else 1.0
    return float(low), float(high)


def _answers(rows: list[tuple[bool, bool, int]]) -> float:
    return float(np.mean([count for *_, count in rows])) if rows else np.nan


if __name__ == "__main__":
    main()
