"""Greedy search for ordered lists of rules over conditions on ranks.

Predicates are the columns of a matrix with one row for each walk. How often two of them hold
together, by label, is one matrix product; their negations follow by inclusion and exclusion; rows
that a rule decides are taken off by the product of these rows alone. So a whole list costs about
two products of the full matrix, however many rules it has.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from choquet.arrays import BoolArray, FloatArray, IntArray
from choquet.lattice.threads import one_blas_thread

Clause: TypeAlias = tuple[tuple[int, ...], int]
"""Literals that must all hold, and the label they lead to. Literal P + p negates predicate p."""

_Matrix: TypeAlias = npt.NDArray[np.float32]

_BEAM = 48
"""Conjunctions that are kept to be made longer by one condition."""

_BUDGET = 1e10
"""Multiplications after which no further variant of the search is started (at least four are)."""

_ALL_DEFAULTS, _SOME_DEFAULTS = 8, 2
"""Up to so many labels each is tried as the default; of more, so many of the most frequent."""


@dataclass(frozen=True)
class Problem:
    """Walks by label: what a list of rules is searched for.

    Attributes
    ----------
    X : array of shape (P, n)
        Predicates by walk, walks sorted by label.
    y : array of n ints
        Labels 0..L-1, ascending.
    w : array of n floats
        Weights that sum to 1.
    n_labels : int
        L.
    max_rules, max_conditions, min_gain
        As in `find_rules`.
    """

    X: _Matrix
    y: IntArray
    w: FloatArray
    n_labels: int
    max_rules: int
    max_conditions: int
    min_gain: float

    @property
    def is_even(self) -> bool:
        """Whether all walks weigh the same."""
        return bool(np.ptp(self.w) <= 1e-12 * self.w.max())


def _columns(X: _Matrix, literals: tuple[int, ...]) -> BoolArray:
    """Walks for which all the literals hold."""
    n = len(X)
    held = np.ones(X.shape[1], dtype=np.bool_)
    for literal in literals:
        held &= (X[literal % n] > 0) == (literal < n)
    return held


def decide(coverage: list[BoolArray], labels: list[int], default: int, n: int) -> IntArray:
    """Label that an ordered list of rules, given by the rows they cover, names for each row."""
    named = np.full(n, default, dtype=np.int64)
    for covered, label in zip(reversed(coverage), reversed(labels), strict=True):
        named[covered] = label
    return named


# -- how often literals hold, by label -------------------------------------------------------------


class _Tables:
    """Sums of row weights by label: in all, where a predicate holds, where two hold together."""

    def __init__(self, problem: Problem, weights: _Matrix) -> None:
        L, P = problem.n_labels, len(problem.X)
        self.total = np.zeros(L, dtype=np.float32)
        self.single = np.zeros((L, P), dtype=np.float32)
        self.pair = np.zeros((L, P, P), dtype=np.float32)
        self.add(problem.X, problem.y, weights, 1.0)

    def copy(self) -> _Tables:
        twin = object.__new__(_Tables)
        twin.total, twin.single, twin.pair = self.total.copy(), self.single.copy(), self.pair.copy()
        return twin

    def add(self, X: _Matrix, y: IntArray, weights: _Matrix, sign: float) -> None:
        """Add (or take off) rows, which are sorted by label."""
        for label, rows in _runs(y):
            part = X[:, rows]
            scaled = part * weights[rows]
            self.total[label] += sign * weights[rows].sum()
            self.single[label] += sign * scaled.sum(axis=1)
            self.pair[label] += sign * (scaled @ part.T)

    def singles(self) -> _Matrix:
        """Sums by label for each literal: shape (L, 2 P)."""
        return np.concatenate([self.single, self.total[:, None] - self.single], axis=1)

    def pairs(self) -> _Matrix:
        """Sums by label for the pairs of literals that `_literal_pairs` lists."""
        first, second, order = _predicate_pairs(len(self.single[0]))
        both = self.pair[:, first, second]
        one, other = self.single[:, first], self.single[:, second]
        neither = self.total[:, None] - one - other + both
        found = np.concatenate([both, one - both, other - both, neither], axis=1)
        return np.asarray(found[:, order])


def _runs(y: IntArray) -> Iterator[tuple[int, slice]]:
    """Each label of an ascending array with the slice of its rows."""
    edges = np.flatnonzero(np.diff(y, prepend=-1, append=-1)).tolist()
    for start, stop in pairwise(edges):
        yield int(y[start]), slice(start, stop)


# -- one list --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Candidates:
    """Conjunctions of one length: the right label of each, and what it covers."""

    literals: IntArray
    label: IntArray
    gain: npt.NDArray[Any]
    wrong: npt.NDArray[Any]
    lift: npt.NDArray[Any]
    pure: BoolArray

    def best(self, floor: float, aim: str) -> tuple[float, Clause] | None:
        """The candidate that is worth most, the first of equals, if it is worth enough.

        The aim is the weight of "pure" ones, the "surplus" of right over wrong, or the "lift": the
        right weight less what as much weight drawn at random would hold.
        """
        worth = {
            "pure": np.where(self.pure, self.gain, -1.0),
            "surplus": self.gain - self.wrong,
            "lift": self.lift,
        }[aim]
        if not len(worth):
            return None
        at = int(np.argmax(worth >= worth.max() * (1 - 1e-6)))
        if worth[at] < floor or worth[at] <= 0:
            return None
        return float(worth[at]), (tuple(self.literals[at].tolist()), int(self.label[at]))


class _Search:
    """One greedy list: rows that no rule decides yet, and the tables of these rows."""

    def __init__(
        self, problem: Problem, tables: tuple[_Tables, _Tables], default: int | None
    ) -> None:
        self.problem, self.default = problem, default
        self.X, self.y, self.w = problem.X, problem.y, problem.w.astype(np.float32)
        self.even = tables[0] is tables[1]
        self.counts = tables[0].copy()
        self.sums = self.counts if self.even else tables[1].copy()
        self.scale = 1 / len(problem.y) if self.even else 1.0
        self.labels = np.array([k for k in range(problem.n_labels) if k != default])

    def run(self, style: str) -> list[Clause]:
        clauses: list[Clause] = []
        while len(clauses) < self.problem.max_rules and len(np.unique(self.y)) > (
            self.default is None
        ):
            if self.default is not None and (self.y == self.default).all():
                break
            clause = self.choose(style)
            if clause is None:
                break
            clauses.append(clause)
            self.take_off(_columns(self.X, clause[0]))
        return clauses

    def take_off(self, covered: BoolArray) -> None:
        X, y, w = self.X[:, covered], self.y[covered], self.w[covered]
        self.counts.add(X, y, np.ones(len(y), dtype=np.float32), -1.0)
        if not self.even:
            self.sums.add(X, y, w, -1.0)
        self.X, self.y, self.w = self.X[:, ~covered], self.y[~covered], self.w[~covered]

    def choose(self, style: str) -> Clause | None:
        """The next rule: see `best_list` for the styles."""
        floor = self.problem.min_gain
        aims = ["pure", "surplus", "lift"]
        aims = aims[1:] if style == "boldest" else aims
        found: dict[str, list[tuple[float, Clause]]] = {aim: [] for aim in aims}
        for candidates in self.lengths():
            for aim in aims:
                best = candidates.best(floor, aim)
                if best and aim == "pure" and style == "shortest":
                    return best[1]
                found[aim] += [best] if best else []
        for aim in aims:
            if found[aim]:
                # The shortest of those that are worth nearly as much as the best.
                enough = (0.5 if aim == "pure" else 0.95) * max(found[aim])[0]
                return next(clause for worth, clause in found[aim] if worth >= enough)
        return None

    def lengths(self) -> Iterator[_Candidates]:
        """Candidates of one condition, of two, and so on from the best shorter ones."""
        n = len(self.X)
        counts = self.counts.singles()
        sums = counts if self.even else self.sums.singles()
        yield self.judge(np.arange(2 * n)[:, None], counts, sums)
        if self.problem.max_conditions < 2 or n < 2:
            return
        counts = self.counts.pairs()
        sums = counts if self.even else self.sums.pairs()
        found = self.judge(_literal_pairs(n), counts, sums)
        yield found
        for _ in range(2, min(self.problem.max_conditions, n)):
            found = self.extend(found)
            yield found

    def judge(self, literals: IntArray, counts: _Matrix, sums: _Matrix) -> _Candidates:
        """Right and wrong weight of conjunctions from their sums by label."""
        # The first of equals, as everywhere.
        label = self.labels[sums[self.labels].argmax(axis=0)]
        right = np.take_along_axis(sums, label[None], axis=0)[0]
        covered = sums.sum(axis=0)
        prior = self.sums.total / max(float(self.sums.total.sum()), 1e-30)
        # A rule that is right less often than the default would be is no gain, whatever its lift.
        usual = self.default if self.default is not None else int(prior.round(6).argmax())
        lift = np.where(right > sums[usual], right - covered * prior[label], 0.0)
        # Counts are whole numbers, exact in float32: weights would leave rounding errors.
        own = right if self.even else np.take_along_axis(counts, label[None], axis=0)[0]
        pure = ((covered if self.even else counts.sum(axis=0)) == own) & (own > 0)
        c = self.scale
        return _Candidates(literals, label, c * right, c * (covered - right), c * lift, pure)

    def extend(self, shorter: _Candidates) -> _Candidates:
        """The most promising impure conjunctions, each with every further literal."""
        n = len(self.X)
        worth = np.where(shorter.pure, -1.0, shorter.lift)
        beam = np.argpartition(-worth, min(_BEAM, len(worth)) - 1)[:_BEAM]
        beam = beam[np.lexsort((beam, -worth[beam]))]
        stems = shorter.literals[beam]
        held = _held(self.X, stems[:, 0])
        for column in stems.T[1:]:
            held *= _held(self.X, column)
        counts = self._held_with(held)
        sums = counts if self.even else self._held_with(held * self.w)
        literals = np.concatenate(
            [np.repeat(stems, 2 * n, axis=0), np.tile(np.arange(2 * n), len(stems))[:, None]],
            axis=1,
        )
        new = (literals[:, :-1] % n != literals[:, -1:] % n).all(axis=1)
        counts = counts[:, new]
        return self.judge(literals[new], counts, counts if self.even else sums[:, new])

    def _held_with(self, held: _Matrix) -> _Matrix:
        """By label: sums of the weights `held` over the rows where each literal holds, flat."""
        n = len(self.X)
        found = np.zeros((self.problem.n_labels, len(held), 2 * n), dtype=np.float32)
        for label, rows in _runs(self.y):
            part = held[:, rows] @ self.X[:, rows].T
            found[label, :, :n] = part
            found[label, :, n:] = held[:, rows].sum(axis=1)[:, None] - part
        return found.reshape(len(found), -1)


def _held(X: _Matrix, literals: IntArray) -> _Matrix:
    """Whether each literal holds, by walk."""
    n = len(X)
    rows = X[literals % n]
    rows[literals >= n] = 1 - rows[literals >= n]
    return rows


@lru_cache(maxsize=4)
def _predicate_pairs(n_predicates: int) -> tuple[IntArray, IntArray, IntArray]:
    """Pairs of predicates, and where `_literal_pairs` are among their four kinds of pairs.

    The kinds are: both hold, only the first, only the second, neither.
    """
    n = n_predicates
    first, second = np.triu_indices(n, 1)
    kinds = [(first, second), (first, second + n), (second, first + n), (first + n, second + n)]
    table = np.empty((2 * n, 2 * n), dtype=np.int64)
    for number, (a, b) in enumerate(kinds):
        table[a, b] = number * len(first) + np.arange(len(first))
    literals = _literal_pairs(n)
    return first, second, table[literals[:, 0], literals[:, 1]]


@lru_cache(maxsize=4)
def _literal_pairs(n_predicates: int) -> IntArray:
    """All pairs of literals of different predicates, the smaller number first."""
    first, second = np.triu_indices(2 * n_predicates, 1)
    keep = second != first + n_predicates
    return np.stack([first[keep], second[keep]], axis=1)


# -- the best list ---------------------------------------------------------------------------------


@one_blas_thread()
def best_list(problem: Problem) -> tuple[list[Clause], int]:
    """Clauses in order and a default label: the most faithful list, then the shortest.

    Lists are grown with every label as the default (of many, the most frequent), and with none
    (any label may be named, and the default is the best for what remains), in three styles.
    "Shortest" takes the shortest conjunction that is pure, "largest" also longer ones that decide
    much more, and "boldest" the largest surplus of right over wrong walks, pure or not.
    """
    ones = np.ones(len(problem.y), dtype=np.float32)
    counts = _Tables(problem, ones)
    even = problem.is_even
    sums = counts if even else _Tables(problem, problem.w.astype(np.float32))
    shares = np.bincount(problem.y, weights=problem.w, minlength=problem.n_labels)
    # Rounding keeps the order of equal shares from hanging on the last bit of a sum.
    frequent: list[int | None] = np.argsort(-shares.round(12), kind="stable").tolist()
    if len(frequent) > _ALL_DEFAULTS:
        frequent = frequent[:_SOME_DEFAULTS]
    variants = [(d, "shortest") for d in (frequent[0], None)]
    variants += [(d, "boldest") for d in (None, *frequent)]
    variants += [(d, "shortest") for d in frequent[1:]]
    variants += [(d, "largest") for d in (None, *frequent)]
    effort = 4 * float(len(problem.X)) ** 2 * len(problem.y)
    best: tuple[tuple[float, int, int], list[Clause], int] | None = None
    for default, style in variants[: max(4, int(_BUDGET / max(effort, 1.0)))]:
        grown = _Search(problem, (counts, sums), default).run(style)
        clauses, last, fidelity = _prune(problem, grown, default)
        length = sum(len(literals) for literals, _ in clauses)
        # Of equally long lists, the one with fewer negations reads better.
        negated = sum(q >= len(problem.X) for literals, _ in clauses for q in literals)
        score = (-round(fidelity, 9), length, negated)
        if best is None or score < best[0]:
            best = (score, clauses, last)
        if best[0] == (-1.0, problem.n_labels - 1, 0):
            break  # one condition for each label but the default: nothing is shorter
    assert best is not None
    return best[1], best[2]


def _prune(
    problem: Problem, clauses: list[Clause], default: int | None
) -> tuple[list[Clause], int, float]:
    """Drop rules, then conditions, that the fidelity can do without, from the last to the first."""
    X, y, w = problem.X, problem.y, problem.w
    kept = list(clauses)
    coverage = [_columns(X, literals) for literals, _ in kept]
    if default is None:
        left = ~np.any(coverage, axis=0) if coverage else np.ones(len(y), dtype=np.bool_)
        shares = np.bincount(y, weights=w * (left if left.any() else 1), minlength=problem.n_labels)
        default = int(shares.round(12).argmax())

    def fidelity(covered: list[BoolArray], rules: list[Clause]) -> float:
        return float(w @ (decide(covered, [k for _, k in rules], default, len(y)) == y))

    best = fidelity(coverage, kept)
    for at in reversed(range(len(kept))):
        fewer = kept[:at] + kept[at + 1 :]
        value = fidelity(coverage[:at] + coverage[at + 1 :], fewer)
        if value >= best - 1e-12:
            kept, best = fewer, max(best, value)
            del coverage[at]
    for at in reversed(range(len(kept))):
        for literal in reversed(kept[at][0]):
            shorter = tuple(q for q in kept[at][0] if q != literal)
            if not shorter:
                continue
            trial = [*coverage[:at], _columns(X, shorter), *coverage[at + 1 :]]
            value = fidelity(trial, kept)
            if value >= best - 1e-12:
                kept[at] = (shorter, kept[at][1])
                coverage, best = trial, max(best, value)
    return kept, default, best
