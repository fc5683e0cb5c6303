import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from choquet.clustering import IVAT, BlockSums, clodd, clodd_score, ivat
from choquet.clustering import clodd_exact as exact
from choquet.clustering.clodd import local_bounds
from choquet.clustering.clodd_exact import exact_bounds
from choquet.errors import DataError, OptionError, TooLargeError

pytestmark = pytest.mark.numerical

REFERENCE = np.array(
    [
        [0.00, 0.12, 0.59, 0.73, 0.78],
        [0.12, 0.00, 0.55, 0.71, 0.74],
        [0.59, 0.55, 0.00, 0.19, 0.19],
        [0.73, 0.71, 0.19, 0.00, 0.16],
        [0.78, 0.74, 0.19, 0.16, 0.00],
    ]
)


def picture_of(heights, counts=None):
    """An image with given heights, points in order."""
    heights = np.asarray(heights, dtype=float)
    n = len(heights)
    counts = np.ones(n, dtype=np.int64) if counts is None else np.asarray(counts, dtype=np.int64)
    return IVAT(np.arange(n), heights, counts, "given")


def expanded(picture):
    """The same image with every point repeated, as a matrix."""
    counts = picture.counts[picture.order]
    heights = np.zeros(counts.sum())
    heights[np.concatenate([[0], np.cumsum(counts)[:-1]])] = picture.heights
    return picture_of(heights).matrix()


def brute_force(picture, alpha, gamma, most):
    """Best score over all partitions that keep equal points together, on the repeated matrix."""
    D = expanded(picture)
    ends = np.cumsum(picture.counts[picture.order])[:-1]
    where = ends[picture.heights[1:] > 0]
    best = {}
    for c in range(2, most + 1):
        for cuts in itertools.combinations(where, c - 1):
            score = clodd_score(D, cuts, alpha=alpha, gamma=gamma).score
            best[c] = max(best.get(c, -1.0), score)
    return best


heights_lists = st.lists(st.integers(0, 12).map(lambda k: k / 8), min_size=2, max_size=9)


@st.composite
def pictures(draw, most_count=3):
    heights = draw(heights_lists)
    heights[0] = 0.0
    counts = draw(
        st.lists(st.integers(1, most_count), min_size=len(heights), max_size=len(heights))
    )
    return picture_of(heights, counts)


@pytest.mark.parametrize(
    ("cuts", "squareness", "edginess", "score"),
    [([2], 0.5183, 0.5280, 0.5232), ([3], 0.2017, 0.1420, 0.1718)],
)
def test_reference_values_of_the_objective(cuts, squareness, edginess, score):
    got = clodd_score(REFERENCE, cuts)
    assert got.squareness == pytest.approx(squareness, abs=5e-5)
    assert got.edginess == pytest.approx(edginess, abs=5e-5)
    assert got.score == pytest.approx(score, abs=5e-5)


def test_reference_matrix_is_parted_two_to_three():
    partition = clodd(ivat(REFERENCE, metric="precomputed"), method="exact")
    assert np.array_equal(partition.labels, [1, 1, 0, 0, 0])
    assert partition.proved


@settings(max_examples=60, deadline=None)
@given(pictures())
def test_block_sums_are_those_of_the_repeated_matrix(picture):
    sums = BlockSums(picture.heights, picture.counts)
    D = expanded(picture)
    ends = np.concatenate([[0], np.cumsum(picture.counts)])
    n = picture.n_points
    for a, b in itertools.combinations(range(n + 1), 2):
        block = D[ends[a] : ends[b], ends[a] : ends[b]]
        assert sums.within(a, b) == pytest.approx(block.sum() / 2, abs=1e-9)
        for c in range(b, n + 1):
            rows = D[ends[a] : ends[b], ends[b] : ends[c]]
            assert sums.between(a, b, b, c) == pytest.approx(rows.sum(), abs=1e-9)
        for m in range(a + 1, b):
            columns = D[ends[a] : ends[b], ends[m] - 1 : ends[m] + 1]
            expected = np.abs(np.diff(columns, axis=1)).mean()
            assert sums.edge(a, m, b) == pytest.approx(expected, abs=1e-9)


@settings(max_examples=60, deadline=None)
@given(
    pictures(), st.sampled_from([0.0, 0.3, 0.5, 1.0]), st.sampled_from([0.0, 0.05, 0.4]),
    st.integers(2, 5),
)  # fmt: skip
def test_exact_is_the_best_of_all_partitions(picture, alpha, gamma, most):
    partition = clodd(picture, alpha=alpha, gamma=gamma, max_clusters=most, method="exact")
    most = min(most, picture.n_distinct)
    truth = brute_force(picture, alpha, gamma, most) if most > 1 else {}
    best = max(truth.values(), default=0.0)
    assert partition.proved
    assert partition.score == pytest.approx(max(best, 0.0), abs=1e-9)
    for c, score in partition.scores.items():
        assert score == pytest.approx(truth[c], abs=1e-9)
    quick = clodd(picture, alpha=alpha, gamma=gamma, max_clusters=most)
    assert quick.score <= partition.score + 1e-9
    assert all(quick.scores[c] <= truth[c] + 1e-9 for c in quick.scores)


@pytest.mark.parametrize("alpha", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("gamma", [0.0, 0.05, 0.3])
@pytest.mark.parametrize("seed", range(4))
def test_dynamic_programs_agree_with_enumeration(alpha, gamma, seed):
    rng = np.random.default_rng(seed)
    heights = np.round(rng.random(11) ** 2, 2 if seed % 2 else 9)
    heights[0] = 0
    sums = BlockSums(heights, rng.integers(1, 4, 11))
    reach = gamma * sums.before[-1]
    answers = []
    for limit in (10**9, 0):
        scores = np.full(7, -1.0)
        known = local_bounds(sums, alpha, reach, 5, scores)
        bounds, proved = exact_bounds(sums, alpha, reach, 5, known, scores, enumerate_below=limit)
        answers.append((scores.max(), proved))
        assert bounds[0] == 0
    (truth, _), (got, proved) = answers
    assert proved
    assert got == pytest.approx(truth, abs=1e-8)


@settings(max_examples=40, deadline=None)
@given(pictures(), st.sampled_from(["path+local", "exact", "swarm"]))
def test_score_is_that_of_the_labels_and_scale_changes_nothing(picture, method):
    options = {"method": method, "max_clusters": 4, "n_iterations": 5, "rng": 0}
    partition = clodd(picture, **options)
    assert partition.n_clusters == len(set(partition.labels)) == len(partition.cuts) + 1
    assert partition.method == method
    totals = np.bincount(partition.labels, weights=picture.counts)
    assert np.all(np.diff(totals) <= 0)
    if partition.n_clusters > 1:
        before = np.concatenate([[0], np.cumsum(picture.counts)])
        direct = clodd_score(expanded(picture), before[partition.cuts])
        assert partition.score == pytest.approx(direct.score, abs=1e-9)
        assert partition.squareness == pytest.approx(direct.squareness, abs=1e-9)
        assert partition.edginess == pytest.approx(direct.edginess, abs=1e-9)
        assert partition.scores[partition.n_clusters] == pytest.approx(partition.score)
        assert max(partition.scores.values()) == pytest.approx(partition.score)
        # Equal points stay together.
        assert np.all(picture.heights[partition.cuts] > 0)
    large = IVAT(picture.order, picture.heights * 1024, picture.counts, "given")
    assert np.array_equal(clodd(large, **options).labels, partition.labels)


@pytest.mark.parametrize("method", ["path+local", "exact", "swarm"])
def test_three_plain_groups_are_found(method):
    rng = np.random.default_rng(3)
    centres = np.array([[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]])
    truth = np.repeat([0, 1, 2], [20, 15, 10])
    points = centres[truth] + rng.normal(scale=0.01, size=(45, 3))
    partition = clodd(ivat(points), method=method, rng=0, max_clusters=4)
    assert np.array_equal(partition.labels, truth)
    assert partition.n_clusters == 3


def test_local_search_is_not_below_the_swarm():
    for seed in range(6):
        rng = np.random.default_rng(seed)
        picture = ivat(rng.dirichlet(np.ones(4), 150))
        local = clodd(picture, max_clusters=6)
        swarm = clodd(picture, max_clusters=6, method="swarm", rng=seed)
        assert local.score >= swarm.score - 1e-12


def test_alpha_one_without_size_limit_is_a_single_linkage_cut():
    rng = np.random.default_rng(5)
    for _ in range(10):
        heights = rng.random(10)
        heights[0] = 0
        picture = picture_of(heights)
        best = clodd(picture, alpha=1, gamma=0, max_clusters=10, method="exact")
        assert np.array_equal(best.cuts, picture.cut_positions(k=best.n_clusters))


def test_a_proof_that_is_given_up_says_so(monkeypatch):
    monkeypatch.setattr(exact, "MAX_NODES", 0)
    picture = ivat(np.random.default_rng(0).dirichlet(np.ones(4), 60))
    partition = clodd(picture, method="exact")
    assert not partition.proved
    assert partition.score >= clodd(picture).score


def test_forty_points_are_proved():
    picture = ivat(np.random.default_rng(0).dirichlet(np.ones(4), 40))
    for alpha in (0.0, 0.5, 1.0):
        best = clodd(picture, alpha=alpha, method="exact")
        assert best.proved
        assert best.score >= clodd(picture, alpha=alpha).score - 1e-12


def test_one_operator_is_an_answer():
    assert clodd(picture_of([0])).n_clusters == 1
    assert clodd(picture_of([0, 0, 0])).n_clusters == 1
    assert clodd(picture_of([0, 0.3])).n_clusters == 1  # two single points: nothing to see
    same = picture_of([0, 0.004, 0.009, 0.001])
    assert clodd(same, same_below=0.01).n_clusters == 1
    assert clodd(same, same_below=0.005).n_clusters == 2
    assert clodd(same, same_below=0.01).proved
    assert clodd(same, max_clusters=1).n_clusters == 1
    assert clodd(picture_of([0, 0.3], [5, 5])).n_clusters == 2


def test_huge_counts_cost_nothing():
    partition = clodd(picture_of([0, 0.1, 0.9, 0.1], [10**12, 1, 10**12, 5]), method="exact")
    assert np.array_equal(partition.labels, [1, 1, 0, 0])


def test_many_points_take_both_searches():
    rng = np.random.default_rng(0)
    heights = rng.random(6000) * 0.1
    heights[[0, 2000, 4500]] = [0, 1, 0.9]
    partition = clodd(picture_of(heights))
    assert np.array_equal(partition.cuts, [2000, 4500])


def test_errors_name_the_value():
    picture = picture_of(np.arange(200) / 200)
    with pytest.raises(OptionError, match=r"method='fast' is unknown; .*path\+local, exact, swarm"):
        clodd(picture, method="fast")
    with pytest.raises(OptionError, match=r"alpha=1\.5"):
        clodd(picture, alpha=1.5)
    with pytest.raises(OptionError, match="gamma=nan"):
        clodd(picture, gamma=math.nan)
    with pytest.raises(OptionError, match="max_clusters=0"):
        clodd(picture, max_clusters=0)
    with pytest.raises(OptionError, match="same_below=-1"):
        clodd(picture, same_below=-1)
    with pytest.raises(OptionError, match="n_particles=0"):
        clodd(picture, method="swarm", n_particles=0)
    with pytest.raises(TooLargeError, match="up to 120 distinct points, not 200; use"):
        clodd(picture, method="exact")
    with pytest.raises(OptionError, match=r"cuts=.* must increase between 1 and 4"):
        clodd_score(REFERENCE, [3, 3])
    with pytest.raises(DataError, match="at least one position"):
        BlockSums([])
    with pytest.raises(DataError, match=r"the smallest are -1\.0"):
        BlockSums([0, -1])
    sums = BlockSums([0, 1, 2])
    with pytest.raises(DataError, match=r"\[2, 1\) is no block of 3"):
        sums.within(2, 1)
    with pytest.raises(DataError, match="cut at 2 does not lie inside"):
        sums.edge(0, 2, 2)


@pytest.mark.parametrize("n", [3, 4])
def test_plain_and_compiled_loops_give_the_same_partition(n, monkeypatch):
    from choquet import Measure, all_sorts
    from choquet.clustering import _kernels, _kernels_blocks, _kernels_clodd
    from choquet.lattice.compiling import Loop

    weights = Measure.random(n, rng=n).walk_weights(all_sorts(n))
    found = []
    for spent in (-np.inf, np.inf):
        for room in (_kernels, _kernels_blocks, _kernels_clodd):
            for loop in vars(room).values():
                if isinstance(loop, Loop) and loop.steps is not None:
                    monkeypatch.setattr(loop, "spent", spent)
        tree = ivat(weights)
        found.append((tree.order, tree.heights, clodd(tree)))
    (order, heights, plain), (other_order, other_heights, fast) = found
    np.testing.assert_array_equal(order, other_order)
    np.testing.assert_array_equal(heights, other_heights)
    np.testing.assert_array_equal(plain.cuts, fast.cuts)
    assert (plain.score, plain.scores) == (fast.score, fast.scores)
