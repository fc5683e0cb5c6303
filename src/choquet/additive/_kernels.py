"""Compiled loops of the additive room: rows of the grids and their sums."""

import numpy as np

from choquet.lattice.compiling import compiled_with


@compiled_with(steps=lambda cells, *rest: 6.0 * cells.size)
def lattice_rows(cells, positions, strides, known, index, share):
    """Choquet interpolation in the cell: the vertices that a row meets, and the share of each.

    A row climbs from the lower corner of its cell in the order of its positions, largest first
    (Kuhn's simplex), so it meets one vertex more than there are sources.
    """
    n_rows, order = cells.shape
    place = np.empty(order, np.int64)
    for row in range(n_rows):
        corner = 0
        for j in range(order):
            corner += cells[row, j] * strides[j]
            k = j
            while k > 0 and positions[row, place[k - 1]] < positions[row, j]:
                place[k] = place[k - 1]
                k -= 1
            place[k] = j
        before = 1.0
        for j in range(order + 1):
            index[row, j] = corner
            after = positions[row, place[j]] if j < order else 0.0
            share[row, j] = (before - after) * known[row]
            before = after
            if j < order and after > 0.0:
                corner += strides[place[j]]


@compiled_with(steps=lambda index, *rest: index.size * index.shape[1])
def gram(index, share, weight, out):
    """Add the weighted cross-products of sparse rows to the upper half of `out`."""
    n_rows, width = index.shape
    for row in range(n_rows):
        for a in range(width):
            first = weight[row] * share[row, a]
            if first == 0.0:
                continue
            line = index[row, a]
            for b in range(a, width):
                out[line, index[row, b]] += first * share[row, b]


@compiled_with(steps=lambda index, share, other, *rest: 1.0 * index.size * other.shape[1])
def cross(index, share, other, other_share, weight, out):
    """Add the weighted cross-products of the rows of two designs to `out`."""
    n_rows, width = index.shape
    for row in range(n_rows):
        for a in range(width):
            first = weight[row] * share[row, a]
            if first == 0.0:
                continue
            line = index[row, a]
            for b in range(other.shape[1]):
                out[line, other[row, b]] += first * other_share[row, b]


@compiled_with(steps=lambda index, share, values, out: 1.0 * index.size * values.shape[1])
def columns(index, share, values, out):
    """Add to each column of the design its product with the columns of `values`."""
    n_rows, width = index.shape
    for row in range(n_rows):
        for a in range(width):
            for f in range(values.shape[1]):
                out[index[row, a], f] += share[row, a] * values[row, f]


@compiled_with(steps=lambda index, *rest: 1.0 * index.size)
def outputs(index, share, values, out):
    """Add to each row the value of the design at `values`."""
    n_rows, width = index.shape
    for row in range(n_rows):
        total = 0.0
        for a in range(width):
            total += share[row, a] * values[index[row, a]]
        out[row] += total


@compiled_with(steps=lambda matrix: 0.5 * matrix.size)
def mirror(matrix):
    """Write the upper half of a square matrix into its lower half, in blocks that fit a cache."""
    n, step = len(matrix), 32
    for a in range(0, n, step):
        for b in range(a, n, step):
            for i in range(a, min(a + step, n)):
                for j in range(max(b, i + 1), min(b + step, n)):
                    matrix[j, i] = matrix[i, j]
