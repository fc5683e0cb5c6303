"""
Two measures side by side
=========================

Two experts, or two data sets, gave two measures of the same sources. ``compare`` puts their
operators on one scale.
"""

import matplotlib.pyplot as plt

import choquet

names = ["radar", "camera", "detector", "map"]
optimist = choquet.Measure.symmetric([0.6, 0.2, 0.1, 0.1], sources=names)
careful = choquet.Measure.sugeno_lambda([0.2, 0.15, 0.1, 0.05], sources=names)
both = {
    "optimist": choquet.decompose(optimist, method=choquet.Clodd()),
    "careful": choquet.decompose(careful, method=choquet.Clodd()),
}
fig, ax = plt.subplots(figsize=(10, 4.8), layout="constrained")
choquet.plot.compare(both, ax=ax)
