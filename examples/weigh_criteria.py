"""Weigh criteria from a few judged cases and what the decision makers say.

Twelve cars were judged. That is not enough for a measure on four criteria, so the decision makers
add what they know: safety matters more than comfort, price and running cost say much the same, and
a car should be good on most criteria, not on one alone.

    python examples/weigh_criteria.py
"""

import numpy as np

import choquet
from choquet.learning import expert

CRITERIA = ["price", "running_cost", "safety", "comfort"]


def main() -> None:
    rng = np.random.default_rng(8)
    cars = rng.random((12, 4)).round(2)
    judged = 0.6 * cars.min(axis=1) + 0.4 * cars[:, 2] + 0.02 * rng.standard_normal(12)

    said = (
        expert.shapley_order(4, more=2, less=3)
        + expert.interaction_bounds(4, 0, 1, -1.0, 0.0)
        + expert.orness_bounds(4, 0.0, 0.5)
    )
    for name, rows in {"judged cars alone": None, "with what was said": said}.items():
        model = choquet.ChoquetRegressor(expert=rows).fit(cars, judged)
        measure = choquet.Measure(model.measure_.values, sources=CRITERIA)
        weights = choquet.shapley(measure)
        print(name)
        for criterion, weight in zip(CRITERIA, weights, strict=True):
            print(f"  importance of {criterion:<13}{weight:.2f}")
        together = choquet.interaction(measure)[0, 1]
        print(f"  interaction of price and running cost {together:.2f}")
        print(f"  orness {measure.summary().orness:.2f}")
        width = model.identify(0.1).width
        print(f"  widest value of the measure left open: {width.max():.2f}\n")


if __name__ == "__main__":
    main()
