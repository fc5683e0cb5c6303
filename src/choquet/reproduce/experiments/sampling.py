"""Figure 5: how much of a measure, and of its picture, do few observed walks determine?"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from choquet.arrays import FloatArray, IntArray
from choquet.clustering import IVAT, ivat
from choquet.decomposition import Clodd, decompose, measure_distance
from choquet.integrals import choquet_integral
from choquet.measures import Measure
from choquet.reproduce.experiments.fits import agreement, fit, picture_correlation
from choquet.reproduce.result import Estimate, ExperimentResult, Picture, Row, check_seeds, estimate
from choquet.reproduce.work import ALONE, Work
from choquet.walks import DataSupport, all_sorts, sort_rank, walk_weights

SHARES = (1.0, 0.2, 0.15)
N_SOURCES = 5
N_SAMPLES = 300
FILLS = ("lower", "midpoint", "upper")
"""What a solver may leave in values that no sample determines: the ends or the middle of what
monotonicity allows."""


class Trial(NamedTuple):
    """One random measure, learned from samples of some of its walks."""

    values_seen: float
    """Share of the 2**N - 2 values that some sample supports."""
    walks_supported: float
    """Share of walks all of whose values are supported (Φ = 0)."""
    open_width: float
    """Mean width of the interval in which an unsupported value may lie; 0 if there is none."""
    error: float
    """Mean worst-case error of a walk's operator, over all walks."""
    like_supported: float
    """Correlation of the iVAT matrices: all walks against supported ones alone, on the latter."""
    like_seen: float
    """The same against the walks that samples took."""
    like_true: float
    """Correlation of the iVAT matrix of all walks with that of the true measure."""
    by_chance: float
    """The same for another random measure: what likeness means nothing."""
    heights: float
    """Difference of the sorted heights of both pictures, relative to their mean height."""
    same_clusters: float
    """Adjusted Rand index of CLODD's clusters, all walks against supported ones alone."""
    same_number: float
    """1 if CLODD finds as many operators in all walks as in the supported ones."""
    fill_matters: float
    """Mean worst-case difference of a walk's operator between the lowest and highest filling."""
    ascending: float
    """Share of walks called supported if walks are counted in ascending order, but are not."""


def run(
    *, data: Path | None = None, seeds: int = 100, rng: Any = 0, work: Work = ALONE
) -> ExperimentResult:
    """Learn random measures from samples of all, a fifth and 15 % of the walks.

    Measure k uses the seed (rng, k); `data` is not needed.

    Examples
    --------
    >>> result = run(seeds=1)
    >>> result.numbers["found"]["1.0"]["walks_supported"].mean
    1.0
    """
    del data
    check_seeds(seeds)
    repeated = work.map(_repetition, {f"seed {k}": (rng, k) for k in range(seeds)})
    trials = {
        share: [Trial(*one[number]) for one in repeated] for number, share in enumerate(SHARES)
    }
    found = {
        share: {name: estimate([getattr(t, name) for t in made]) for name in Trial._fields}
        for share, made in trials.items()
    }
    # Where a picture is constant there is no correlation: that counts as not alike.
    alike = {
        share: float(np.mean([t.like_supported > 0.9 for t in made]))
        for share, made in trials.items()
    }
    numbers = {
        "seeds": seeds,
        "found": {str(share): values for share, values in found.items()},
        "correlation_above_0.9": {str(share): value for share, value in alike.items()},
    }
    figures = {
        "figure5": Picture(
            "Figure 5: iVAT of a random measure learned from all walks, 20 %, 15 %, and of the "
            "walks seen alone",
            (11.0, 3.7),
            lambda figure: _draw_ivat(figure, rng),
        ),
        "likeness": Picture(
            f"Correlation of iVAT matrices over {seeds} random measures",
            (8.0, 3.4),
            lambda figure: _draw_likeness(figure, trials),
        ),
    }
    notes = (
        f"N = {N_SOURCES}, measures drawn uniformly; {N_SAMPLES} samples without noise spread over "
        "the walks chosen; least squares, unsupported values in the middle of their interval. "
        "Likeness of two pictures is the correlation of their iVAT dissimilarities over the walks "
        "that both show; chance is the same with another random measure.",
    )
    title = "Few observed walks (Figure 5)"
    return ExperimentResult("sampling", title, _rows(found, alike), numbers, figures, notes)


def draw_sample(share: float, seed: Any) -> tuple[Measure, FloatArray, np.random.Generator]:
    """A random measure, and inputs that take only a share of the walks (each at least once).

    Examples
    --------
    >>> truth, X, _ = draw_sample(0.15, (0, 0))
    >>> truth.n_sources, X.shape
    (5, (300, 5))
    """
    random = np.random.default_rng(list(seed))
    truth = Measure.random(N_SOURCES, rng=random)
    sorts = all_sorts(N_SOURCES)
    n_walks = round(share * len(sorts))
    chosen = random.permutation(len(sorts))[:n_walks]
    rows = sorts[chosen[np.arange(N_SAMPLES) % n_walks]]
    ordered = -np.sort(-random.random((N_SAMPLES, N_SOURCES)), axis=1)
    inputs = np.empty_like(ordered)
    np.put_along_axis(inputs, rows, ordered, axis=1)
    return truth, inputs, random


def _picture(measure: Measure, sorts: IntArray) -> IVAT:
    return ivat(walk_weights(measure, sorts))


def _matrix(picture: IVAT) -> FloatArray:
    """IVAT dissimilarities in the order of the walks, not of the picture."""
    matrix = np.empty((picture.n_points, picture.n_points))
    matrix[np.ix_(picture.order, picture.order)] = picture.matrix()
    return matrix


def _likeness(measure: Measure, kept: IntArray) -> float:
    """Whole picture against the picture of some walks alone, compared on those."""
    sorts = all_sorts(N_SOURCES)
    whole = _matrix(_picture(measure, sorts))[np.ix_(kept, kept)]
    return picture_correlation(whole, _matrix(_picture(measure, sorts[kept])))


def _repetition(rng: Any, k: int) -> list[list[float]]:
    """All shares with the seed (rng, k)."""
    return [list(_trial(share, (rng, k))) for share in SHARES]


def _trial(share: float, seed: Any) -> Trial:
    truth, X, random = draw_sample(share, seed)
    sorts = all_sorts(N_SOURCES)
    y = choquet_integral(truth, X)
    models = {fill: fit(X, y, fill=fill) for fill in FILLS}
    model = models["midpoint"]
    learned, support = model.measure_, model.support_
    low, high = (models[fill].measure_ for fill in ("lower", "upper"))
    supported = support.phi(sorts) == 0
    seen = support.supported[1:-1]
    open_ = ~seen
    width = (high.values - low.values)[1:-1]
    other = Measure.random(N_SOURCES, rng=random)
    whole = _matrix(_picture(learned, sorts))
    full, part = (
        decompose(model, support=support, method=Clodd(decimals=6)) for support in (None, "auto")
    )
    kept = sorts[supported]
    # Quantiles of the heights are what the eye sees in any order.
    at = np.linspace(0.05, 0.95, 19)
    a, b = (np.quantile(_picture(learned, some).heights[1:], at) for some in (sorts, kept))
    # What counting ascending sorts calls supported though the integral never used it.
    backwards = DataSupport.from_data(-X).phi(sorts) == 0
    return Trial(
        values_seen=float(seen.mean()),
        walks_supported=float(supported.mean()),
        open_width=float(width[open_].mean()) if open_.any() else 0.0,
        error=measure_distance(truth, learned, metric="worst"),
        like_supported=_likeness(learned, np.flatnonzero(supported)),
        like_seen=_likeness(learned, sort_rank(support.observed_sorts)),
        like_true=picture_correlation(whole, _matrix(_picture(truth, sorts))),
        by_chance=picture_correlation(whole, _matrix(_picture(other, sorts))),
        heights=float(np.abs(a - b).mean() / max(a.mean(), 1e-12)),
        same_clusters=agreement(full.operator_of_sorts(kept), part.operator_of_sorts(kept)),
        same_number=float(full.n_operators == part.n_operators),
        fill_matters=measure_distance(low, high, metric="worst"),
        ascending=float((backwards & ~supported).sum() / max(backwards.sum(), 1)),
    )


def _rows(found: Any, alike: dict[float, float]) -> tuple[Row, ...]:
    def of(name: str, share: float = 0.15) -> Estimate:
        value: Estimate = found[share][name]
        return value

    few = of("like_supported")
    similar = few.mean > 0.9 and alike[0.15] > 0.5
    approximate = of("like_true")
    return (
        Row(
            "All walks observed: the picture of the measure",
            f"the learned measure is off by {of('error', 1.0):.1e} on average, its picture "
            f"correlates {of('like_true', 1.0):.3f} with the true one",
            "holds" if of("like_true", 1.0).mean > 0.999 else "differs",
        ),
        Row(
            "Full and observed-only pictures usually look alike",
            f"15 % of walks sampled: correlation {few:.3f}, above 0.9 for {alike[0.15]:.0%} of "
            f"measures (20 %: {of('like_supported', 0.2):.3f}, {alike[0.2]:.0%}); against the "
            f"walks actually taken {of('like_seen'):.3f}. Sorted heights differ by "
            f"{of('heights'):.0%} of their mean. Correlation by chance: {of('by_chance'):.3f}",
            "holds" if similar else "differs",
        ),
        Row(
            "… and CLODD finds the same operators in both",
            f"same number for {of('same_number'):.0%} of measures at 15 %, clusters agree by "
            f"{of('same_clusters'):.2f} (20 %: {of('same_number', 0.2):.0%}, "
            f"{of('same_clusters', 0.2):.2f})",
            "holds" if of("same_clusters").mean > 0.9 else "differs",
        ),
        Row(
            "A surprisingly low share of walks suffices to see similar structure",
            f"because walks share values: 15 % of walks touch {of('values_seen'):.0%} of the "
            f"values and support {of('walks_supported'):.0%} of the walks (20 %: "
            f"{of('values_seen', 0.2):.0%}, {of('walks_supported', 0.2):.0%}). The picture of all "
            f"walks correlates {approximate:.3f} with the true one, error of a walk "
            f"{of('error'):.3f}",
            "holds" if approximate.low > of("by_chance").mean else "differs",
        ),
        Row(
            "Unobserved values do not distort the picture",
            f"the interval is {of('open_width'):.3f} wide on average at 15 %; lowest and highest "
            f"filling differ by {of('fill_matters'):.3f} in a walk's operator. Use supported walks "
            "only, as the paper advises; where solvers put such values is an experiment of its own",
            "holds" if of("fill_matters").mean < 0.05 else "differs",
        ),
        Row(
            "(in the authors' program) walks counted by ascending sorts, integral by descending",
            f"of the walks then called supported {of('ascending'):.0%} are not, at 15 % "
            f"({of('ascending', 0.2):.0%} at 20 %)",
            "corrected",
        ),
    )


# -- pictures --------------------------------------------------------------------------------------


def _draw_ivat(figure: Any, rng: Any) -> None:
    from choquet import plot

    made: dict[str, Any] = {}
    sorts = all_sorts(N_SOURCES)
    for letter, share in zip("abc", SHARES, strict=True):
        truth, X, _ = draw_sample(share, (rng, 0))
        model = fit(X, choquet_integral(truth, X))
        made[f"({letter}) {share:.0%} of walks"] = _picture(model.measure_, sorts)
    # The last of the loop, 15 %, once more with the walks alone that samples took.
    made["(d) 15%, seen walks"] = _picture(model.measure_, model.support_.observed_sorts)
    plot.compare(made, ax=figure.subplots())


def _draw_likeness(figure: Any, trials: Any) -> None:
    ax = figure.subplots()
    wanted = {
        "all vs supported": "like_supported",
        "all vs seen": "like_seen",
        "learned vs true": "like_true",
        "chance": "by_chance",
    }
    values, labels = [], []
    for share in SHARES[1:]:
        for label, name in wanted.items():
            column = np.array([getattr(t, name) for t in trials[share]])
            values.append(column[np.isfinite(column)])
            labels.append(f"{label}\n{share:.0%}")
    ax.boxplot(values)
    ax.set_xticks(np.arange(1, len(labels) + 1), labels, fontsize=7)
    ax.set_ylabel("correlation of iVAT matrices")
