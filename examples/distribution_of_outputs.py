"""
What does a measure give on average?
====================================

For independent uniform inputs the distribution of the output is known exactly. A measure that acts
like the smallest input gives low outputs, one that acts like the largest gives high ones.
"""

import matplotlib.pyplot as plt

import choquet

fig, axes = plt.subplots(1, 3, figsize=(14, 4), layout="constrained")
measures = {
    "smallest of three": choquet.Measure.symmetric([0, 0, 1]),
    "mean of three": choquet.Measure.symmetric([1 / 3, 1 / 3, 1 / 3]),
    "largest of three": choquet.Measure.symmetric([1, 0, 0]),
}
for (name, measure), ax in zip(measures.items(), axes, strict=True):
    choquet.plot.distribution(measure, ax=ax)
    ax.set_title(name)
