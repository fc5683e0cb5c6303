"""
Learn contexts and operators directly
=====================================

``ContextualRegressor`` learns a few operators and the rank conditions under which each is used,
without a measure in between. It works with many sources.
"""

import matplotlib.pyplot as plt
import numpy as np

import choquet

rng = np.random.default_rng(2)
X = rng.random((600, 12))
first = X.argmax(axis=1) == 0
ordered = np.sort(X, axis=1)
y = np.where(first, ordered[:, 5:7].mean(axis=1), ordered[:, -1])
model = choquet.ContextualRegressor().fit(X, y + 0.02 * rng.standard_normal(600))
print(model.decomposition_)

# %%
# Twelve sources have 479,001,600 walks. The data were made with two operators, and two were found.
fig, ax = plt.subplots(figsize=(8, 4), layout="constrained")
choquet.plot.operators(model.decomposition_, ax=ax)
