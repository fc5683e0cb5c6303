"""Works with pytorch-lattice: a lattice of two points a side, interpolated on simplices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["choquet"]

Task = tuple[Callable[[], Any], Callable[[Any], Any]]


def choquet(inputs: dict[str, Any]) -> Task:
    """The forward pass of a layer whose kernel is the measure."""
    import torch
    from pytorch_lattice.enums import Interpolation
    from pytorch_lattice.layers import Lattice

    g = inputs["g"]
    n = len(g).bit_length() - 1
    # Its first dimension is the most significant; our first source the least.
    masks = np.arange(len(g))
    mirrored = sum((masks >> i & 1) << (n - 1 - i) for i in range(n))
    kernel = np.empty(len(g))
    kernel[mirrored] = g
    layer = Lattice([2] * n, interpolation=Interpolation.SIMPLEX)
    rows = torch.from_numpy(inputs["X"])
    with torch.no_grad():
        layer.kernel.copy_(torch.from_numpy(kernel[:, None]))

    def run() -> Any:
        with torch.no_grad():
            return layer(rows)

    return run, lambda found: found.numpy().ravel()
