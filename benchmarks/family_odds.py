"""Two numbers of `ChoquetRegressorCV` tried: a hedge of fits, and the share of the criterion.

A fit that happens to use few numbers happens to leave little error too, so the numbers that it used
say less than they should: `choquet.certainty.posterior` takes `HEDGE` times as many; Meyer and
Woodroofe place such a factor between 1 and 2 for monotone regression. The share of the
criterion in the weights, `SHARE`, follows from a proof. This script says what others would give.
For every data set the measures that stand for the families are worked out once; a choice of the two
then costs no more than a weighted sum. Data sets are those of `off_grid_table.py`, and noisy ones
of `learning_grid.py`, with seeds of their own.

Run ``python benchmarks/family_odds.py --cells DIRECTORY``: each data set leaves one small file, so
a run can be stopped and taken up again, and several can share the work. ``--show`` only reads them.

``--numbers 10`` counts how many numbers fits use, in so many data sets for each kind of truth: the
covariance of a fit with the noise in units of its variance, which is what the error on rows that
were seen is short of that on others by half. It stands beside the numbers that the library takes.
"""

from __future__ import annotations

import argparse
import itertools
import json
import warnings
from pathlib import Path

import learning_grid
import numpy as np
import off_grid_table
from off_grid_table import KNOWN, LIMIT, MOST, path_of

import choquet
from choquet.certainty import posterior as rules
from choquet.certainty.functions import output_rows
from choquet.errors import SolverWarning
from choquet.files import write_whole
from choquet.learning import FAMILIES, Statistics

HEDGES = (1.0, 1.25, 1.5, 2.0, 3.0)
SHARES = (0.5, 0.75, 1.0)
FIRST_SEED, NUMBERS_SEED = 70_000, 78_000


def data_set(n, m, setting, kind, seed):
    """Data sets of both tables: those of the first grid have "grid" and the noise as a setting."""
    if not setting.startswith("grid"):
        return off_grid_table.data_set(n, m, setting, kind, seed)
    rng = np.random.default_rng(seed)
    g = learning_grid.truth(kind, n, rng)
    X, fresh = rng.random((m, n)), rng.random((5000, n))
    y = choquet.choquet_integral(g, X) + float(setting[4:]) * rng.standard_normal(m)
    return X, y, Statistics.from_data(fresh, choquet.choquet_integral(g, fresh))


def trial(n, m, setting, kind, seed):
    """All that a choice needs of one data set: errors, numbers used, forms of the test error."""
    X, y, test = data_set(n, m, setting, kind, seed)
    statistics = Statistics.from_data(X, y)
    names, fits, found = [], [], []
    for k, name in enumerate(FAMILIES):
        those = rules.believed(statistics, name, rng=[seed, k])
        names += [name] * len(those)
        fits += [False] * (len(those) - 1) + [True]
        found += those
    values = np.array([one.values for one in found])
    seen = values[:, test.positions]
    hedge = np.where(fits, rules.HEDGE, 1.0)
    errors = [statistics.squared_error(one) + rules.noise_floor(statistics) for one in values]
    return {
        "names": names,
        "fits": fits,
        "errors": errors,
        "numbers": (np.array([one.n_effective for one in found]) / hedge).tolist(),
        "weight": statistics.weight,
        "n_sources": n,
        "square": (seen @ (test.gram @ seen.T) / test.weight).tolist(),
        "linear": (seen @ test.targets / test.weight).tolist(),
        "constant": test.target_square / test.weight,
    }


def square_of(one, hedge, share):
    """Mean squared error of the average on a data set."""
    numbers = np.array(one["numbers"]) * np.where(one["fits"], hedge, 1.0)
    odds = rules.log_odds(one["names"], one["n_sources"])
    # The share is a constant of the library: odds and criterion are scaled instead.
    scale = share / rules.SHARE
    w = rules.weigh(np.array(one["errors"]), numbers, one["weight"], odds / scale) ** scale
    w = w / w.sum()
    error = w @ np.array(one["square"]) @ w - 2 * w @ np.array(one["linear"]) + one["constant"]
    return max(float(error), 0.0)


def ratio_of(rows, *choice):
    """Error of the average over that of the best of the five known fits."""
    own = np.sqrt(np.mean([square_of(one, *choice) for one in rows]))
    best = np.inf
    for name in KNOWN:
        squares = []
        for one in rows:
            k = next(k for k, of in enumerate(one["names"]) if of == name and one["fits"][k])
            squares.append(one["square"][k][k] - 2 * one["linear"][k] + one["constant"])
        best = min(best, np.sqrt(max(np.mean(squares), 0.0)))
    return max(own, learning_grid.SMALL) / max(best, learning_grid.SMALL)


def show(cells):
    print("hedge share | off the grid: mean  above limits  largest | grid: the same")
    for choice in itertools.product(HEDGES, SHARES):
        ratios = {key: ratio_of(rows, *choice) for key, rows in cells.items()}
        text = f"{choice[0]:5.2f} {choice[1]:5.2f} |"
        for of_grid in (False, True):
            own = [r for key, r in ratios.items() if key[2].startswith("grid") == of_grid]
            own = np.array(own or [np.nan])
            text += f" {own.mean():.3f} {(own > LIMIT).sum():3d} {(own > MOST).sum():3d}"
            text += f" {own.max():.2f} of {len(own)} |"
        print(text, flush=True)


def numbers(n, m, sets):
    """Numbers that fits use, and those that the library takes before its hedge."""
    print(f"{n} sources, {m} rows: used, standard error, taken, used / taken")
    found = {name: [] for name in FAMILIES}
    for seed, kind in itertools.product(range(sets), off_grid_table.TRUTHS):
        g, rng = off_grid_table.truth_of(n, m, "plain", kind, NUMBERS_SEED + seed)
        outputs, noise = output_rows(X := rng.random((m, n))), off_grid_table.normal(m, rng)
        y = outputs @ g.values
        # Noise and its mirror image: what does not depend on the noise drops out.
        for name, sign in itertools.product(FAMILIES, (1, -1)):
            fit = rules.fitted(Statistics.from_data(X, y + sign * noise), name)
            used = sign * noise @ (outputs @ fit.values) / off_grid_table.SIGMA**2
            found[name].append((used, fit.n_effective / rules.HEDGE))
    for name, rows in found.items():
        rows = np.array(rows).reshape(-1, 2, 2).mean(axis=1)
        (used, taken), error = rows.mean(axis=0), rows[:, 0].std() / len(rows) ** 0.5
        print(f"{name:14s} {used:5.1f} {error:5.1f} {taken:5.1f} {used / taken:5.2f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--cells", type=Path, help="directory of results")
    what.add_argument("--numbers", type=int, metavar="SETS", help="count numbers that fits use")
    parser.add_argument("--sources", type=int, nargs="*", default=[5, 7])
    parser.add_argument("--sets", type=int, default=6, help="data sets a cell")
    parser.add_argument("--show", action="store_true", help="run nothing")
    options = parser.parse_args()
    warnings.simplefilter("ignore", SolverWarning)
    if options.numbers is not None:
        for n, m in itertools.product(options.sources, off_grid_table.SAMPLES[:2]):
            numbers(n, m, options.numbers)
        return
    options.cells.mkdir(parents=True, exist_ok=True)
    keys = off_grid_table.cells(options.sources, off_grid_table.SAMPLES, off_grid_table.TRUTHS)
    keys += itertools.product(
        options.sources, (100, 1000), ("grid0.05", "grid0.2"), learning_grid.TRUTHS
    )
    cells = {}
    for seed, key in itertools.product(range(FIRST_SEED, FIRST_SEED + options.sets), keys):
        path = path_of(options.cells, key, seed)
        if not path.exists() and not options.show:
            write_whole(path, json.dumps(trial(*key, seed)).encode(), overwrite=True)
        if path.exists():
            cells.setdefault(key, []).append(json.loads(path.read_text(encoding="utf-8")))
    print(f"{sum(map(len, cells.values()))} data sets in {len(cells)} cells")
    show(cells)


if __name__ == "__main__":
    main()
