"""Fuse three sensors, and know when not to answer.

A ground-penetrating radar, an infrared camera and a metal detector each give a score between 0 and
1 for "mine". The measure is learned from a survey in which the radar was never the strongest
sensor, so the data cannot say what to do when it is.

    python examples/fuse_sensors.py
"""

import numpy as np
import pandas as pd

import choquet

SENSORS = ["gpr", "ir", "emi"]


def survey(n_rows: int, rng: np.random.Generator) -> pd.DataFrame:
    """Scores, and how sure the ground team was that there was a mine."""
    scores = rng.random((n_rows, 3))
    truth = choquet.Measure([0, 0, 1, 1, 1, 1, 1, 1], sources=SENSORS)
    frame = pd.DataFrame(scores, columns=SENSORS)
    frame["mine"] = choquet.choquet_integral(truth, scores) + 0.02 * rng.standard_normal(n_rows)
    return frame


def main() -> None:
    rng = np.random.default_rng(4)
    data = survey(400, rng)
    strongest = data[SENSORS].idxmax(axis=1)
    seen = data[strongest != "gpr"]

    model = choquet.ChoquetRegressor().fit(seen[SENSORS], seen["mine"])
    print(choquet.explain_model(choquet.decompose(model)).text(), "\n")

    fresh = survey(1000, rng)
    interval = model.support_interval(fresh[SENSORS])
    supported = model.support_share(fresh[SENSORS])
    print(f"{np.mean(supported == 1):.0%} of new rows rest on values that the survey supports.")
    print(f"Widest interval among them: {np.ptp(interval[supported == 1], axis=1).max():.3f}")
    print(f"Widest interval of the others: {np.ptp(interval[supported < 1], axis=1).max():.3f}\n")

    print("Measure next:")
    for request in choquet.data_to_collect(choquet.decompose(model), n=2):
        print(f"  {request.text()}")


if __name__ == "__main__":
    main()
