"""
Refuse to answer where nothing was seen
=======================================

A model may refuse rows that rest on groups of sources that no training row touched. The curve shows
what refusing buys on new rows.
"""

import matplotlib.pyplot as plt
import numpy as np

import choquet

# The result is the largest input, except where the first source is the largest: it is not trusted.
truth = choquet.Measure(
    [0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1], sources=["radar", "camera", "detector", "map"]
)
rng = np.random.default_rng(0)
X = rng.random((300, 4))
X = X[X.argmax(axis=1) != 0]  # in the training data the radar is never the largest
y = choquet.choquet_integral(truth, X) + 0.05 * rng.standard_normal(len(X))
model = choquet.ChoquetRegressor().fit(X, y)

fresh = rng.random((2000, 4))
answers = choquet.choquet_integral(truth, fresh) + 0.05 * rng.standard_normal(2000)
seen = model.support_share(fresh)
print(f"{np.mean(seen == 1):.0%} of the new rows rest only on groups that were seen.")

# %%
# The left point accepts the supported rows only, the right one all rows. The squared error is
# about three times as large when the model also answers rows of a kind that it never saw.
curve = model.selective_curve(fresh, answers)
fig, ax = plt.subplots(figsize=(7, 4), layout="constrained")
choquet.plot.selective(curve.accepted, curve.error, ax=ax)
