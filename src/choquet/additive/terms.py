"""Terms: a subset of sources, its grid, and contrasts that take the lower orders out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from choquet.additive import _kernels
from choquet.additive.axes import Axis, Margin
from choquet.arrays import BoolArray, FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Rows:
    """Sparse rows of a design: the columns each row meets, and the share of each."""

    index: IntArray
    share: FloatArray

    def __call__(self, values: FloatArray) -> FloatArray:
        """Output of each row at the values of the columns."""
        out = np.zeros(len(self.index))
        _kernels.outputs(self.index, self.share, np.ascontiguousarray(values), out)
        return out


class Places:
    """Cells and positions of rows on the axes of their sources; each axis is looked up once."""

    def __init__(self, X: FloatArray) -> None:
        self.X = X
        self._kept: dict[tuple[int, int], tuple[Axis, tuple[IntArray, FloatArray, BoolArray]]] = {}

    def of(self, source: int, axis: Axis) -> tuple[IntArray, FloatArray, BoolArray]:
        """Cell, position, and whether the axis knows the value."""
        kept = self._kept.get((source, id(axis)))
        if kept is None:
            kept = self._kept[source, id(axis)] = (axis, axis.place(self.X[:, source]))
        return kept[1]

    def in_term(
        self, sources: Sequence[int], axes: Sequence[Axis]
    ) -> tuple[IntArray, FloatArray, BoolArray]:
        """Cells and positions, a column for each source, and whether all values are known."""
        found = [self.of(source, axis) for source, axis in zip(sources, axes, strict=True)]
        cells = np.stack([cell for cell, _, _ in found], axis=1)
        positions = np.stack([position for _, position, _ in found], axis=1)
        return cells, positions, np.logical_and.reduce([known for _, _, known in found])


@dataclass(frozen=True, eq=False)
class Term:
    """A utility (one source) or an interaction (several): values on a grid, a k-ary capacity.

    Attributes
    ----------
    sources : tuple of int
    axes : tuple of Axis
    basis : array of shape (grid size, n_numbers)
        Values on the grid for each number of the term.
    penalties : array of shape (n_numbers, n_penalties)
        Diagonals: first differences ("no effect") and curvatures ("smooth").
    """

    sources: tuple[int, ...]
    axes: tuple[Axis, ...]
    basis: FloatArray
    penalties: FloatArray

    @property
    def shape(self) -> tuple[int, ...]:
        """Knots and slots of each source."""
        return tuple(axis.size for axis in self.axes)

    @property
    def n_numbers(self) -> int:
        """Numbers that a fit has to find."""
        return int(self.basis.shape[1])

    def rows(self, places: Places) -> Rows:
        """Sparse rows on the grid: one vertex more than there are sources."""
        return rows_of(places, self.sources, self.axes)


def rows_of(places: Places, sources: tuple[int, ...], axes: tuple[Axis, ...]) -> Rows:
    """Sparse rows on the grid of some axes."""
    cells, positions, known = places.in_term(sources, axes)
    sizes = [axis.size for axis in axes]
    strides = np.append(np.cumprod(sizes[:0:-1])[::-1], 1).astype(np.int64)
    index = np.empty((len(cells), len(axes) + 1), dtype=np.int64)
    share = np.empty((len(cells), len(axes) + 1))
    _kernels.lattice_rows(cells, positions, strides, known.astype(np.float64), index, share)
    return Rows(index, share)


def make_term(
    sources: tuple[int, ...], axes: Mapping[int, Axis], margins: Mapping[int, Margin]
) -> Term:
    """The term of some sources: tensor products of the contrasts of each.

    Examples
    --------
    >>> from choquet.additive.axes import margin_of
    >>> axis = Axis(np.arange(4.0), 0, False)
    >>> margin = margin_of(axis, np.ones(4))
    >>> make_term((0, 1), {0: axis, 1: axis}, {0: margin, 1: margin}).basis.shape
    (16, 9)
    """
    parts = [margins[source] for source in sources]
    basis = _kron([part.basis for part in parts])
    ones = [np.ones(len(part.rough)) for part in parts]
    rough = [
        _kron([parts[b].rough if a == b else ones[b] for b in range(len(parts))])
        for a in range(len(parts))
    ]
    curvature = np.sum(rough, axis=0) / len(parts)
    flat = np.ones(basis.shape[1])
    penalties = np.stack([flat, curvature] if curvature.max() > 0 else [flat], axis=1)
    return Term(sources, tuple(axes[source] for source in sources), basis, penalties)


def _kron(parts: Sequence[FloatArray]) -> FloatArray:
    """Tensor product of arrays."""
    out = parts[0]
    for part in parts[1:]:
        out = np.asarray(np.kron(out, part), dtype=np.float64)
    return out


def errors_of(basis: FloatArray, covariance: FloatArray) -> FloatArray:
    """Standard errors on a grid, from the covariance of the numbers of its term."""
    return np.asarray(np.sqrt(np.maximum(np.einsum("ij,ij->i", basis @ covariance, basis), 0.0)))


class Design:
    """Terms side by side: where each has its numbers, and its values on the grid."""

    def __init__(self, terms: list[Term], n_fixed: int) -> None:
        self.terms, self.n_fixed = terms, n_fixed
        self.cuts = np.cumsum([n_fixed, *(term.n_numbers for term in terms)])
        self.grid_cuts = np.cumsum([0, *(len(term.basis) for term in terms)])

    @property
    def n_numbers(self) -> int:
        """All numbers, the fixed ones included."""
        return int(self.cuts[-1])

    def numbers(self, k: int) -> slice:
        """Where the numbers of term k are."""
        return slice(int(self.cuts[k]), int(self.cuts[k + 1]))

    def side_by_side(self, made: Sequence[Rows], n_rows: int) -> Rows:
        """Sparse rows of all grids from those of each term."""
        if not made:
            return Rows(np.zeros((n_rows, 0), dtype=np.int64), np.zeros((n_rows, 0)))
        index = [rows.index + cut for rows, cut in zip(made, self.grid_cuts, strict=False)]
        return Rows(np.hstack(index), np.hstack([rows.share for rows in made]))

    def values(self, beta: FloatArray) -> FloatArray:
        """Values on all grids."""
        parts = [term.basis @ beta[self.numbers(k)] for k, term in enumerate(self.terms)]
        return np.concatenate(parts) if parts else np.zeros(0)

    def project(self, sums: FloatArray) -> FloatArray:
        """Sums by grid vertex (first axis) as sums by number."""
        parts = [
            term.basis.T @ sums[self.grid_cuts[k] : self.grid_cuts[k + 1]]
            for k, term in enumerate(self.terms)
        ]
        return np.concatenate(parts) if parts else sums[:0]
