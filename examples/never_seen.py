"""
Where was nothing ever seen?
============================

A row rests on one value of the measure for each group of leading sources. *Support* says which of
these values any row of the training data touched. It is a statement about what was seen, not about
accuracy.
"""

import matplotlib.pyplot as plt
import numpy as np

import choquet

rng = np.random.default_rng(5)
X = rng.random((300, 4))
X = X[X.argmax(axis=1) != 2]  # the third source is never the largest
support = choquet.DataSupport.from_data(X)
measure = choquet.Measure.random(4, rng=rng)

fig, ax = plt.subplots(figsize=(9, 5.5), layout="constrained")
choquet.plot.hasse(measure, support=support, ax=ax)

# %%
# How much of each walk was seen: Φ is the share of its groups without any row.
fig, ax = plt.subplots(figsize=(7, 3.5), layout="constrained")
choquet.plot.coverage(support, ax=ax)
