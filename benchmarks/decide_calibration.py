"""Is "95 % first" right as often as it says, and how many questions does it take?

Run ``python benchmarks/decide_calibration.py``; it prints the table of ``docs/decide.md``. A truth
is drawn: plain weights, a measure in which pairs interact, or any measure, each uniformly. It
answers questions about random alternatives until one of them is first in 95 % of the models of
every family. Then we look whether the truth ranks that one first. Random questions are drawn from
the comparisons of alternatives that are still open.
"""

from __future__ import annotations

import argparse
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
    from choquet.decide.functionals import Importance, Integral, all_sets

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
    chosen = parser.parse_args()
    options = {"alternatives": chosen.alternatives, "samples": chosen.samples}
    print(
        "| criteria | truth | claimed | right | answers | same runs: chosen | random |", flush=True
    )
    print("|---|---|---|---|---|---|---|", flush=True)
    for n in chosen.criteria:
        for kind in KINDS:
            found = [run(kind, n, s, at_random=False, **options) for s in range(chosen.runs)]
            claims = [right for claimed, right, _ in found if claimed]
            answers = np.mean([count for *_, count in found])
            few = range(chosen.random_runs)
            own = np.mean([found[s][2] for s in few]) if few else np.nan
            others = [run(kind, n, s, at_random=True, **options)[2] for s in few]
            share = np.mean(claims) if claims else np.nan
            print(
                f"| {n} | {kind} | {len(claims)} of {chosen.runs} | {100 * share:.0f} % "
                f"| {answers:.1f} | {own:.1f} | {np.mean(others) if others else np.nan:.1f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
