"""
Take a measure apart
====================

``decompose`` describes a measure by a few operators, each with the situations in which it is used,
and says what this description costs.
"""

import matplotlib.pyplot as plt

import choquet

demining = choquet.datasets.make_demining(2, rng=0)
parts = choquet.decompose(demining.measure)
print(parts)

# %%
# As a table: weights by source and by rank, the share of walks, and the error.
print(parts.to_frame().T)

# %%
fig, ax = plt.subplots(figsize=(7, 4), layout="constrained")
choquet.plot.operators(parts, ax=ax)
