"""Sufficient statistics of least squares on gaps: additive, so data may arrive in any order.

The integral is linear in the measure with the gaps as coefficients, so squared error is a
quadratic form whose matrix has entries only for comparable pairs of subsets (one chain holds both):
at most 3**N, whatever the number of samples. A pair A ⊆ B is the ternary number with digit 2 for
the sources of A and digit 1 for those of B alone; that number addresses the table of products.

Every total carries the rounding error it has lost in a second column. Rounded, totals of the same
rows agree to the bit (but for ties of rounding) however the rows were split, shuffled or merged.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cached_property, reduce
from typing import Any

import numpy as np
import numpy.typing as npt

from choquet.arrays import FloatArray, IntArray, as_inputs, as_vector
from choquet.errors import DataError
from choquet.lattice.lazy import sp
from choquet.lattice.ties import LEAST, TIE, tie_widths
from choquet.lattice.vectors import dot
from choquet.lattice.wide import WordArray, chains, unique_rows
from choquet.learning.data.scale import refuse_overflow

MAX_TABLE_SOURCES = 13
"""Largest N whose 3**N products are held in one table (two float64 each: 24 MiB)."""


@dataclass(frozen=True, eq=False)
class Statistics:
    """What a fit by squared error needs to know about a data set of any size.

    Build it with `from_data`, join two with ``+``.

    Attributes
    ----------
    n_sources, n_samples : int
        Columns seen, and rows of positive weight.
    masks : array of shape (K, W)
        Subsets with a gap other than zero, as words of 64 bits, ascending.
    counts : array of shape (K,)
        Samples whose chain passes through the subset with such a gap.
    rows, columns : arrays of shape (P,)
        Comparable pairs as positions in `masks`; a row is never after its column.
    products : array of shape (P, 2)
        Weighted sum of gap products of each pair, and the rounding error it carries.
    target_products, gap_sums : arrays of shape (K, 2)
        Weighted sums of gap times target, and of gaps.
    totals : array of shape (3, 2)
        Weighted sums of 1, of the target, and of its square.

    References
    ----------
    Grabisch (1997), "k-order additive discrete fuzzy measures and their representation", for the
    quadratic form; Knuth, TAOCP vol. 2, 4.2.2, for sums that keep what rounding loses.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.9, 0.4], [0.2, 0.6], [0.5, 0.5]])
    >>> y = np.array([0.6, 0.5, 0.5])
    >>> whole = Statistics.from_data(X, y)
    >>> parts = Statistics.from_data(X[2:], y[2:]) + Statistics.from_data(X[:2], y[:2])
    >>> np.array_equal(whole.gram.toarray(), parts.gram.toarray())
    True
    >>> whole.masks.ravel(), whole.counts
    (array([1, 2, 3], dtype=uint64), array([1, 1, 3]))
    """

    n_sources: int
    n_samples: int
    masks: WordArray
    counts: IntArray
    rows: IntArray
    columns: IntArray
    products: FloatArray
    target_products: FloatArray
    gap_sums: FloatArray
    totals: FloatArray

    def __post_init__(self) -> None:
        refuse_overflow(self.products, self.target_products, self.gap_sums, self.totals)

    @classmethod
    def from_data(
        cls,
        X: npt.ArrayLike,
        y: npt.ArrayLike,
        sample_weight: npt.ArrayLike | None = None,
        *,
        chunk_size: int = 20_000,
    ) -> Statistics:
        """Accumulate the statistics of one batch of rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_sources)
            Inputs. Sources tied in a row (see `choquet.lattice.ties`) support only the sets at
            strict gaps.
        y : array-like of shape (n_samples,)
            Targets.
        sample_weight : array-like of shape (n_samples,), optional
            Weights, not negative; rows of weight zero do not exist.
        chunk_size : int, default 20_000
            Rows expanded into pairs at a time where N is too large for a table.

        Examples
        --------
        >>> Statistics.from_data([[0.9, 0.4]], [0.6]).information.round(12)
        array([0.25, 0.16])
        """
        inputs = as_inputs(X)
        targets = as_vector(y, "y", len(inputs))
        weights = sample_weights(sample_weight, len(inputs))
        if inputs.shape[1] <= MAX_TABLE_SOURCES:
            return _by_table(inputs, targets, weights)
        parts = [
            _by_sorting(inputs[k : k + chunk_size], targets[k : k + chunk_size], weights[k:])
            for k in range(0, max(len(inputs), 1), chunk_size)
        ]
        return reduce(lambda left, right: left + right, parts)

    def __add__(self, other: Statistics) -> Statistics:
        if not isinstance(other, Statistics):
            return NotImplemented
        if self.n_sources != other.n_sources:
            raise DataError(
                f"statistics of {self.n_sources} and of {other.n_sources} sources do not add; "
                "fit each on its own"
            )
        masks, place = unique_rows(np.concatenate([self.masks, other.masks]))
        own, others = place[: len(self.masks)], place[len(self.masks) :]
        size = len(masks)
        pairs = ((own, self), (others, other))
        keys = [_pair_keys(at[part.rows], at[part.columns], size) for at, part in pairs]
        unique, labels = np.unique(np.concatenate(keys), return_inverse=True)
        counts = np.zeros(size, dtype=np.int64)
        np.add.at(counts, place, np.concatenate([self.counts, other.counts]))

        def summed(name: str, labels: IntArray, size: int) -> FloatArray:
            both = np.concatenate([getattr(self, name), getattr(other, name)])
            return _grouped(labels, both, size)

        return Statistics(
            n_sources=self.n_sources,
            n_samples=self.n_samples + other.n_samples,
            masks=masks,
            counts=counts,
            rows=unique // max(size, 1),
            columns=unique % max(size, 1),
            products=summed("products", labels, len(unique)),
            target_products=summed("target_products", place, size),
            gap_sums=summed("gap_sums", place, size),
            totals=summed("totals", np.tile(np.arange(3), 2), 3),
        )

    @cached_property
    def gram(self) -> Any:
        """Symmetric matrix of gap products over `masks` (scipy.sparse, CSC)."""
        size = len(self.masks)
        upper = sp.coo_array((_rounded(self.products), (self.rows, self.columns)), (size, size))
        strict = upper.copy()
        strict.data = np.where(self.rows == self.columns, 0.0, strict.data)
        full = sp.csc_array(upper + strict.T)
        full.sort_indices()
        return full

    @cached_property
    def alone(self) -> tuple[Any, FloatArray]:
        """Gaps of the samples that are alone in some subset, and 1, both times √weight.

        A subset that one sample has passed shows all of that sample's chain in its row of `gram`.
        Far fewer numbers than `gram` holds say the same: a row of n gaps for n² products.
        """
        single = np.flatnonzero(self.counts == 1)
        mine = np.zeros(len(self.masks), dtype=np.bool_)
        mine[single] = True
        pair = mine[self.rows] & mine[self.columns]  # alone in both, so it is the same sample
        first = np.arange(len(self.masks))
        np.minimum.at(first, self.columns[pair], self.rows[pair])
        chosen = single[first[single] == single]
        root = np.sqrt(self.information[chosen])
        gaps = sp.csr_array(self.gram)[chosen]
        gaps.data /= np.repeat(root, np.diff(gaps.indptr))
        return gaps, self.sums[chosen] / root

    @cached_property
    def information(self) -> FloatArray:
        """I(A), the weighted sum of squared gaps of each subset in `masks`."""
        return np.asarray(self.gram.diagonal(), dtype=np.float64)

    @property
    def targets(self) -> FloatArray:
        """Weighted sums of gap times target."""
        return _rounded(self.target_products)

    @property
    def sums(self) -> FloatArray:
        """Weighted sums of gaps."""
        return _rounded(self.gap_sums)

    @cached_property
    def weight(self) -> float:
        """Sum of the sample weights."""
        return float(_rounded(self.totals)[0])

    @property
    def target_sum(self) -> float:
        """Weighted sum of the targets."""
        return float(_rounded(self.totals)[1])

    @property
    def target_square(self) -> float:
        """Weighted sum of the squared targets."""
        return float(_rounded(self.totals)[2])

    @property
    def positions(self) -> IntArray:
        """`masks` as plain integers, which address a dense measure (at most 62 sources)."""
        if self.n_sources > 62:
            raise DataError(f"subsets of {self.n_sources} sources do not fit one integer")
        return self.masks[:, 0].astype(np.int64)

    def squared_error(self, values: npt.ArrayLike, bias: float = 0.0) -> float:
        """Weighted sum of squared errors of a dense measure on the rows seen.

        Examples
        --------
        >>> statistics = Statistics.from_data([[0.9, 0.4]], [0.5])
        >>> round(statistics.squared_error([0.0, 0.4, 0.7, 1.0]), 12)
        0.01
        """
        return self.error_of(np.asarray(values, dtype=np.float64)[self.positions], bias)

    @property
    def tied(self) -> bool:
        """Whether every row has all its inputs alike, so that only the whole set has a gap."""
        sizes = np.bitwise_count(self.masks).sum(axis=1)
        return not bool((sizes < self.n_sources).any())

    @property
    def sizes(self) -> tuple[float, float, float]:
        """Sums over rows: gaps times smallest input, squared gaps, and the largest of all squares.

        What `choquet.learning.data.scale` judges data by.
        """
        whole = np.bitwise_count(self.masks).sum(axis=1) == self.n_sources
        row = sp.csr_array(self.gram)[np.flatnonzero(whole)]
        cross = np.abs(row.toarray()[:, ~whole]).sum()
        squares = self.information
        return float(cross), float(squares[~whole].sum()), float(squares.max(initial=0.0))

    def error_of(self, g: FloatArray, bias: float = 0.0) -> float:
        """Weighted sum of squared errors of values on `masks`."""
        square, total = self.target_square, self.target_sum
        error = dot(g, self.gram @ g) - 2 * dot(g, self.targets - bias * self.sums)
        error += square - 2 * bias * total + bias * bias * self.weight
        return max(float(error), 0.0)

    def to_arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Plain arrays by name, for a file; `from_arrays` takes them back.

        Examples
        --------
        >>> statistics = Statistics.from_data([[0.9, 0.4]], [0.5])
        >>> Statistics.from_arrays(statistics.to_arrays()).target_square
        0.25
        """
        arrays = {name: getattr(self, name) for name in _ARRAYS}
        return {"size": np.array([self.n_sources, self.n_samples]), **arrays}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, npt.NDArray[Any]]) -> Statistics:
        """Rebuild statistics from what `to_arrays` gave; what no data can give is refused."""
        missing = [name for name in ("size", *_ARRAYS) if name not in arrays]
        if missing:
            raise DataError(f"these arrays are no statistics: {', '.join(missing)} are missing")
        from choquet.learning.data.checks import check_statistics

        check_statistics(arrays)
        n_sources, n_samples = (int(k) for k in arrays["size"])
        return cls(n_sources, n_samples, **{name: np.asarray(arrays[name]) for name in _ARRAYS})


_ARRAYS = tuple(field.name for field in fields(Statistics))[2:]
"""All but the numbers of sources and of samples."""


def sample_weights(sample_weight: npt.ArrayLike | None, n_samples: int) -> FloatArray:
    """Weights of rows, all 1 by default; negative ones are refused.

    Examples
    --------
    >>> sample_weights(None, 2)
    array([1., 1.])
    """
    if sample_weight is None:
        return np.ones(n_samples)
    weights = as_vector(sample_weight, "sample_weight", n_samples)
    if len(weights) and weights.min() < 0:
        where = int(weights.argmin())
        raise DataError(f"sample_weight must not be negative: row {where} has {weights[where]}")
    return weights


def _rounded(pairs: FloatArray) -> FloatArray:
    return np.asarray(pairs[:, 0] + pairs[:, 1])


def _pair_keys(rows: IntArray, columns: IntArray, size: int) -> IntArray:
    return np.minimum(rows, columns) * size + np.maximum(rows, columns)


def _grouped(labels: IntArray, pairs: FloatArray, size: int) -> FloatArray:
    from choquet.learning._kernels import sum_runs

    out = np.zeros((size, 2))
    sum_runs(labels.ravel(), pairs[:, 0], pairs[:, 1], out)
    return out


def _by_table(X: FloatArray, y: FloatArray, weight: FloatArray) -> Statistics:
    from choquet.learning._kernels import accumulate

    n_sources = X.shape[1]
    size = 1 << n_sources
    gram = np.zeros((3**n_sources, 2))
    targets, sums = np.zeros((size, 2)), np.zeros((size, 2))
    totals, counts = np.zeros((3, 2)), np.zeros(size, dtype=np.int64)
    accumulate(X, y, weight, TIE, LEAST, gram, targets, sums, totals, counts)
    seen = np.flatnonzero(counts)
    place = np.full(size, -1)
    place[seen] = np.arange(len(seen))
    codes = np.flatnonzero(gram[:, 0])
    smaller, larger = np.zeros_like(codes), np.zeros_like(codes)
    rest = codes.copy()
    for i in range(n_sources):
        digit = rest % 3
        rest //= 3
        smaller |= (digit == 2).astype(np.int64) << i
        larger |= (digit > 0).astype(np.int64) << i
    keys = place[smaller] * max(len(seen), 1) + place[larger]
    order = np.argsort(keys)
    return Statistics(
        n_sources=n_sources,
        n_samples=int(np.count_nonzero(weight)),
        masks=seen.astype(np.uint64)[:, None],
        counts=counts[seen],
        rows=place[smaller][order],
        columns=place[larger][order],
        products=gram[codes[order]],
        target_products=targets[seen],
        gap_sums=sums[seen],
        totals=totals,
    )


@np.errstate(over="ignore", invalid="ignore")  # what overflows is refused in the end
def _by_sorting(X: FloatArray, y: FloatArray, weight: FloatArray) -> Statistics:
    weight = weight[: len(X)]
    X, y, weight = X[weight > 0], y[weight > 0], weight[weight > 0]
    n_samples, n_sources = X.shape
    words, gaps = chains(X)
    kept = np.ones(gaps.shape, dtype=np.bool_)
    kept[:, :-1] = gaps[:, :-1] > tie_widths(-np.sort(-X, axis=1))
    kept &= weight[:, None] * gaps * gaps >= LEAST
    masks, place = unique_rows(words[kept])
    nodes = np.zeros(gaps.shape, dtype=np.int64)
    nodes[kept] = place
    scaled = gaps * weight[:, None]
    first, second = np.triu_indices(n_sources)
    both = kept[:, first] & kept[:, second]
    keys = _pair_keys(nodes[:, first][both], nodes[:, second][both], len(masks))
    unique, labels = np.unique(keys, return_inverse=True)
    terms = (scaled[:, first] * gaps[:, second])[both]
    totals = np.column_stack([weight, weight * y, weight * y * y])
    return Statistics(
        n_sources=n_sources,
        n_samples=n_samples,
        masks=masks,
        counts=np.bincount(place, minlength=len(masks)),
        rows=unique // max(len(masks), 1),
        columns=unique % max(len(masks), 1),
        products=_grouped(labels, _exact(terms), len(unique)),
        target_products=_grouped(place, _exact((scaled * y[:, None])[kept]), len(masks)),
        gap_sums=_grouped(place, _exact(scaled[kept]), len(masks)),
        totals=_grouped(np.tile(np.arange(3), n_samples), _exact(totals.ravel()), 3),
    )


def _exact(terms: FloatArray) -> FloatArray:
    return np.column_stack([terms, np.zeros_like(terms)])
