"""A source as a term sees it: knots with ways between them, and slots that stand alone.

A number or an ordered category lies between two knots; an unordered category, and a missing value
that was seen in training, lies in a slot. A position is a cell and how far in the cell a row is.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from choquet.arrays import BoolArray, FloatArray, IntArray
from choquet.lattice.lazy import linalg
from choquet.scales import figure

FAR = 100.0
"""Widths of the knots beyond which a number is no farther outside."""

_CHANCE = 0.461 / (1 / 6)
"""Quantile of 95 % of the statistic of Cramér and von Mises, in units of its mean."""


@dataclass(frozen=True)
class Source:
    """What is known of a column before any term is made.

    Attributes
    ----------
    name : str
    kind : {"number", "ordered", "nominal"}
        Ordered and nominal columns hold the numbers of their levels, counted from zero.
    levels : tuple
        The categories, in order; empty for numbers.
    missing : bool
        Whether training rows without a value were seen.
    """

    name: str
    kind: str = "number"
    levels: tuple[object, ...] = ()
    missing: bool = False


@dataclass(frozen=True, eq=False)
class Axis:
    """Knots and slots of one source.

    Examples
    --------
    >>> axis = Axis(np.array([0.0, 1.0, 4.0]), 0, True)
    >>> cell, position, known = axis.place(np.array([0.5, 2.5, 9.0, np.nan]))
    >>> cell, position
    (array([0, 1, 1, 3]), array([0.5, 0.5, 1. , 0. ]))
    """

    knots: FloatArray
    n_levels: int
    missing: bool

    @property
    def size(self) -> int:
        """Number of knots and slots."""
        return len(self.knots) + self.n_levels + self.missing

    def words(self, k: int) -> str:
        """A knot as people write it.

        Examples
        --------
        >>> axis = Axis(np.array([0.001503, 2.4, 4.98612]), 0, False)
        >>> axis.words(0), axis.words(2)
        ('0', '4.99')
        """
        return self.told(float(self.knots[k]))

    def told(self, x: float) -> str:
        """A number of the source as people write it: to a thousandth of the width, about.

        Whole numbers of up to seven digits, which may be codes, are told in full.

        Examples
        --------
        >>> Axis(np.array([10115.0, 80331.5]), 0, False).told(20095.0)
        '20,095'
        """
        width = float(self.knots[-1] - self.knots[0])
        whole = round(x) if abs(x) < 1e7 else 0
        if whole and abs(x - whole) <= 1e-9 * max(width, 1.0):
            return figure(float(whole), 7)
        if width <= 0:
            return figure(x, 4)
        step = 10.0 ** (np.floor(np.log10(width)) - 2)
        return figure(float(np.round(x / step) * step), 9)

    def knot_at(self, x: float) -> int | None:
        """The knot that a number is on, if any.

        Examples
        --------
        >>> axis = Axis(np.array([0.0, 1.0, 4.0]), 0, False)
        >>> axis.knot_at(1.0), axis.knot_at(2.0)
        (1, None)
        """
        if not self._n:
            return None
        k = int(np.argmin(np.abs(self.knots - x)))
        near = 1e-9 * max(float(self.knots[-1] - self.knots[0]), 1e-300)
        return k if abs(self.knots[k] - x) <= near else None

    def place(self, x: FloatArray) -> tuple[IntArray, FloatArray, BoolArray]:
        """Cell, position in it, and whether the axis knows the value at all."""
        absent = np.isnan(x)
        known = ~absent | self.missing
        if self.n_levels:
            inside = ~absent & (x >= 0) & (x < self.n_levels)
            known = inside | (absent & self.missing)
            cell = np.where(inside, x, 0.0).astype(np.int64)
            position = np.zeros(len(x))
        else:
            z = np.interp(np.where(absent, self.knots[0], x), self.knots, np.arange(self._n))
            cell = np.minimum(z.astype(np.int64), max(self._n - 2, 0))
            position = z - cell
        if self.missing:
            cell[absent], position[absent] = self.size - 1, 0.0
        return cell, position, known

    def beyond(self, x: FloatArray) -> FloatArray:
        """How far numbers are outside of the knots, negative below them; zero for levels.

        A hundred times the width of the knots is as far as it goes: squares stay numbers.

        Examples
        --------
        >>> Axis(np.array([0.0, 1.0, 4.0]), 0, True).beyond(np.array([-0.5, 2.5, 9.0, np.nan]))
        array([-0.5,  0. ,  5. ,  0. ])
        """
        if not self._n:
            return np.zeros(len(x))
        width = self.knots[-1] - self.knots[0]
        found = np.clip(x - np.clip(x, self.knots[0], self.knots[-1]), -FAR * width, FAR * width)
        near = np.abs(found) <= 1e-9 * width  # knots are found to 48 bits
        return np.asarray(np.where(np.isnan(x) | near, 0.0, found))

    @property
    def _n(self) -> int:
        return len(self.knots)

    def shares(self, x: FloatArray, weight: FloatArray) -> FloatArray:
        """Weight of the rows at each knot and slot."""
        cell, position, known = self.place(x)
        weight = weight * known
        out = np.bincount(cell, weight * (1 - position), self.size)
        upper = np.minimum(cell + 1, self.size - 1)
        return np.asarray(out + np.bincount(upper, weight * position, self.size))


@dataclass(frozen=True, eq=False)
class Margin:
    """Contrasts of an axis in coordinates where both penalties are diagonal.

    Attributes
    ----------
    basis : array of shape (size, size - 1)
        Each column has mean zero over the training rows.
    rough : array of shape (size - 1,)
        Curvature of each column; its first difference is one. Zero where there is none.
    """

    basis: FloatArray
    rough: FloatArray


def margin_of(axis: Axis, shares: FloatArray, ranks: float = 0.5) -> Margin:
    """Contrasts and curvature of an axis, given the weight of the rows at its knots and slots.

    Distances between knots are in units and in ranks; `ranks` is the share of the latter. Without
    it a utility that has no curvature is a straight line in the units of the source. The share is
    less where the rows hardly tell ranks from units.

    First differences (on knots) and distances from the mean (in slots) have the sum of squares one;
    curvatures are diagonal in the same coordinates, so a penalty on both is diagonal too.

    Examples
    --------
    >>> margin = margin_of(Axis(np.arange(4.0), 0, False), np.ones(4))
    >>> margin.basis.shape, bool((abs(margin.basis.sum(axis=0)) < 1e-9).all())
    ((4, 3), True)
    """
    size, knots = axis.size, axis.knots
    share = shares / max(shares.sum(), 1e-300) + 1e-3
    first, second = np.zeros((size, size)), np.zeros((size, size))
    n = len(knots)
    if n > 1:
        steps = np.diff(knots) / (knots[-1] - knots[0])
        ranks *= _told(steps, float(shares[:n].sum()))
        h = (1 - ranks) * steps + ranks / (n - 1)
        d = np.diff(np.eye(n), axis=0)
        D1 = d / np.sqrt(h)[:, None]
        first[:n, :n] = D1.T @ D1
        if n > 2:
            D2 = np.diff(d / h[:, None], axis=0) / np.sqrt((h[1:] + h[:-1]) / 2)[:, None]
            second[:n, :n] = D2.T @ D2
    slots = np.arange(n, size)
    first[slots, slots] = max(np.trace(first) / max(n, 1), 1.0)
    contrast = np.linalg.qr(np.column_stack([share, np.eye(size)]))[0][:, 1:size]
    A, B = contrast.T @ first @ contrast, contrast.T @ second @ contrast
    A *= len(A) / np.trace(A)
    if np.trace(B) > 0:
        B *= len(B) / np.trace(B)
    rough, coordinates = linalg.eigh(B, A)
    return Margin(contrast @ coordinates, np.where(rough > 1e-9 * rough.max(), rough, 0.0))


def _told(steps: FloatArray, weight: float) -> float:
    """How much of the way from units to ranks the rows tell, from 0 to 1.

    Knots are quantiles of so many rows. Those of even rows lie off even places by chance, with
    variance q (1 - q) / rows each. Up to what one of twenty even sources exceeds it is taken for
    chance; beyond, the share of it falls with the square, so that uneven sources lose next to
    nothing.

    References
    ----------
    Anderson & Darling (1952), "Asymptotic theory of certain goodness of fit criteria", for that
    quantile (of the statistic of Cramér and von Mises).

    Examples
    --------
    >>> _told(np.array([0.26, 0.24, 0.25, 0.25]), 100.0), _told(np.array([0.7, 0.1, 0.1, 0.1]), 1e9)
    (0.0, 1.0)
    """
    even = np.arange(1, len(steps)) / len(steps)
    off = float(((np.cumsum(steps)[:-1] - even) ** 2).sum())
    chance = _CHANCE * float((even * (1 - even)).sum()) / max(weight, 1.0)
    return round(1 - (chance / off) ** 2, 6) if off > chance else 0.0
