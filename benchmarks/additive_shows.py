"""What docs/additive.md claims beside its tables: coverage, reliability, shapes, time and memory.

    python benchmarks/additive_shows.py coverage [FITS] | outside | reliability | shapes
    python benchmarks/additive_shows.py time | memory

Each part prints what it measured. Time is that of the process on one thread; memory is the largest
resident size of the process, which holds one chunk at a time.
"""

from __future__ import annotations

import resource
import sys
import time
import warnings
from collections.abc import Iterator

import numpy as np
from sklearn import datasets

import choquet
from choquet.certainty import Reliability, reliability_curve
from choquet.estimators import fit_additive_chunks
from choquet.estimators.held_out import held_out


def truths(
    rng: np.random.Generator, n: int, n_columns: int = 6
) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Synthetic truths: smooth curves, a product, a minimum, effects that multiply."""
    X = rng.random((n, n_columns))
    a, b, c, d = X[:, :4].T
    yield "curves", X, np.sin(4 * a) + b**2 + np.abs(c - 0.4)
    yield "friedman", X, 10 * np.sin(np.pi * a * b) / 5 + 4 * (c - 0.5) ** 2 + 2 * d
    yield "minimum", X, 2 * np.minimum(a, b) + c
    yield "product", X, np.exp(1.5 * a + b - c)


def coverage() -> None:
    """Share of places whose true mean lies in the band of 95 %: fits to new rows each time.

    A fit has few degrees of freedom, so shares of two fits differ by some 0.07: six tell little.
    """
    total, n_fits = [], int(sys.argv[2]) if len(sys.argv) > 2 else 20
    for noise in (0.1, 0.5):
        for n in (300, 1000):
            inside: dict[str, list[float]] = {}
            predicted: dict[str, list[float]] = {}
            for repeat in range(n_fits):
                rng = np.random.default_rng([n, repeat])
                for name, X, f in truths(rng, n):
                    y = f + noise * f.std() * rng.standard_normal(n)
                    link = "add" if name != "product" else "auto"
                    model = choquet.ChoquetAdditiveRegressor(link=link).fit(X, y)
                    low, high = model.predict_interval(X).T
                    inside.setdefault(name, []).append(np.mean((low <= f) & (f <= high)))
                    wide = model.predict_interval(X, noise=True)
                    new = f + noise * f.std() * rng.standard_normal(n)
                    share = np.mean((wide[:, 0] <= new) & (new <= wide[:, 1]))
                    predicted.setdefault(name, []).append(share)
            for name, shares in inside.items():
                total += shares
                error = np.std(shares, ddof=1) / np.sqrt(len(shares))
                print(
                    f"{name:9s} n={n:5d} noise={noise}: mean {np.mean(shares):.3f} ± {error:.3f}, "
                    f"new targets {np.mean(predicted[name]):.3f}",
                    flush=True,
                )
    print(f"all: {np.mean(total):.3f}")


CURVES = {
    "line": lambda x: 2 * x, "square": lambda x: x**2, "cube": lambda x: 1.5 * x**3,
    "logarithm": lambda x: np.log(x + 0.1), "saturating": lambda x: 1 - np.exp(-4 * x),
    "sine": lambda x: np.sin(5 * x), "exponential": lambda x: np.exp(1.5 * x) / 3,
    "step": lambda x: np.where(x > 0.6, 1.0, 0.0),
}  # fmt: skip
"""Of one source, learned from 0 to 1."""


def outside() -> None:
    """Share of true means in the band of 95 % where one source lies outside of the rows."""
    for name, curve in CURVES.items():
        shares: dict[tuple[float, float], list[float]] = {}
        for seed in range(6):
            rng = np.random.default_rng(seed)
            X = rng.random((200, 3))
            y = curve(X[:, 0]) + X[:, 1] + 0.5 * X[:, 2] + 0.2 * rng.standard_normal(200)
            model = choquet.ChoquetAdditiveRegressor().fit(X, y)
            for low, high in ((0.0, 1.0), (1.02, 1.1), (1.1, 1.3), (1.5, 2.0)):
                Z = rng.random((200, 3))
                Z[:, 0] = rng.uniform(low, high, 200)
                f = curve(Z[:, 0]) + Z[:, 1] + 0.5 * Z[:, 2]
                ends = model.predict_interval(Z)
                held = np.mean((ends[:, 0] <= f) & (f <= ends[:, 1]))
                shares.setdefault((low, high), []).append(held)
        told = (f"{low:g} to {high:g}: {np.mean(s):.3f}" for (low, high), s in shares.items())
        print(f"{name:11s} {', '.join(told)}", flush=True)


def reliability() -> None:
    """Probabilities beside what happened: log-odds of known truths, and three data sets."""
    for n in (300, 1000):
        for number, (name, *_) in enumerate(truths(np.random.default_rng(0), 4)):
            found = []
            for seed in range(10):
                rng = np.random.default_rng([seed, n, number])
                _, X, score = list(truths(rng, n + 2000))[number]
                odds = 2 * (score - score.mean()) / score.std()
                y = (rng.random(len(X)) < 1 / (1 + np.exp(-odds))).astype(int)
                model = choquet.ChoquetAdditiveClassifier().fit(X[:n], y[:n])
                proba = model.predict_proba(X[n:])
                right = model.predict(X[n:]) == y[n:]
                found.append(reliability_curve(proba.max(axis=1), right))
            _tell_reliability(f"{name}, {n} rows", found)
    for name in ("iris", "wine", "breast_cancer"):
        X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
        held = held_out(choquet.ChoquetAdditiveClassifier(), X, y)
        assert held is not None
        assert held.reliability is not None
        _tell_reliability(f"{name}, 5 folds", [held.reliability])


def _tell_reliability(name: str, found: list[Reliability]) -> None:
    keys = ("mean_told", "mean_right", "gap", "chance", "limit")
    means = [100 * np.mean([getattr(one, key) for one in found]) for key in keys]
    told, right, gap, chance, limit = (f"{mean:.1f}" for mean in means)
    off = sum(one.gap > one.limit for one in found)
    leans = [sum(one.lean == sign for one in found) for sign in (1, -1)]
    print(
        f"{name}: told {told}, right {right}, gap {gap} (by chance {chance}, below {limit}); of "
        f"{len(found)}, {off} have more, {leans[0]} are too high, {leans[1]} too low",
        flush=True,
    )


def shapes() -> None:
    """A million random pairs, each with one source moved: the least rise."""
    rng = np.random.default_rng(0)
    X = rng.random((1500, 5))
    y = X[:, 0] * X[:, 1] + np.minimum(X[:, 2], X[:, 3]) + 0.5 * rng.standard_normal(1500)
    signs = {0: 1, 1: 1, 2: 1, 3: 1}
    for link in ("add", 0.5):
        started = time.process_time()
        model = choquet.ChoquetAdditiveRegressor(monotonic_cst=signs, link=link).fit(X, y)
        seconds = time.process_time() - started
        worst = np.inf
        for _ in range(10):
            low = rng.uniform(-0.1, 1.1, (100_000, 5))
            high, rows = low.copy(), np.arange(len(low))
            which = rng.integers(0, 4, len(low))
            high[rows, which] += rng.exponential(0.2, len(low))
            worst = min(worst, float((model.predict(high) - model.predict(low)).min()))
        print(f"link {link}: {seconds:.1f} s, {model.proof_}, least rise of 10^6 pairs {worst:.2e}")


def _large(n: int, n_columns: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.random((n, n_columns))
    f = np.sin(3 * X[:, 0]) + X[:, 1] + 2 * X[:, 2] * X[:, 3] + np.minimum(X[:, 4], X[:, 5])
    return X, f + 0.3 * rng.standard_normal(n)


def _pairs(n: int, n_columns: int, n_pairs: int) -> tuple[np.ndarray, np.ndarray]:
    """Curves of all columns, and products of so many pairs of them."""
    rng = np.random.default_rng(n_pairs)
    X = rng.random((n, n_columns))
    f = np.sin(3 * X).sum(axis=1)
    for k in range(n_pairs):
        f += 4 * (X[:, 2 * k] - 0.5) * (X[:, 2 * k + 1] - 0.5)
    return X, f + 0.3 * rng.standard_normal(n)


def growth() -> None:
    """Seconds of processor time by rows, columns and terms; the exponent of each growth."""
    for warm in (1, 2):  # whatever has to be compiled is
        choquet.ChoquetAdditiveRegressor(link="add").fit(*_pairs(5000, 6, warm))
    for what, sizes in {
        "rows": [(2500, 20, 2), (5000, 20, 2), (10_000, 20, 2), (20_000, 20, 2)],
        "columns": [(5000, 10, 2), (5000, 20, 2), (5000, 40, 2), (5000, 80, 2)],
        "pairs": [(5000, 20, 1), (5000, 20, 2), (5000, 20, 4), (5000, 20, 8)],
    }.items():
        taken, place = [], {"rows": 0, "columns": 1, "pairs": 2}[what]
        for size in sizes:
            X, y = _pairs(*size)
            started = time.process_time()
            model = choquet.ChoquetAdditiveRegressor().fit(X, y)
            taken.append(time.process_time() - started)
            found = sum(len(term.sources) > 1 for term in model.terms_)
            print(f"{what} {size}: {taken[-1]:.1f} s, {found} terms of several", flush=True)
        power = np.polyfit(np.log([size[place] for size in sizes]), np.log(taken), 1)[0]
        print(f"time grows with {what} to the power {power:.2f}", flush=True)


def memory() -> None:
    """A million rows of twenty columns from chunks of 50,000 that are made anew for each pass."""
    rows, size = 1_000_000, 50_000

    def chunks() -> Iterator[tuple[np.ndarray, np.ndarray]]:
        for k in range(rows // size):
            yield _large(size, 20, k)

    started = time.process_time()
    model = fit_additive_chunks(choquet.ChoquetAdditiveRegressor(), chunks)
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    pairs = [term.name for term in model.terms_ if len(term.sources) > 1]
    print(f"{rows} x 20: {time.process_time() - started:.0f} s, {most:.2f} GiB, {pairs}")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    parts = {"coverage": coverage, "outside": outside, "reliability": reliability, "shapes": shapes}
    {**parts, "time": growth, "memory": memory}[sys.argv[1]]()
