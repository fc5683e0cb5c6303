"""
Learn a measure from noisy scores
=================================

The true measure is known here, so we can watch the learned one come closer as rows are added.
"""

import matplotlib.pyplot as plt
import numpy as np

import choquet

rng = np.random.default_rng(1)
truth = choquet.Measure.random(5, rng=rng)
sizes = [20, 50, 100, 200, 500, 1000, 2000]
errors = {"ChoquetRegressor": [], "ChoquetRegressorCV": []}
test = rng.random((2000, 5))
for rows in sizes:
    X = rng.random((rows, 5))
    y = choquet.choquet_integral(truth, X) + 0.1 * rng.standard_normal(rows)
    for name, made in errors.items():
        model = getattr(choquet, name)().fit(X, y)
        away = model.predict(test) - choquet.choquet_integral(truth, test)
        made.append(float(np.sqrt(np.mean(away**2))))

# %%
# ``ChoquetRegressorCV`` averages over families of measures, which helps most where rows are few.
fig, ax = plt.subplots(figsize=(7, 4), layout="constrained")
for name, made in errors.items():
    ax.loglog(sizes, made, marker="o", label=name)
ax.set(xlabel="rows, with noise of 0.1", ylabel="error against the true integral (rms)")
ax.legend()
