"""
Choquet, Sugeno and Shilkret
============================

The same measure can be integrated in other ways. The Choquet integral weighs by differences, the
Sugeno integral takes a median of inputs and values, the Shilkret integral the largest product.
"""

import matplotlib.pyplot as plt
import numpy as np

import choquet

g = choquet.Measure([0, 0.3, 0.6, 1.0], sources=["a", "b"])
side = np.linspace(0, 1, 81)
A, B = np.meshgrid(side, side)
X = np.column_stack([A.ravel(), B.ravel()])
fig, axes = plt.subplots(1, 3, figsize=(12, 4), layout="constrained", sharey=True)
for ax, name in zip(axes, ["choquet", "sugeno", "shilkret"], strict=True):
    values = getattr(choquet, f"{name}_integral")(g, X).reshape(A.shape)
    drawn = ax.contourf(A, B, values, levels=np.linspace(0, 1, 11), cmap="cividis")
    ax.contour(A, B, values, levels=np.linspace(0, 1, 11), colors="white", linewidths=0.5)
    ax.set(title=name, xlabel="input a", ylabel="input b", aspect="equal")
fig.colorbar(drawn, ax=axes, label="output")
