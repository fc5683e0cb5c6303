"""How often intervals hold the truth.

``python benchmarks/interval_coverage.py --page docs/coverage.md`` writes the page.

Every cell makes data sets from a known measure, fits `ChoquetRegressor`, and counts. Truths and
noise are in two tables; a data set follows from its cell and number alone.
"""

from __future__ import annotations

import argparse
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import choquet
from choquet.certainty.functions import output_rows, shapley_rows
from choquet.lattice import upward_maximum

LEVELS = (0.5, 0.9, 0.95)
WHAT = ("values", "outputs", "Shapley values")
N_NEW, MOST_VALUES = 12, 24
"""Outputs, and at most so many values, that are looked at in a data set."""


INTRODUCTION = """# Coverage

`python benchmarks/interval_coverage.py --page docs/coverage.md` writes this page. Data sets have N
sources with independent uniform inputs and M rows. Noise has a standard deviation of 0.1
(normal), is 0.05 times Student's t with 2 degrees of freedom (t2), or is normal with 0.2 times the
first input
(uneven). Each cell shows the mean share of intervals that hold the truth over seven kinds of truth
({}),
and in brackets the least of the seven. Truths on the edge of what is monotone (maximum, necessity)
are held more often than the level says. `sets` is the number of data sets for each kind of truth.
With few sets the least of seven is noisy.
"""
WIDTHS = """
Mean widths at level 0.9, and beside them those of the bootstrap: fits to rows that are drawn again,
for the first data set of each kind of truth.

| N | M | noise | values | outputs | Shapley values | bootstrap held outputs |
|---|---|---|---|---|---|---|"""


def _inside(n: int) -> Any:
    return (np.arange(1 << n)[:, None] >> np.arange(n)) & 1


def _additive(n: int, rng: Any) -> Any:
    return _inside(n) @ rng.dirichlet(np.ones(n))


def _maximum(n: int, rng: Any) -> Any:
    del rng
    return _inside(n).any(axis=1).astype(float)


def _uniform(n: int, rng: Any) -> Any:
    return choquet.Measure.random(n, rng=rng).values


def _belief(n: int, rng: Any) -> Any:
    masks = np.arange(1 << n)
    mass = np.append(0.0, rng.dirichlet(np.full((1 << n) - 1, 0.3)))
    return np.array([mass[(masks & a) == masks].sum() for a in masks])


def _necessity(n: int, rng: Any) -> Any:
    possible = rng.random(n)
    possible /= possible.max()
    return 1 - np.where(_inside(n) == 0, possible, 0.0).max(axis=1)


def _two_groups(n: int, rng: Any) -> Any:
    left = n // 2
    table = rng.random((left + 1, n - left + 1)).cumsum(axis=0).cumsum(axis=1)
    table -= table[0, 0]
    inside = _inside(n)
    return (table / table[-1, -1])[inside[:, :left].sum(axis=1), inside[:, left:].sum(axis=1)]


def _two_operators(n: int, rng: Any) -> Any:
    inside, sizes = _inside(n), _inside(n).sum(axis=1)
    by_source = inside @ rng.dirichlet(np.ones(n))
    by_rank = np.append(0.0, np.cumsum(rng.dirichlet(np.ones(n))))[sizes]
    first = inside[:, 0] == 1
    return np.where(first, np.maximum(by_source, by_rank), np.minimum(by_source, by_rank))


TRUTHS = {
    "additive": _additive,
    "maximum": _maximum,
    "uniform": _uniform,
    "belief": _belief,
    "necessity": _necessity,
    "p-symmetric": _two_groups,
    "two operators": _two_operators,
}
NOISE = {
    "normal": lambda X, rng: 0.1 * rng.standard_normal(len(X)),
    "t2": lambda X, rng: 0.05 * rng.standard_t(2, len(X)),
    "uneven": lambda X, rng: 0.2 * X[:, 0] * rng.standard_normal(len(X)),
}


def data_set(n: int, m: int, truth: str, noise: str, number: int) -> tuple[Any, Any, Any, Any]:
    """Inputs, targets, the true measure and a generator for more."""
    place = [number, n, m, list(TRUTHS).index(truth), list(NOISE).index(noise)]
    rng = np.random.default_rng(place)
    X = rng.random((m, n))
    g = np.minimum(upward_maximum(TRUTHS[truth](n, rng)), 1.0)  # rounding errors cleared
    g[-1] = 1.0
    y = choquet.choquet_integral(choquet.Measure(g), X) + NOISE[noise](X, rng)
    return X, y, g, rng


def one(n: int, m: int, truth: str, noise: str, number: int, n_boot: int) -> Any:
    """Share held and mean width, by level, kind of number and way (ours, bootstrap)."""
    X, y, g, rng = data_set(n, m, truth, noise, number)
    model = choquet.ChoquetRegressor().fit(X, y)
    new = rng.random((N_NEW, n))
    masks = np.arange(1, (1 << n) - 1)
    if len(masks) > MOST_VALUES:
        masks = rng.choice(masks, MOST_VALUES, replace=False)
    rows = [np.eye(1 << n)[masks], output_rows(new).toarray(), shapley_rows(n)]
    found = np.full((len(LEVELS), 3, 2, 2), np.nan)
    ways: list[Any] = [lambda level: _ours(model, masks, new, level)]
    if n_boot:
        again = rng.integers(m, size=(n_boot, m))
        fits = np.array([choquet.ChoquetRegressor().fit(X[k], y[k]).measure_.values for k in again])
        ways.append(lambda level: [_quantiles(fits @ part.T, level) for part in rows])
    for way, interval in enumerate(ways):
        for at, level in enumerate(LEVELS):
            for kind, ends in enumerate(interval(level)):
                true = rows[kind] @ g
                held = (ends[:, 0] - 1e-6 <= true) & (true <= ends[:, 1] + 1e-6)
                found[at, kind, way] = held.mean(), np.ptp(ends, axis=1).mean()
    return found


def _ours(model: Any, masks: Any, new: Any, level: float) -> list[Any]:
    values, index = model.identify(level, masks=masks), model.index_intervals(level)
    power = [name == "shapley" for name in index.index]
    return [
        np.column_stack([values.lower, values.upper]),
        model.predict_interval(new, level),
        np.column_stack([index.low, index.high])[power],
    ]


def _quantiles(numbers: Any, level: float) -> Any:
    return np.quantile(numbers, [(1 - level) / 2, (1 + level) / 2], axis=0).T


def cell(n: int, m: int, noise: str, count: int, seconds: float, n_boot: int) -> Any:
    """Mean over data sets for each truth; how many data sets there were in the time given."""
    found: dict[str, list[Any]] = {truth: [] for truth in TRUTHS}
    start, number = time.monotonic(), 0
    while number < count and (number < 2 or time.monotonic() - start < seconds):
        for truth in TRUTHS:
            boot = n_boot if number < 1 else 0
            found[truth].append(one(n, m, truth, noise, number, boot))
        number += 1
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        return np.array([np.nanmean(found[truth], axis=0) for truth in TRUTHS]), number


def page(cells: dict[tuple[int, int, str], Any]) -> str:
    """The table as Markdown."""
    head = " | ".join(f"{what} {level:g}" for what in WHAT for level in LEVELS)
    lines = [INTRODUCTION.format(", ".join(TRUTHS)), f"| N | M | noise | sets | {head} |"]
    lines.append("|---|---|---|---|" + "---|" * 9)
    widths = [WIDTHS]
    for (n, m, noise), (found, number) in cells.items():
        held = [
            f"{found[:, at, kind, 0, 0].mean():.2f} ({found[:, at, kind, 0, 0].min():.2f})"
            for kind in range(3)
            for at in range(len(LEVELS))
        ]
        lines.append(f"| {n} | {m} | {noise} | {number} | {' | '.join(held)} |")
        wide = [
            f"{found[:, 1, kind, 0, 1].mean():.3f} / {np.mean(found[:, 1, kind, 1, 1]):.3f}"
            for kind in range(3)
        ]
        widths.append(
            f"| {n} | {m} | {noise} | {' | '.join(wide)} | {np.mean(found[:, 1, 1, 1, 0]):.2f} |"
        )
    return "\n".join([*lines, *widths, ""])


def main() -> None:
    """Count, and write the page after every cell."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--page", type=Path)
    parser.add_argument("--sets", type=int, default=200, help="data sets for each truth and cell")
    parser.add_argument("--seconds", type=float, default=600.0, help="most time for a cell")
    parser.add_argument("--sources", type=int, nargs="+", default=[3, 5, 7])
    parser.add_argument("--rows", type=int, nargs="+", default=[30, 100, 1000])
    parser.add_argument("--boot", type=int, default=100, help="fits of a bootstrap; 0 for none")
    given = parser.parse_args()
    warnings.simplefilter("ignore", choquet.errors.ChoquetWarning)
    cells = {}
    for n in given.sources:
        for m in given.rows:
            for noise in NOISE:
                cells[n, m, noise] = cell(n, m, noise, given.sets, given.seconds, given.boot)
                text = page(cells)
                print(f"N = {n}, M = {m}, {noise}: {cells[n, m, noise][1]} data sets", flush=True)
                if given.page is not None:
                    given.page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
