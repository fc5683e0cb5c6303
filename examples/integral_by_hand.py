"""
A Choquet integral by hand
==========================

A *measure* gives a number to every group of sources: how far the group can carry the result on its
own. The *Choquet integral* walks from the source with the largest input down to the smallest, and
weighs each input by what its source adds to those above it. The order in which it meets the sources
is called a *walk*; one walk always uses the same weights by rank.
"""

import matplotlib.pyplot as plt
import numpy as np

import choquet

g = choquet.Measure.from_dict(
    {
        ("radar",): 0.5,
        ("camera",): 0.3,
        ("detector",): 0.4,
        ("radar", "camera"): 0.6,
        ("radar", "detector"): 0.9,
        ("camera", "detector"): 0.8,
        ("radar", "camera", "detector"): 1.0,
    },
    sources=["radar", "camera", "detector"],
)
x = np.array([0.9, 0.2, 0.6])

# %%
# The largest input is radar's, then detector's, then camera's. Their groups grow in that order.
order = np.argsort(-x)
names = [g.sources[i] for i in order]
values = [g(*names[: k + 1]) for k in range(3)]
weights = np.diff(values, prepend=0.0)
print(" > ".join(names))
print("weights by rank:", weights)
by_hand, by_choquet = weights @ x[order], choquet.choquet_integral(g, [x])[0]
print(f"by hand: {by_hand:.2f}  by choquet: {by_choquet:.2f}")

# %%
# The picture shows every group with its value. The line is the walk of this row.
fig, ax = plt.subplots(figsize=(7, 5), layout="constrained")
choquet.plot.hasse(g, walks=[names], ax=ax)
