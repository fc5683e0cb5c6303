"""The measures behind Figures 6 to 8: the authors' own files, read in both orders."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from math import factorial
from pathlib import Path
from typing import Any

import numpy as np

from choquet.arrays import FloatArray, IntArray, generator
from choquet.datasets.author_orders import Reading, observed_subsets
from choquet.measures import Measure
from choquet.measures.orders import ORDERS
from choquet.reproduce.experiments.authors_files import Study, authors_folder, find_studies
from choquet.reproduce.experiments.authors_rows import (
    COUNTED,
    PRINTED,
    observed_lines,
    pictures,
    rows_of,
    table_of,
)
from choquet.reproduce.experiments.fits import count_operators
from choquet.reproduce.result import ExperimentResult, Row, check_seeds, quantiles
from choquet.reproduce.work import ALONE, Work
from choquet.walks import all_sorts, random_sorts, walk_weights

MOST_WALKS = 5040
"""All walks are listed up to 7 sources; beyond, so many are drawn."""
_TITLE = "The authors' own measures, read in both orders (Figures 6 to 8)"


@dataclass(eq=False)
class Found:
    """What one study says."""

    study: Study
    order: str | None
    """The order that the checks speak for."""
    why: str
    """What they say."""
    readings: dict[tuple[str, str], Reading]
    """Every file in both orders, by ("none" or "penalty", order)."""
    sorts: IntArray | None = None
    lines_are: str = ""
    operators: dict[tuple[str, str, str], FloatArray] = field(default_factory=dict)
    """Number that CLODD finds in each run, by (which, order, row of `COUNTED`)."""
    nearest: dict[str, FloatArray] = field(default_factory=dict)
    """By order: largest difference between each printed operator and the nearest walk of a run."""
    nearest_but_one: dict[str, FloatArray] = field(default_factory=dict)
    """The same without the weight that differs most, which may be a misprint."""

    @property
    def wrong(self) -> str:
        """The other order."""
        return next(order for order in ORDERS if order != self.order)

    @property
    def distinct_sorts(self) -> IntArray:
        """The walks that training rows took."""
        assert self.sorts is not None  # asked for only where there are lines
        return np.unique(self.sorts, axis=0)

    def walks(self, which: str, order: str, some: str, run: int) -> FloatArray:
        """Weights of the walks of a run: of all, or of those that were observed."""
        values = self.readings[which, order].values[run]
        sorts = self.distinct_sorts if some == "observed" else _every_walk(self.study.n_sources)
        return walk_weights(Measure(values, monotone=False, normal=False), sorts)


def run(
    *, data: Path | None = None, seeds: int = 100, rng: Any = 0, work: Work = ALONE
) -> ExperimentResult:
    """Read the authors' files in both orders, and say which one is right and what follows.

    `data` is the folder of the files, or one that holds it as ``authors``; without it the
    experiment says that it was skipped. At most `seeds` runs of each file are decomposed; beyond
    7 sources, walks are drawn by `rng`.

    Examples
    --------
    >>> run().rows[0].verdict
    'skipped'
    """
    n_runs = check_seeds(seeds)
    folder = authors_folder(data)
    if folder is None:
        row = Row(
            "Figures 6 to 8",
            "skipped: the authors' files were not found; give their folder (--data). They are in "
            "the public repository mdeardorff/FuzzyMeasures and have no licence, so the package "
            "does not carry them",
            "skipped",
        )
        return ExperimentResult("authors", _TITLE, (row,), {})
    studies, notes = find_studies(folder)
    found = [_look(study, n_runs, rng, work) for study in studies]
    rows = [row for one in found for row in rows_of(one)]
    notes = [
        "The files of each data set are read by bit mask and by size. The checks are, strongest "
        "first: the error on the standardised data, monotonicity, zeros of subsets without data, "
        "and the spread between runs. Operators are counted by CLODD on all walks, or on those "
        "that training rows took; the distance is the difference of outputs (rms) or the norm "
        "l2 of the weights. Ranges are from the 2.5 % to the 97.5 % quantile over the runs.",
        *notes,
    ]
    return ExperimentResult(
        "authors",
        _TITLE,
        tuple(rows),
        {one.study.name: _numbers(one) for one in found},
        {key: picture for one in found for key, picture in pictures(one).items()},
        tuple(notes),
        tuple(table_of(one) for one in found),
    )


def _look(study: Study, n_runs: int, rng: Any, work: Work) -> Found:
    every = {(which, o): r for which in study.files for o, r in study.readings(which).items()}
    order, why = study.order()
    sorts, lines_are = study.sorts()
    found = Found(study, order, why, every, sorts, lines_are)
    if not _monotone(found):
        _count(found, n_runs, rng, work)
    if study.name in PRINTED and study.n_sources == PRINTED[study.name].shape[1]:
        for known in (o for o in ORDERS if ("none", o) in every):
            found.nearest[known], found.nearest_but_one[known] = _nearest(found, known)
    return found


def _count(found: Found, n_runs: int, rng: Any, work: Work) -> None:
    """Count the operators of all runs, of all walks and of observed ones."""
    every = _every_walk(found.study.n_sources, rng)
    tasks: dict[str, tuple[Any, ...]] = {}
    places: list[tuple[str, str, str]] = []
    for (which, order), reading in found.readings.items():
        for name, (some, metric) in COUNTED.items():
            if some == "observed" and found.sorts is None:
                continue
            sorts = every if some == "all" else found.distinct_sorts
            for k, values in enumerate(reading.values[:n_runs]):
                begin = f"{found.study.name} {which} {order} {name} {k}"
                # A short name of what the result depends on, for the file of those that are kept.
                end = hashlib.sha256(values.tobytes() + sorts.tobytes()).hexdigest()[:12]
                tasks[f"{begin} {end}"] = (values, sorts, metric)
                places.append((which, order, name))
    for place, count in zip(places, work.map(count_operators, tasks), strict=True):
        found.operators[place] = np.append(found.operators.get(place, np.empty(0)), count)


def _monotone(found: Found) -> bool:
    return any(reading.decreases == 0 for reading in found.readings.values())


def _every_walk(n_sources: int, rng: Any = 0) -> IntArray:
    if factorial(n_sources) <= MOST_WALKS:
        return all_sorts(n_sources)
    return random_sorts(n_sources, MOST_WALKS, generator(rng))


def _nearest(found: Found, order: str) -> tuple[FloatArray, FloatArray]:
    """Distance of each printed operator to the nearest walk of each run, and but for one weight."""
    wanted = PRINTED[found.study.name]
    runs = range(len(found.readings["none", order].values))
    away = [
        np.sort(np.abs(found.walks("none", order, "all", k)[:, None] - wanted), axis=2)
        for k in runs
    ]
    whole, but_one = (np.array([one[:, :, at].min(axis=0) for one in away]) for at in (-1, -2))
    return whole, but_one


def _numbers(found: Found) -> dict[str, Any]:
    study = found.study
    matches = study.matches()
    numbers: dict[str, Any] = {
        "n_sources": study.n_sources,
        "order": found.order,
        "why": found.why,
        "lines_are": found.lines_are,
        "lines_matched": {name: one.n_matched for name, one in matches.items()},
        "files": {},
    }
    if found.sorts is not None:
        distinct, counts = (
            found.distinct_sorts,
            observed_subsets(study.n_sources, sorts=found.sorts),
        )
        numbers["observed"] = {
            "walks": len(distinct),
            "share": len(distinct) / factorial(study.n_sources),
            "unseen_subsets": int((counts[1:-1] == 0).sum()),
            "lines_that_are_walks": observed_lines(found),
        }
    for (which, order), reading in found.readings.items():
        numbers["files"].setdefault(which, {})[order] = {
            "n_runs": len(reading.values),
            "error": quantiles(reading.errors),
            "error_with_best_constant": quantiles(reading.best_errors),
            "decreases": reading.decreases,
            "zeros_without_data": reading.zeros,
            "zeros_with_data": reading.zeros_elsewhere,
            "spread": reading.spread,
            "operators": {
                name: np.bincount(found.operators[which, order, name].astype(int))
                for name in COUNTED
                if (which, order, name) in found.operators
            },
        }
    if found.nearest:
        numbers["printed"] = dict(found.nearest)
        numbers["printed_but_one"] = dict(found.nearest_but_one)
    numbers["start"] = _start(found)
    tested = {w: quantiles(f.errors) for w, f in study.files.items() if len(f.errors)}
    means = {w: float(f.errors.mean()) for w, f in study.files.items() if len(f.errors)}
    numbers["test_error"] = {"quantiles": tested, "mean": means}
    return numbers


def _start(found: Found) -> dict[str, Any] | None:
    """How far monotone measures are from increments of 1/(2**N - 2), where descent may start."""
    if not _monotone(found):
        return None
    n = found.study.n_sources
    which = next(iter(found.study.files))
    values = found.readings[which, found.order or "binary"].values[:, 1:-1]
    sizes = np.bitwise_count(np.arange(1, (1 << n) - 1))
    away = np.abs(values - sizes / (2**n - 2))
    mean = np.array([values[:, sizes == k].mean() for k in range(1, n)])
    return {
        "near": bool(1 - mean[-1] > 0.9 and np.median(away) < 0.01),
        "median_distance": float(np.median(away)),
        "largest_distance": float(away.max()),
        "mean_walk": np.diff(np.concatenate([[0.0], mean, [1.0]])),
        "weight_of_minimum": 1.0 - float(values[:, sizes == n - 1].max()),
    }
