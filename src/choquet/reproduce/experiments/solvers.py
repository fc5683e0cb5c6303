"""Where solvers leave the values that no sample determines, and what that does to operators."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from choquet.arrays import FloatArray
from choquet.decomposition import measure_distance
from choquet.integrals import choquet_integral
from choquet.lattice import cover_pairs, upward_maximum
from choquet.learning import Statistics
from choquet.measures import Measure
from choquet.reproduce.experiments.descent import dense, descend_from, starts
from choquet.reproduce.experiments.fits import count_operators, fit
from choquet.reproduce.experiments.sampling import N_SOURCES, draw_sample
from choquet.reproduce.result import Estimate, ExperimentResult, Row, Table, check_seeds, estimate
from choquet.reproduce.work import ALONE, Work
from choquet.walks import all_sorts

SHARE = 0.15
"""Share of walks that are sampled, as in Figure 5."""
NARROW = 0.02
"""Intervals below this say nothing about where in them a value lies."""
END = 0.05
"""A value is at an end of its interval if it is within this share of the width."""
MAX_SEEDS = 40
STEPS = 300
"""Steps of gradient descent, as in the experiment on AID."""
SOLVERS = (
    "interior point",
    "active set, start 0",
    "active set, start 1/2",
    "gradient descent, start 1/(2^N-2)",
    "gradient descent, start 1/N",
    "ours, middle of the interval",
)
"""The authors' program takes an interior-point method for quadratic programs."""


def run(
    *, data: Path | None = None, seeds: int = 20, rng: Any = 0, work: Work = ALONE
) -> ExperimentResult:
    """Fit the same samples by several solvers, and look at the values without data.

    Measure k, of at most forty, uses the seed (rng, k), as in the experiment on sampling; `data` is
    not needed.

    Examples
    --------
    >>> result = run(seeds=1)
    >>> result.name, len(result.tables[0].rows)
    ('solvers', 6)
    """
    del data
    n = min(check_seeds(seeds), MAX_SEEDS)
    trials = work.map(_trial, {f"seed {k}": (rng, k) for k in range(n)})
    places = {name: [p for t in trials for p in t[name]["places"]] for name in SOLVERS}
    found = {
        name: {
            "at_an_end": float(np.mean([p < END or p > 1 - END for p in places[name]])),
            "n_values": len(places[name]),
            "middle_half": float(np.mean([0.25 <= p <= 0.75 for p in places[name]])),
            **{
                key: estimate([t[name][key] for t in trials])
                for key in ("error", "operators", "same", "away")
            },
        }
        for name in SOLVERS
    }
    notes = (
        f"N = {N_SOURCES}, {n} random measures, samples without noise on {SHARE:.0%} of the walks. "
        f"Values without data whose interval is wider than {NARROW} are looked at: "
        f"{len(places[SOLVERS[0]])} of them. All solvers but gradient descent fit the samples "
        "equally well.",
    )
    title = "What the solver leaves in values without data (Section IV-B)"
    return ExperimentResult(
        "solvers", title, _rows(found), {"found": found}, {}, notes, (_table(found),)
    )


def _trial(rng: Any, k: int) -> dict[str, dict[str, Any]]:
    truth, X, _ = draw_sample(SHARE, (rng, k))
    y = choquet_integral(truth, X)
    ends = {fill: fit(X, y, fill=fill) for fill in ("lower", "midpoint", "upper")}
    low, high = (ends[fill].measure_.values for fill in ("lower", "upper"))
    ours = ends["midpoint"]
    statistics = Statistics.from_data(X, y)
    gram, targets = dense(statistics)
    low_start, high_start = starts(N_SOURCES).values()
    solved = {
        SOLVERS[0]: _interior_point(gram, targets),
        SOLVERS[1]: _active_set(gram, targets, 0.0),
        SOLVERS[2]: _active_set(gram, targets, 0.5),
        SOLVERS[3]: descend_from([statistics], low_start, n_steps=STEPS)[0],
        SOLVERS[4]: descend_from([statistics], high_start, n_steps=STEPS)[0],
        SOLVERS[5]: ours.measure_.values,
    }
    open_ = ~ours.support_.supported & (high - low > NARROW)
    sorts = all_sorts(N_SOURCES)
    reference = count_operators(ours.measure_.values, sorts)
    result = {}
    for name, values in solved.items():
        # Cleared of decreases and of ends that are off by the solver's tolerance.
        closed = upward_maximum(np.clip(values, 0.0, 1.0))
        closed[0], closed[-1] = 0.0, 1.0
        measure = Measure(closed)
        count = count_operators(measure.values, sorts)
        result[name] = {
            "places": ((values - low)[open_] / (high - low)[open_]).clip(0, 1).tolist(),
            "error": float(np.sqrt(((choquet_integral(measure, X) - y) ** 2).mean())),
            "operators": count,
            "same": float(count == reference),
            "away": measure_distance(measure, ours.measure_, metric="worst"),
        }
    return result


def _interior_point(gram: FloatArray, targets: FloatArray) -> FloatArray:
    """The quadratic program over all values, monotone, from 0 to 1, by Clarabel."""
    import clarabel
    from scipy.sparse import csc_matrix, eye, vstack

    size = len(targets)
    lower, upper = cover_pairs(size.bit_length() - 1).T
    rows = np.arange(len(lower))
    steps = csc_matrix(
        (np.r_[np.ones(len(rows)), -np.ones(len(rows))], (np.r_[rows, rows], np.r_[lower, upper])),
        shape=(len(rows), size),
    )
    ends = eye(size, format="csc")[[0, size - 1]]
    constraints = csc_matrix(vstack([ends, steps]))
    constraints.sort_indices()
    right = np.r_[0.0, 1.0, np.zeros(len(rows))]
    cones = [clarabel.ZeroConeT(2), clarabel.NonnegativeConeT(len(rows))]
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    quadratic = csc_matrix(np.triu(2 * gram))
    quadratic.sort_indices()
    solver = clarabel.DefaultSolver(quadratic, -2 * targets, constraints, right, cones, settings)
    return np.asarray(solver.solve().x)


def _active_set(gram: FloatArray, targets: FloatArray, start: float) -> FloatArray:
    """Sequential quadratic programming, which keeps a set of active constraints, from a start."""
    from scipy.optimize import minimize

    size = len(targets)
    lower, upper = cover_pairs(size.bit_length() - 1).T
    jacobian = np.zeros((len(lower), size))
    jacobian[np.arange(len(lower)), upper] += 1.0
    jacobian[np.arange(len(lower)), lower] -= 1.0
    begin = np.full(size, start)
    begin[0], begin[-1] = 0.0, 1.0
    free = [(0.0, 1.0)] * size
    free[0], free[-1] = (0.0, 0.0), (1.0, 1.0)
    scale = float(np.trace(gram))
    found = minimize(
        lambda g: float(g @ gram @ g - 2 * targets @ g) / scale,
        begin,
        jac=lambda g: 2 * (gram @ g - targets) / scale,
        bounds=free,
        constraints={
            "type": "ineq",
            "fun": lambda g: g[upper] - g[lower],
            "jac": lambda _: jacobian,
        },
        method="SLSQP",
        options={"maxiter": 300, "ftol": 1e-12},
    )
    return np.asarray(found.x)


def _rows(found: dict[str, dict[str, Any]]) -> tuple[Row, ...]:
    point = found[SOLVERS[0]]
    shares = "; ".join(f"{name} {one['at_an_end']:.0%}" for name, one in found.items())
    apart = "; ".join(f"{name} {one['away']:.3f}" for name, one in list(found.items())[:-1])
    kept: Estimate = point["same"]
    return (
        Row(
            "More often than not, values without data are at an end of their interval",
            f"within {END:.0%} of an end, of {point['n_values']} values: {shares}. The authors' "
            "program uses an interior-point method, which keeps away from the ends",
            "holds" if point["at_an_end"] > 0.5 else "corrected",
        ),
        Row(
            "Assignment of unobserved values depends on the solver; with active sets they stay "
            "where they start unless they must move",
            f"at an end: {found[SOLVERS[1]]['at_an_end']:.0%} if an active-set method starts from "
            f"0, {found[SOLVERS[2]]['at_an_end']:.0%} if it starts from 1/2",
            "holds"
            if found[SOLVERS[1]]["at_an_end"] > found[SOLVERS[2]]["at_an_end"]
            else "differs",
        ),
        Row(
            "Unobserved values do not distort the operators that CLODD finds",
            f"mean difference of a walk's operator to ours: {apart}. CLODD finds as many operators "
            f"as with our values in {kept:.0%} of measures by the interior point",
            "holds" if kept.mean > 0.9 else "differs",
        ),
    )


def _table(found: dict[str, dict[str, Any]]) -> Table:
    columns = {
        "error": ".1e", "at_an_end": ".0%", "middle_half": ".0%", "operators": ".1f", "away": ".3f",
    }  # fmt: skip
    rows = [
        (name, *(f"{one[key]:{spec}}" for key, spec in columns.items()))
        for name, one in found.items()
    ]
    header = (
        *("solver", "error on the samples", "values at an end", "in the middle half"),
        *("operators by CLODD", "difference of a walk's operator to ours"),
    )
    return Table("Values without data, by solver", header, rows)
