"""
Which sources matter, and which help each other?
================================================

The Shapley value shares the result among the sources. The interaction of two sources is positive
where they need each other, and negative where one repeats what the other says.
"""

import matplotlib.pyplot as plt

import choquet

g = choquet.Measure.sugeno_lambda(
    [0.5, 0.4, 0.3, 0.1], sources=["radar", "camera", "detector", "map"]
)
print(dict(zip(g.sources, choquet.shapley(g).round(3).tolist(), strict=True)))

# %%
fig, ax = plt.subplots(figsize=(9, 4), layout="constrained")
choquet.plot.indices(g, ax=ax)
