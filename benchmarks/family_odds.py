"""The odds of families and the share of the criterion in `ChoquetRegressorCV`, found by trial.

13 numbers: the share, and three odds (see `choquet.learning.families.Odds`) for each family; those
of 2-additive measures are zero, since only differences count. Data sets are those of
`learning_grid.py` with noise, with seeds of their own. For each the means over the families are
worked out once; a choice of the numbers then costs no more than a weighted sum. The search wants
the least expected number of cells in which the average is more than 5 % worse than the best of four
fits, and among equal choices the least mean ratio; then it rounds to halves.

Run ``python benchmarks/family_odds.py --cells DIRECTORY``: each data set leaves one small file, so
a run can be stopped and taken up again, and several can share the work. The full run has 7248 data
sets. A smaller one, of some minutes, shows how it goes::

    python benchmarks/family_odds.py --cells /tmp/odds --sources 4 6 --samples 100 1000 --sets 6
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import warnings
from pathlib import Path

import numpy as np
from learning_grid import FITS, LIMIT, SAMPLES, SMALL, TRUTHS, path_of, truth

import choquet
from choquet.certainty.posterior import SHARE, place_of, posterior
from choquet.errors import SolverWarning
from choquet.files import write_whole
from choquet.learning import FAMILIES, Statistics
from choquet.learning.families.candidates import fit_candidate

SETS = {4: (240, 120, 120), 6: (120, 60, 60), 8: (60, 24, 24), 10: (30, 12, 12), 12: (12, 6, 6)}
NOISE = (0.05, 0.2)
FIRST_SEED = 5000
FIXED = "2-additive"
"""The family whose odds are zero."""
MOST = 6.0
"""Odds of families further apart than this, in logarithms, would leave nothing to the data."""
FREE = [name for name in FAMILIES if name != FIXED]


def trial(n, m, sigma, kind, seed):
    """All that a choice needs of one data set: forms of the error in the weights of families."""
    rng = np.random.default_rng(seed)
    g = truth(kind, n, rng)
    X, fresh = rng.random((m, n)), rng.random((5000, n))
    y = choquet.choquet_integral(g, X) + sigma * rng.standard_normal(m)
    test = Statistics.from_data(fresh, choquet.choquet_integral(g, fresh))
    statistics = Statistics.from_data(X, y)
    found = [posterior(statistics, name, rng=[seed, k]) for k, name in enumerate(FAMILIES)]
    values = np.array([one.values[test.positions] for one in found])
    # Weights sum to 1, so the error is a form in the errors of the means alone.
    fits = [fit_candidate(statistics, candidate).dense for candidate in FITS.values()]
    return {
        "predictive": [one.predictive for one in found],
        "place": place_of(statistics, found).tolist(),
        "square": (values @ (test.gram @ values.T) / test.weight).tolist(),
        "linear": (values @ test.targets / test.weight).tolist(),
        "constant": test.target_square / test.weight,
        "fits": [test.squared_error(fit) / test.weight for fit in fits],
    }


class Cells:
    """Data sets by cell, and how good a choice of the 13 numbers is on them."""

    def __init__(self, rows):
        keys = sorted(rows)
        every = [one for key in keys for one in rows[key]]
        self.starts = np.cumsum([0, *(len(rows[key]) for key in keys)])
        self.keys = keys
        names = ("predictive", "place", "square", "linear", "constant", "fits")
        self.data = {name: np.array([one[name] for one in every]) for name in names}

    def squares(self, choice):
        """Mean squared error of the average on each data set."""
        share, odds = choice[0], np.zeros((len(FAMILIES), 3))
        odds[[list(FAMILIES).index(name) for name in FREE]] = choice[1:].reshape(-1, 3)
        score = share * self.data["predictive"] + self.data["place"] @ odds.T
        weights = np.exp(score - score.max(axis=1, keepdims=True))
        weights /= weights.sum(axis=1, keepdims=True)
        error = np.einsum("ij,ijk,ik->i", weights, self.data["square"], weights)
        error += self.data["constant"] - 2 * (weights * self.data["linear"]).sum(axis=1)
        return np.maximum(error, 0.0)

    def ratios(self, choice):
        """Ratio of each cell and its standard error, by leaving out each data set in turn."""
        squares = np.column_stack([self.data["fits"], self.squares(choice)])
        found = []
        for first, last in itertools.pairwise(self.starts):
            own, n = squares[first:last], last - first
            total = own.sum(axis=0)
            left = _ratio((total - own) / (n - 1)) if n > 1 else np.array([0.0, 1.0])
            spread = np.sqrt((n - 1) / n * ((left - left.mean()) ** 2).sum()) if n > 1 else 1.0
            found.append((float(_ratio(total[None] / n)[0]), float(spread)))
        return np.array(found)

    def price(self, choice):
        """Expected number of cells outside, and a little of the mean ratio."""
        ratios = self.ratios(choice)
        far = (ratios[:, 0] - LIMIT) / np.maximum(ratios[:, 1], 0.005)
        outside = sum(0.5 * math.erfc(-one / math.sqrt(2)) for one in far)
        return outside + 0.1 * float(ratios[:, 0].mean())


def _ratio(squares):
    errors = np.maximum(np.sqrt(np.maximum(squares, 0.0)), SMALL)
    return errors[:, -1] / errors[:, :-1].min(axis=1)


def search(cells, start):
    """Coordinates one after another, with steps that shrink from 2 to 1/8; a share is at most 1."""
    highest = np.append(1.0, np.full(3 * len(FREE), MOST))
    lowest = np.append(0.0, -highest[1:])
    choice, best = np.array(start, dtype=float), cells.price(start)
    step = 2.0
    while step >= 0.125:
        moved = False
        for k, sign in itertools.product(range(len(choice)), (1, -1)):
            trial = choice.copy()
            trial[k] += sign * step * (0.1 if k == 0 else 1.0)
            trial = np.clip(trial, lowest, highest)
            if (price := cells.price(trial)) < best - 1e-9:
                choice, best, moved = trial, price, True
        step = step if moved else step / 2
    return choice


def rounded(choice):
    return np.append(np.round(20 * choice[0]) / 20, np.round(2 * choice[1:]) / 2)


def table_now():
    """The numbers that the library has."""
    base = np.array(FAMILIES[FIXED].odds)
    return np.append(SHARE, np.concatenate([np.array(FAMILIES[name].odds) - base for name in FREE]))


def show(title, cells, choice):
    ratios = cells.ratios(choice)[:, 0]
    print(f"\n{title}: share {choice[0]:.2f}, price {cells.price(choice):.3f}, "
          f"{(ratios > LIMIT).sum()} of {len(ratios)} cells outside, largest ratio "
          f"{ratios.max():.3f}, mean {ratios.mean():.3f}")  # fmt: skip
    for name, odds in zip(FREE, choice[1:].reshape(-1, 3), strict=True):
        print(f"  {name:<10} usual {odds[0]:5.1f}  doubling {odds[1]:5.1f}  tenfold {odds[2]:5.1f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cells", type=Path, required=True, help="directory of results")
    parser.add_argument("--sources", type=int, nargs="*", default=list(SETS))
    parser.add_argument("--samples", type=int, nargs="*", default=list(SAMPLES))
    parser.add_argument("--sets", type=int, help="data sets a cell, in place of the full number")
    options = parser.parse_args()
    options.cells.mkdir(parents=True, exist_ok=True)
    warnings.simplefilter("ignore", SolverWarning)
    rows = {}
    for key in itertools.product(options.sources, options.samples, NOISE, TRUTHS):
        count = options.sets or SETS[key[0]][SAMPLES.index(key[1])]
        for seed in range(FIRST_SEED, FIRST_SEED + count):
            path = path_of(options.cells, key, seed)
            if not path.exists():
                write_whole(path, json.dumps(trial(*key, seed)).encode(), overwrite=True)
            rows.setdefault(key, []).append(json.loads(path.read_text(encoding="utf-8")))
    cells = Cells(rows)
    print(f"{len(cells.data['fits'])} data sets in {len(cells.keys)} cells")
    show("In the library", cells, table_now())
    found = search(cells, np.append(0.5, np.zeros(3 * len(FREE))))
    show("Found from nothing", cells, rounded(found))
    again = search(cells, table_now())
    show("Found from those in the library", cells, rounded(again))


if __name__ == "__main__":
    main()
