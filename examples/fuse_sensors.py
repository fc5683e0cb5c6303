"""
Fuse three sensors, and know when not to answer
===============================================

A ground-penetrating radar, an infrared camera and a metal detector each give a score between 0 and
1 for "mine". The measure is learned from a survey in which the radar was never the strongest
sensor, so the data cannot say what to do when it is.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import choquet

SENSORS = ["gpr", "ir", "emi"]


def survey(n_rows, rng):
    """Scores, and how sure the ground team was that there was a mine."""
    scores = rng.random((n_rows, 3))
    truth = choquet.Measure([0, 0, 1, 1, 1, 1, 1, 1], sources=SENSORS)
    frame = pd.DataFrame(scores, columns=SENSORS)
    frame["mine"] = choquet.choquet_integral(truth, scores) + 0.02 * rng.standard_normal(n_rows)
    return frame


rng = np.random.default_rng(4)
data = survey(400, rng)
seen = data[data[SENSORS].idxmax(axis=1) != "gpr"]
model = choquet.ChoquetRegressor().fit(seen[SENSORS], seen["mine"])
print(choquet.explain_model(choquet.decompose(model)).text())

# %%
# New rows come from everywhere. Where the radar is strongest, the model has nothing to go by.
fresh = survey(1000, rng)
supported = model.support_share(fresh[SENSORS]) == 1
print(f"{np.mean(supported):.0%} of the new rows rest on values that the survey supports.")
fig, ax = plt.subplots(figsize=(5.5, 5), layout="constrained")
predicted = model.predict(fresh[SENSORS])
for mask, label in ((~supported, "never seen"), (supported, "supported")):
    ax.scatter(fresh["mine"][mask], predicted[mask], s=10, label=label)
ax.set(xlabel="what the ground team would say", ylabel="prediction", aspect="equal")
ax.legend()

# %%
# What to measure next.
for request in choquet.data_to_collect(choquet.decompose(model), n=2):
    print(request.text())
