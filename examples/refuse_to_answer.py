"""
Refuse to answer where nothing was seen
=======================================

A model may refuse rows that rest on groups of sources that no training row touched. The curve shows
what refusing buys.
"""

import matplotlib.pyplot as plt
import numpy as np

import choquet

rng = np.random.default_rng(0)
truth = choquet.Measure.random(6, rng=rng)
X = rng.random((25, 6))
y = choquet.choquet_integral(truth, X) + 0.02 * rng.standard_normal(25)
model = choquet.ChoquetRegressor().fit(X, y)

fresh = rng.random((3000, 6))
errors = np.abs(model.predict(fresh) - choquet.choquet_integral(truth, fresh))
seen = model.support_share(fresh)
print(f"{np.mean(seen == 1):.0%} of the new rows rest only on groups that were seen.")

# %%
order = np.argsort(-seen, kind="stable")
accepted = np.arange(1, len(order) + 1) / len(order)
fig, ax = plt.subplots(figsize=(7, 4), layout="constrained")
ax.plot(accepted, np.cumsum(errors[order]) / np.arange(1, len(order) + 1))
ax.set(xlabel="share of rows accepted, best supported first", ylabel="mean absolute error")
