"""Accuracy of `ChoquetRegressorCV` against simple fits on a grid, as a table in the docs.

Run ``python benchmarks/learning_grid.py --seconds 600``: cells come in a fixed shuffled order until
the time is up, and docs/learning-grid.md says which were run.
"""

from __future__ import annotations

import argparse
import itertools
import time
import warnings
from pathlib import Path

import numpy as np

import choquet
from choquet.errors import SolverWarning
from choquet.lattice import upward_maximum
from choquet.learning import Statistics
from choquet.learning.estimators import ChoquetRegressorCV
from choquet.learning.selection import Candidate, fit_candidate

SOURCES = (4, 6, 8, 10, 12)
SAMPLES = (100, 1000, 10_000)
NOISE = (0.0, 0.05, 0.2)
TRUTHS = ("random", "2-additive", "symmetric", "lambda")
FITS = {
    "full": Candidate(),
    "2-additive": Candidate("2-additive", np.inf),
    "symmetric": Candidate("symmetric", np.inf),
    "lambda": Candidate("lambda", np.inf),
}
SMALL = 1e-4
"""Errors below this count as none."""
OUTPUT = Path(__file__).parents[1] / "docs" / "learning-grid.md"


def truth(kind, n, rng):
    if kind == "random":
        return choquet.Measure.random(n, rng=rng)
    if kind == "symmetric":
        return choquet.Measure.symmetric(rng.dirichlet(np.ones(n)))
    if kind == "lambda":
        return choquet.Measure.sugeno_lambda(rng.uniform(0.05, 0.95, n) * rng.uniform(0.3, 3.0) / n)
    # Half a mean, half a mixture of minima and maxima of pairs: monotone and 2-additive.
    inside = ((np.arange(1 << n)[:, None] >> np.arange(n)) & 1).astype(np.float64)
    pairs = list(itertools.combinations(range(n), 2))
    low, high = rng.dirichlet(np.ones(2 * len(pairs))).reshape(2, -1)
    g = 0.5 * inside @ rng.dirichlet(np.ones(n))
    for k, (i, j) in enumerate(pairs):
        g += 0.5 * low[k] * inside[:, i] * inside[:, j]
        g += 0.5 * high[k] * np.maximum(inside[:, i], inside[:, j])
    g[-1] = 1.0
    return choquet.Measure(upward_maximum(np.minimum(g, 1.0)))


def cell(n, m, sigma, kind, seeds):
    """Root mean square over seeds of the error against the truth, by name of the fit."""
    squares = {name: [] for name in [*FITS, "CV"]}
    for seed in seeds:
        rng = np.random.default_rng(seed)
        g = truth(kind, n, rng)
        X, fresh = rng.random((m, n)), rng.random((5000, n))
        y = choquet.choquet_integral(g, X) + sigma * rng.standard_normal(m)
        test = Statistics.from_data(fresh, choquet.choquet_integral(g, fresh))
        statistics = Statistics.from_data(X, y)
        for name, candidate in FITS.items():
            values = fit_candidate(statistics, candidate).dense
            squares[name].append(test.squared_error(values) / test.weight)
        values = ChoquetRegressorCV().fit(X, y).measure_.values
        squares["CV"].append(test.squared_error(values) / test.weight)
    return {name: float(np.sqrt(np.mean(found))) for name, found in squares.items()}


def row(key, errors):
    best = max(min(errors[name] for name in FITS), SMALL)
    ratio = max(errors["CV"], SMALL) / best
    numbers = " | ".join(f"{errors[name]:.5f}" for name in [*FITS, "CV"])
    return f"| {' | '.join(str(part) for part in key)} | {numbers} | {ratio:.2f} |", ratio


def write(rows, n_cells, seeds, largest):
    ratios = [ratio for _, ratio in rows.values()]
    within = sum(ratio <= 1.05 for ratio in ratios)
    head = " | ".join(FITS)
    text = [
        "# `ChoquetRegressorCV` on a grid",
        "",
        "Written by `python benchmarks/learning_grid.py`. Root mean square error against the truth",
        f"without noise on 5000 fresh rows, over {len(seeds)} data sets (seeds {seeds[0]} to",
        f"{seeds[-1]}). The last column is CV over the best of the other four; errors below",
        f"{SMALL} count as {SMALL}. {len(rows)} of {n_cells} cells were run (those of up to",
        f"{largest} sources were considered), in a fixed shuffled",
        f"order until the time was up. Within 5 % of the best, or better: {within} of {len(rows)};",
        f"the largest ratio is {max(ratios):.2f}, the median {np.median(ratios):.2f}.",
        "",
        f"| N | M | σ | truth | {head} | CV | ratio |",
        "|" + "---|" * 10,
        *(line for _, (line, _) in sorted(rows.items())),
    ]
    OUTPUT.write_text("\n".join(text) + "\n", encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--first-seed", type=int, default=7000)
    parser.add_argument("--largest", type=int, default=12, help="largest number of sources")
    options = parser.parse_args()
    warnings.simplefilter("ignore", SolverWarning)
    seeds = range(options.first_seed, options.first_seed + options.seeds)
    cells = list(itertools.product(SOURCES, SAMPLES, NOISE, TRUTHS))
    chosen = [key for key in cells if key[0] <= options.largest]
    np.random.default_rng(0).shuffle(order := np.arange(len(chosen)))
    rows, start = {}, time.monotonic()
    for k in order:
        if time.monotonic() - start > options.seconds:
            break
        rows[chosen[k]] = row(chosen[k], cell(*chosen[k], seeds))
        write(rows, len(cells), seeds, options.largest)
        print(rows[chosen[k]][0], flush=True)


if __name__ == "__main__":
    main()
