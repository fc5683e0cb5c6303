"""Does the noise grow with the output? One number, from the residuals of training rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from choquet.additive.choose import sample
from choquet.additive.model import AdditiveModel
from choquet.additive.table import Block, Table
from choquet.arrays import FloatArray

_TRIED = 0.02 * 2 ** np.arange(0, 10.5, 0.25)
"""Sizes of the growth that are tried, with both signs."""
_GAIN = 2.0
"""By how much the log-likelihood must rise; otherwise the noise is taken to be even."""
_MOST = 0.9
"""A row that pulls the fit to itself by more than this counts as one that does by this much."""


def with_noise(model: AdditiveModel, table: Table, n_rows: float) -> AdditiveModel:
    """The model with how its noise grows with the output: `growth` and `level`.

    The growth is the most likely one if residuals have the distribution of Laplace, whose ends are
    heavier than those of a normal one: a few large residuals say little. The fit leaves less of the
    noise in rows that pull it to themselves, so each residual is divided by what is left of it.

    Parameters
    ----------
    model : AdditiveModel
    table : Table
        The training rows, whose targets are standardised. At most about 4,000 are looked at.
    n_rows : float
        Their weight.

    References
    ----------
    Davidian & Carroll (1987), "Variance function estimation", for absolute residuals.
    """
    looked = [_look(model, block) for block in sample(table, n_rows).blocks()]
    output, rest, weight = (np.concatenate(part) for part in zip(*looked, strict=True))
    if not rest.any():
        return model

    def grown(growth: float) -> tuple[float, AdditiveModel]:
        """Loss of a growth, and the model with it: level one is that of the mean square."""
        found = replace(model, growth=float(growth), level=1.0)
        shape = found.noise_shape(output)
        loss = weight.sum() * np.log(weight @ (rest / shape)) + weight @ np.log(shape)
        ratio = (weight @ (rest / shape) ** 2) / (weight @ rest**2)
        return float(loss), replace(found, level=float(np.sqrt(ratio)))

    even = grown(0.0)
    best = min((grown(sign * size) for size in _TRIED for sign in (1, -1)), key=lambda one: one[0])
    return best[1] if even[0] - best[0] > _GAIN else even[1]


def _look(model: AdditiveModel, block: Block) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Outputs of rows, absolute residuals as large as the noise, and weights."""
    output = model.outputs(block.X)
    pull = np.minimum(model.leverage(block.X), _MOST)
    return output, np.abs(block.y - output) / np.sqrt(1 - pull), block.weight
