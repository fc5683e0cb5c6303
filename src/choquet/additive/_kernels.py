"""Compiled loops of the additive room: rows of the grids and their sums."""

import numpy as np

from choquet.lattice.compiling import compiled_with

_PIECE = 1 << 18
"""Products that are held at a time where whole arrays stand in for a loop."""
_CALLS = 500.0
"""What the calls of NumPy cost, in steps of a plain loop; a number of an array costs a tenth."""


def _pieces(n_rows, products):
    """Rows handled together, so many products each."""
    step = max(1, _PIECE // max(products, 1))
    return [slice(start, start + step) for start in range(0, n_rows, step)]


def _lattice_rows_arrays(cells, positions, strides, known, index, share):
    """As `lattice_rows`, by operations on whole columns."""
    order = cells.shape[1]
    place = np.argsort(-positions, axis=1, kind="stable")
    after = np.take_along_axis(positions, place, axis=1)
    corner = np.zeros(len(cells), np.int64)
    for j in range(order):
        corner += cells[:, j] * strides[j]
    before = np.ones(len(cells))
    for j in range(order):
        index[:, j] = corner
        share[:, j] = (before - after[:, j]) * known
        before = after[:, j]
        corner = corner + np.where(before > 0.0, strides[place[:, j]], 0)
    index[:, order] = corner
    share[:, order] = (before - 0.0) * known


@compiled_with(plain=_lattice_rows_arrays, steps=lambda cells, *rest: _CALLS + 0.6 * cells.size)
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


def _gram_arrays(index, share, weight, out):
    """As `gram`, by operations on whole arrays; products are added in the same order."""
    n_rows, width = index.shape
    first, second = np.triu_indices(width)
    flat, size = out.reshape(-1), out.shape[1]
    for rows in _pieces(n_rows, len(first)):
        line, part = index[rows], share[rows]
        at = line[:, first] * size + line[:, second]
        np.add.at(
            flat, at.ravel(), ((weight[rows, None] * part)[:, first] * part[:, second]).ravel()
        )


@compiled_with(
    plain=_gram_arrays, steps=lambda index, *rest: _CALLS + 0.1 * index.size * index.shape[1]
)
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


def _cross_arrays(index, share, other, other_share, weight, out):
    """As `cross`, by operations on whole arrays; products are added in the same order."""
    flat, size = out.reshape(-1), out.shape[1]
    for rows in _pieces(len(index), index.shape[1] * other.shape[1]):
        at = index[rows, :, None] * size + other[rows, None, :]
        first = weight[rows, None] * share[rows]
        np.add.at(flat, at.ravel(), (first[:, :, None] * other_share[rows, None, :]).ravel())


@compiled_with(
    plain=_cross_arrays,
    steps=lambda index, share, other, *rest: _CALLS + 0.1 * index.size * other.shape[1],
)
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


def _columns_arrays(index, share, values, out):
    """As `columns`, by operations on whole arrays; products are added in the same order."""
    flat, width = out.reshape(-1), values.shape[1]
    for rows in _pieces(len(index), index.shape[1] * width):
        at = index[rows, :, None] * width + np.arange(width)
        np.add.at(flat, at.ravel(), (share[rows, :, None] * values[rows, None, :]).ravel())


@compiled_with(
    plain=_columns_arrays,
    steps=lambda index, share, values, out: _CALLS + 0.1 * index.size * values.shape[1],
)
def columns(index, share, values, out):
    """Add to each column of the design its product with the columns of `values`."""
    n_rows, width = index.shape
    for row in range(n_rows):
        for a in range(width):
            for f in range(values.shape[1]):
                out[index[row, a], f] += share[row, a] * values[row, f]


def _outputs_arrays(index, share, values, out):
    """As `outputs`, by operations on whole columns."""
    total = np.zeros(len(index))
    for a in range(index.shape[1]):
        total += share[:, a] * values[index[:, a]]
    out += total


@compiled_with(plain=_outputs_arrays, steps=lambda index, *rest: _CALLS + 0.1 * index.size)
def outputs(index, share, values, out):
    """Add to each row the value of the design at `values`."""
    n_rows, width = index.shape
    for row in range(n_rows):
        total = 0.0
        for a in range(width):
            total += share[row, a] * values[index[row, a]]
        out[row] += total


def _mirror_arrays(matrix):
    """As `mirror`, by one operation on the whole matrix."""
    matrix[:] = np.where(np.tri(len(matrix), k=-1, dtype=bool), matrix.T, matrix)


@compiled_with(plain=_mirror_arrays, steps=lambda matrix: _CALLS + 0.05 * matrix.size)
def mirror(matrix):
    """Write the upper half of a square matrix into its lower half, in blocks that fit a cache."""
    n, step = len(matrix), 32
    for a in range(0, n, step):
        for b in range(a, n, step):
            for i in range(a, min(a + step, n)):
                for j in range(max(b, i + 1), min(b + step, n)):
                    matrix[j, i] = matrix[i, j]
