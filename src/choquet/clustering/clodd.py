"""CLODD: clusters as dark blocks along the diagonal of an ordered dissimilarity image.

On an iVAT image both terms of the objective follow from the heights (`BlockSums`), so a partition
is scored in microseconds whatever the number of points, and the search is the easy part.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from choquet.arrays import FloatArray, IntArray, check_option, generator
from choquet.clustering.blocks import BlockSums
from choquet.clustering.clodd_exact import exact_bounds
from choquet.clustering.ivat import IVAT, block_labels, condensed
from choquet.clustering.partition import Partition, canonical_labels
from choquet.clustering.spanning import check_distances
from choquet.errors import OptionError

CloddMethod = Literal["path+local", "exact", "swarm"]

COARSE = 1024
"""Positions, the highest, that local search tries from every start; the best then tries all."""
INERTIA, PULL = 0.7298, 1.49618
"""The swarm's constants (Clerc and Kennedy 2002)."""


@dataclass(frozen=True)
class CloddScore:
    """What CLODD says of one partition.

    Attributes
    ----------
    score : float
        The objective, s · (α squareness + (1-α) edginess).
    squareness : float
        Mean dissimilarity between blocks minus mean within them.
    edginess : float
        Mean contrast across the cuts.
    """

    score: float
    squareness: float
    edginess: float


def clodd_score(
    distances: npt.ArrayLike, cuts: npt.ArrayLike, *, alpha: float = 0.5, gamma: float = 0.05
) -> CloddScore:
    """CLODD's objective on any ordered matrix, straight from its definition.

    This is the reference that `clodd` is tested against; it takes O(n²) time a partition.

    Parameters
    ----------
    distances : array-like of shape (n, n)
        Dissimilarities in the order of the image; not necessarily an iVAT image.
    cuts : array-like of shape (c - 1,)
        Positions that start a new block.
    alpha, gamma : float
        As in `clodd`.

    Examples
    --------
    >>> D = [[0, 0.1, 0.9], [0.1, 0, 0.9], [0.9, 0.9, 0]]
    >>> score = clodd_score(D, [2], alpha=1.0)
    >>> round(score.squareness, 6), score.score   # a block of one point is worth nothing
    (0.8, 0.0)
    """
    from choquet.clustering._kernels_clodd import spline

    check_weights(alpha, gamma)
    D = check_distances(distances)
    n = len(D)
    bounds = np.concatenate([[0], np.asarray(cuts, dtype=np.int64), [n]])
    if not (np.diff(bounds) > 0).all():
        raise OptionError(f"cuts={list(bounds[1:-1])} must increase between 1 and {n - 1}")
    labels = np.searchsorted(bounds, np.arange(n), side="right")
    same = (labels[:, None] == labels) & ~np.eye(n, dtype=bool)
    apart = labels[:, None] != labels
    proper = same.any() and apart.any()
    squareness = float(D[apart].mean() - D[same].mean()) if proper else 0.0
    edges = [
        np.abs(D[a:b, m - 1] - D[a:b, m]).mean()
        for a, m, b in zip(bounds[:-2], bounds[1:-1], bounds[2:], strict=True)
    ]
    edginess = float(np.mean(edges)) if edges else 0.0
    smooth = spline(float(np.diff(bounds).min()), gamma * n)
    return CloddScore(smooth * (alpha * squareness + (1 - alpha) * edginess), squareness, edginess)


def check_weights(alpha: float, gamma: float) -> None:
    """Refuse α and γ outside 0..1."""
    for name, value in (("alpha", alpha), ("gamma", gamma)):
        if not 0 <= value <= 1:
            raise OptionError(f"{name}={value} must lie between 0 and 1")


def clodd(
    ivat: IVAT,
    *,
    alpha: float = 0.5,
    gamma: float = 0.05,
    max_clusters: int = 10,
    method: CloddMethod = "path+local",
    same_below: float = 0.0,
    n_particles: int = 20,
    n_iterations: int = 400,
    rng: Any = None,
) -> Partition:
    """Clusters in ordered dissimilarity data: the best blocks along the diagonal of an iVAT image.

    The objective of a partition into c ≥ 2 contiguous blocks is s · (α E_sq + (1-α) E_edge), with
    squareness E_sq, the mean dissimilarity between blocks minus the mean within; edginess E_edge,
    the mean contrast across the cuts, taken over the rows of the two blocks that meet there; and
    s, a spline in the size of the smallest block: 0 for one point, 1 from γ n points on.

    Parameters
    ----------
    ivat : IVAT
        The image. Points with counts enter exactly as if they were repeated.
    alpha : float, default 0.5
        Weight of squareness against edginess.
    gamma : float, default 0.05
        Share of all points from which a block is large enough. It hides every operator that is
        used more seldom. 0 switches the penalty off, for single points too.
    max_clusters : int, default 10
        The most clusters looked for.
    method : {"path+local", "exact", "swarm"}
        "path+local" starts from every single-linkage cut and improves by inserting, moving and
        deleting cuts; "exact" proves its answer where it can, for up to 720 distinct points
        (α = 1) or 120; "swarm" is the particle swarm of the original program.
    same_below : float, default 0
        If no height exceeds it, the answer is one cluster. Choose it in the metric's own unit:
        with "worst", 0.01 means operators linked by steps of at most 0.01 in output are one.
    n_particles, n_iterations : int
        Size and patience of the swarm.
    rng : seed or Generator, optional
        Randomness of the swarm; the others have none.

    Returns
    -------
    Partition
        With the score, its two terms, the best score by number of clusters, and whether the
        optimum was proved. One cluster when `same_below` says so, or when no partition scores
        above zero (its score is then 0).

    Notes
    -----
    Cuts are looked for only where the height is positive: equal operators are never separated,
    even where the spline would reward it. Scaling the dissimilarities by a constant changes
    nothing. Squareness is as published; edginess, spline and defaults follow a public program and
    agree with recollection of the original text, which was not at hand.

    References
    ----------
    Havens, Bezdek, Keller and Popescu, "Clustering in ordered dissimilarity data", International
    Journal of Intelligent Systems 24(5), 2009.

    Examples
    --------
    >>> from choquet.clustering import ivat
    >>> points = [[1, 0, 0], [0.9, 0.1, 0], [0.95, 0.05, 0], [0, 0, 1], [0, 0.1, 0.9]]
    >>> partition = clodd(ivat(points), method="exact")
    >>> partition.labels, partition.proved
    (array([0, 0, 0, 1, 1]), True)
    """
    check_option("method", method, ("path+local", "exact", "swarm"))
    check_weights(alpha, gamma)
    if max_clusters < 1:
        raise OptionError(f"max_clusters={max_clusters} must be at least 1")
    if not same_below >= 0:
        raise OptionError(f"same_below={same_below} must be at least 0")
    heights, counts = condensed(ivat)
    most = min(max_clusters, len(heights))
    if most == 1 or heights.max() <= same_below:
        return one_cluster(ivat, method, proved=True)
    from choquet.clustering._kernels_clodd import evaluate

    # Scaling changes nothing but tolerances, which are then the same for all metrics.
    unit = float(heights.max())
    alpha = float(alpha)
    sums = BlockSums(heights / unit, counts)
    reach = gamma * float(counts.sum())
    scores = np.full(most + 2, -1.0)
    proved = False
    if method == "swarm":
        sizes = (n_particles, n_iterations)
        bounds = swarm_bounds(sums, alpha, reach, most, sizes, generator(rng), scores)
    else:
        bounds = local_bounds(sums, alpha, reach, most, scores)
    if method == "exact":
        bounds, proved = exact_bounds(sums, alpha, reach, most, bounds, scores)
    score, squareness, edginess = evaluate(sums.tables, bounds, alpha, reach)
    if score <= 0:
        return one_cluster(ivat, method, proved)
    starts = np.concatenate([[0], np.flatnonzero(ivat.heights > 0)])
    cuts = starts[bounds[1:-1]]
    scores[len(bounds) - 1] = max(scores[len(bounds) - 1], score)
    return Partition(
        canonical_labels(block_labels(ivat, cuts), ivat.counts),
        len(bounds) - 1,
        method,
        score=score * unit,
        proved=proved,
        cuts=cuts,
        scores={c: float(s) * unit for c, s in enumerate(scores) if s >= 0},
        squareness=squareness * unit,
        edginess=edginess * unit,
    )


def one_cluster(ivat: IVAT, method: str, proved: bool) -> Partition:
    """The answer that there is nothing to separate."""
    labels = np.zeros(ivat.n_points, dtype=np.int64)
    cuts = np.zeros(0, dtype=np.int64)
    return Partition(labels, 1, method, score=0.0, proved=proved, cuts=cuts)


def local_bounds(
    sums: BlockSums, alpha: float, reach: float, most: int, scores: FloatArray
) -> IntArray:
    """Best boundaries by local search from single-linkage cuts, plain and with a least size."""
    from choquet.clustering._kernels_clodd import evaluate, greedy_cuts, local_search

    tables = sums.tables
    n = sums.n_positions
    ranking = np.argsort(-tables[0][1:], kind="stable") + 1
    coarse = np.sort(ranking[:COARSE])
    nested = {
        tuple(np.sort(cuts[:c]))
        for least in {0.0, math.ceil(reach / 2), math.ceil(reach)}
        for cuts in [greedy_cuts(tables, ranking, float(least), most - 1)]
        for c in range(1, len(cuts) + 1)
    }
    best, answer = -1.0, np.array([0, ranking[0], n])
    for cuts in sorted(nested, key=lambda cuts: (len(cuts), cuts)):
        start = np.array(cuts, dtype=np.int64)
        bounds = local_search(tables, start, coarse, alpha, reach, most, scores)
        score = evaluate(tables, bounds, alpha, reach)[0]
        if score > best:
            best, answer = score, bounds
    if n - 1 > COARSE:
        every = np.arange(1, n)
        answer = local_search(tables, answer[1:-1], every, alpha, reach, most, scores)
    return answer


def swarm_bounds(
    sums: BlockSums,
    alpha: float,
    reach: float,
    most: int,
    sizes: tuple[int, int],
    rng: np.random.Generator,
    scores: FloatArray,
) -> IntArray:
    """Best boundaries found by a particle swarm, run for every number of blocks.

    Particles are real cut positions among all copies, snapped to the nearest distinct point.
    """
    from choquet.clustering._kernels_clodd import evaluate_many

    n_particles, n_iterations = sizes
    if n_particles < 1 or n_iterations < 0:
        raise OptionError(
            f"n_particles={n_particles} must be at least 1, and n_iterations={n_iterations} at "
            "least 0"
        )
    n, total = sums.n_positions, sums.before[-1]
    middles = (sums.before[1:-2] + sums.before[2:-1]) / 2.0
    best, answer = -1.0, np.array([0, n // 2, n])
    for c in range(2, most + 1):
        bounds = np.zeros((n_particles, c + 1), dtype=np.int64)
        bounds[:, c] = n
        at = rng.uniform(0.0, total, (n_particles, c - 1))
        speed = rng.uniform(-0.1, 0.1, (n_particles, c - 1)) * total
        own, own_score = np.sort(at, axis=1), np.full(n_particles, -1.0)
        for _ in range(n_iterations + 1):
            at = np.sort(np.clip(at, 0.0, total), axis=1)
            bounds[:, 1:c] = 1 + np.searchsorted(middles, at)
            value = evaluate_many(sums.tables, bounds, alpha, reach)
            better = value > own_score
            own[better], own_score[better] = at[better], value[better]
            leader = int(own_score.argmax())
            if value.max() > best:
                best, answer = float(value.max()), bounds[value.argmax()].copy()
            pulls = rng.random((2, n_particles, c - 1)) * PULL
            speed = INERTIA * speed + pulls[0] * (own - at) + pulls[1] * (own[leader] - at)
            at = at + speed
        scores[c] = own_score.max()
    return answer
