"""
Learn from data that do not fit in memory
=========================================

The statistics of a fit add up over chunks of rows. Learning chunk by chunk gives the same measure
as learning from all rows at once.
"""

import matplotlib.pyplot as plt
import numpy as np

import choquet

truth = choquet.Measure.random(6, rng=np.random.default_rng(11))


def chunks(n_chunks):
    """Rows that are never in memory together."""
    for seed in range(n_chunks):
        rng = np.random.default_rng(seed)
        X = rng.random((2000, 6))
        yield X, choquet.choquet_integral(truth, X) + 0.1 * rng.standard_normal(2000)


model = choquet.ChoquetRegressor()
rows, errors = [], []
for X, y in chunks(12):
    model.partial_fit(X, y)
    rows.append(model.statistics_.n_samples)
    errors.append(np.sqrt(np.mean((model.measure_.values - truth.values) ** 2)))

# %%
fig, ax = plt.subplots(figsize=(7, 3.5), layout="constrained")
ax.plot(rows, errors, marker="o")
ax.set(xlabel="rows so far, with noise of 0.1", ylabel="error of the values (rms)", ylim=(0, None))
