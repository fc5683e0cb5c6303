"""
Learn from data that do not fit in memory
=========================================

The statistics of a fit add up over chunks of rows. Learning chunk by chunk gives the same measure
as learning from all rows at once.
"""

import numpy as np

import choquet

rng = np.random.default_rng(11)
truth = choquet.Measure.random(6, rng=rng)


def chunks(n_chunks):
    """Rows that are never in memory together."""
    for seed in range(n_chunks):
        X = np.random.default_rng(seed).random((20_000, 6))
        yield X, choquet.choquet_integral(truth, X)


model = choquet.ChoquetRegressor()
for X, y in chunks(10):
    model.partial_fit(X, y)
print("largest difference to the truth:", np.abs(model.measure_.values - truth.values).max())
