"""
How many operators does a measure hold?
=======================================

Three sources have six walks, twelve have 479,001,600. Many walks share their weights. The
*operator graph* lists the distinct ones without visiting every walk.
"""

import matplotlib.pyplot as plt

import choquet

graph = choquet.OperatorGraph(choquet.datasets.make_noise_measure())
print(f"{graph.n_walks} walks, {graph.n_operators} distinct operators")

# %%
# Each path from left to right is one operator: its weights are the steps upwards.
fig, ax = plt.subplots(figsize=(8, 4.5), layout="constrained")
choquet.plot.operator_graph(graph, ax=ax)

# %%
# The same operators, as weights by rank.
fig, ax = plt.subplots(figsize=(8, 4.5), layout="constrained")
choquet.plot.operators(graph, ax=ax)
