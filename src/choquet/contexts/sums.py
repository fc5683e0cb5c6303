"""Products of rows and their answers to all questions, kept side by side while they are few.

The statistics of a node and of every split of it are then two products of matrices. A walk stands
for as many rows as there are sources, which share all answers: their products are kept as one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from choquet.arrays import FloatArray, IntArray

_MOST = 4_000_000
"""Numbers that are kept at most, 32 MB; beyond, rows are gone through one after the other."""


@dataclass(frozen=True, eq=False)
class Sums:
    """What each unit adds to the statistics of a node, and which splits it is on the yes side of.

    Attributes
    ----------
    products : array of shape (n_units, n_products)
        Upper triangle of the products of each unit, in one vector.
    answers : array of shape (n_units, n_questions)
        1 where the answer is yes.
    source, top, above : arrays of ints
        The question: is the rank of a source below `top`, or below that of `above`? -1 where the
        question does not ask for it.
    value : array of floats
        Or: is its input at least this? NaN where it is not asked for.
    each : int
        Rows of a unit, one after the other.
    """

    products: FloatArray
    answers: FloatArray
    source: IntArray
    top: IntArray
    above: IntArray
    value: FloatArray
    each: int

    def node(self, index: IntArray, weight: FloatArray) -> FloatArray:
        """Statistics of some rows; `weight` holds what each of all rows counts."""
        first = index[:: self.each]
        found: FloatArray = weight[first] @ self.products[first // self.each]
        return found

    def questions(
        self, index: IntArray, weight: FloatArray, count: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Statistics and counts of the rows on the yes side of each question."""
        first = index[:: self.each]
        units = first // self.each
        yes = self.answers[units]
        sums = (yes * weight[first, None]).T @ self.products[units]
        return sums, np.asarray(self.each * (count[first] @ yes))


def sums_of(
    Z: FloatArray, asked: npt.NDArray[np.int16], cuts: tuple[FloatArray, ...], each: int
) -> Sums | None:
    """Products and answers of rows; None where they are too many to be kept.

    Parameters
    ----------
    Z, asked, cuts : arrays
        As in `RankRows`.
    each : int
        Rows that share their answers, one after the other.

    Examples
    --------
    >>> import numpy as np
    >>> ranks = np.array([[1, 0], [0, 1]], dtype=np.int16)
    >>> sums_of(np.ones((2, 3)), ranks, (), 1).answers.tolist()
    [[0.0, 1.0, 0.0], [1.0, 0.0, 1.0]]
    """
    n, width = asked.shape[1] // (2 if cuts else 1), Z.shape[1]
    n_units = len(Z) // each
    n_questions = n * (n - 1) * 3 // 2 + sum(len(own) for own in cuts)
    if n_units * (width * (width + 1) // 2 + n_questions) > _MOST:
        return None
    parts = Z.reshape(n_units, each, width)
    full = parts.transpose(0, 2, 1) @ parts
    asked = asked[::each]
    tops = [(i, t) for i in range(n) for t in range(1, n)]
    values = [(i, k) for i, own in enumerate(cuts) for k in range(len(own))]
    pairs = [(i, j) for i in range(n) for j in range(i + 1, n)]
    answers = [
        *(asked[:, i] < t for i, t in tops),
        *(asked[:, n + i] <= k for i, k in values),
        *(asked[:, i] < asked[:, j] for i, j in pairs),
    ]
    blank = [-1] * len(answers)
    first, last = slice(len(tops)), slice(len(tops) + len(values), None)
    top, above, value = np.array(blank), np.array(blank), np.full(len(blank), np.nan)
    top[first], above[last] = [t for _, t in tops], [j for _, j in pairs]
    value[len(tops) : len(tops) + len(values)] = [cuts[i][k] for i, k in values]
    source = np.array([i for i, _ in (*tops, *values, *pairs)], dtype=np.int64)
    held = np.zeros((n_units, len(answers)))
    for k, answer in enumerate(answers):
        held[:, k] = answer
    places = np.triu_indices(width)
    return Sums(full[:, places[0], places[1]], held, source, top, above, value, each)
