"""
Thirty sources
==============

A measure of 30 sources has a billion values. A *2-additive* measure has one number for each source
and one for each pair, and is learned in the same way.
"""

import matplotlib.pyplot as plt
import numpy as np

import choquet

rng = np.random.default_rng(7)
X = rng.random((500, 30))
y = 0.6 * np.minimum(X[:, 0], X[:, 1]) + 0.4 * X[:, 2] + 0.02 * rng.standard_normal(500)
model = choquet.ChoquetRegressor(k_additive=2).fit(X, y)
shares = choquet.shapley(model.measure_)

fig, ax = plt.subplots(figsize=(8, 3.5), layout="constrained")
ax.bar(range(30), shares)
ax.set(xlabel="source", ylabel="Shapley value", title="Three of thirty sources matter")
