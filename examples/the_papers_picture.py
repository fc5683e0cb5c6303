"""
The paper's picture: iVAT and CLODD
===================================

The paper draws the dissimilarities between all walks as an image, and finds the operators as dark
blocks along its diagonal. ``method=Clodd()`` does the same, without the matrix of N! × N! numbers.
"""

import matplotlib.pyplot as plt
import numpy as np

import choquet

rng = np.random.default_rng(3)
exact = choquet.datasets.make_noise_measure()
noisy = exact.values + 0.02 * rng.standard_normal(32) * ((exact.values > 0) & (exact.values < 1))
measure = choquet.Measure(np.clip(noisy, 0, 1), sources=exact.sources, monotone=False)
parts = choquet.decompose(measure, method=choquet.Clodd())
print(parts)

# %%
fig, (left, right) = plt.subplots(1, 2, figsize=(11, 4.8), layout="constrained")
choquet.plot.ivat(parts, ax=left)
choquet.plot.operators(parts, ax=right)
