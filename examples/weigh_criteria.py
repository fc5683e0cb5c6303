"""Choose a car from a dozen, with a few opinions and no scores to learn from.

A table holds twelve cars and five criteria in their own units. Eight sentences say what the buyers
know. The answer is a verdict with its firmness, the question to ask next, and what would change it;
the same sentences also guide a regression where judged cars are at hand.

    python examples/weigh_criteria.py
"""

import numpy as np

import choquet
from choquet.decide import Importance, Interaction, cars


def main() -> None:
    problem = cars()
    print(problem.check())

    answer = problem.solve(samples=1000)
    print(f"\n{answer}")

    print("\nAfter the question was answered with Faro:")
    settled = answer.answered("Faro").solve(samples=1000)
    print(f"{settled.leader} comes first in at least {settled.certainty:.0%} of the models")

    print("\nSuppose that two more things had been said:")
    print(problem.copy().say("safety is a must", "Cito > Faro").check())

    model = answer.model("least variance")
    print(f"\n{model.text}")
    for name, weight in zip(answer.criteria, choquet.shapley(model.measure), strict=True):
        print(f"  importance of {name:<13}{weight:.2f}")

    rng = np.random.default_rng(8)
    judged = np.asarray(model.measure.integral(problem.levels.lower))
    judged = judged + 0.02 * rng.standard_normal(12)
    said = [Importance("x3", "x4"), Interaction(("x1", "x2"), -1)]
    learned = choquet.ChoquetRegressor(expert=said).fit(problem.levels.lower, judged)
    weights = choquet.shapley(learned.measure_)
    print("\nLearned from twelve judged cars, with what was said about criteria:")
    print(f"  safety {weights[2]:.2f}, comfort {weights[3]:.2f}")


if __name__ == "__main__":
    main()
