import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.cluster.hierarchy import cophenet, fcluster, linkage
from scipy.spatial.distance import pdist, squareform

from choquet.clustering import big_ivat, ivat, spanning, vat
from choquet.errors import DataError, OptionError, TooLargeError
from choquet.operators import DISSIMILARITIES, a_norm, dissimilarity, lp

pytestmark = pytest.mark.numerical

METRICS = [*DISSIMILARITIES, lp(3), a_norm(np.diag([1.0, 0.0, 2.0, 1.0]))]

# A coarse grid makes ties and duplicates the rule.
grid_points = arrays(
    float, st.tuples(st.integers(1, 14), st.just(3)), elements=st.integers(0, 3).map(float)
)


def name_of(metric):
    return metric if isinstance(metric, str) else metric.name


def minimax(D):
    """Floyd's algorithm for the smallest largest step."""
    F = D.copy()
    for k in range(len(F)):
        F = np.minimum(F, np.maximum(F[:, k : k + 1], F[k : k + 1]))
    return F


def by_point(picture):
    """The iVAT matrix with rows and columns in the points' order."""
    matrix = np.empty((picture.n_points, picture.n_points))
    matrix[np.ix_(picture.order, picture.order)] = picture.matrix()
    return matrix


def simplex(n, seed=0):
    return np.random.default_rng(seed).dirichlet(np.ones(4), n)


@settings(max_examples=80, deadline=None)
@given(grid_points)
def test_heights_are_the_minimax_image(points):
    picture = ivat(points, metric="l1")
    D = dissimilarity(points, metric="l1")
    assert sorted(picture.order) == list(range(len(points)))
    assert picture.heights[0] == 0
    image = by_point(picture)
    assert np.array_equal(image, minimax(D))
    assert np.array_equal(image, image.T)
    # An ultrametric: the two larger sides of every triangle are equal.
    assert np.all(image[:, None] <= np.maximum(image[:, :, None], image[None]))
    assert picture.n_distinct == len(np.unique(points, axis=0))
    if len(points) > 1:
        tree = linkage(pdist(points, "cityblock"), "single")
        assert np.allclose(image, squareform(cophenet(tree)))


@pytest.mark.parametrize("metric", METRICS, ids=name_of)
def test_every_metric_matches_its_own_matrix(metric):
    points = simplex(60)
    picture = ivat(points, metric=metric)
    D = dissimilarity(points, metric=metric)
    assert np.allclose(by_point(picture), minimax(D))
    assert D[picture.order[0]].max() == pytest.approx(D.max())
    given_matrix = ivat(D, metric="precomputed")
    assert np.allclose(by_point(given_matrix), minimax(D))
    called = ivat(points, metric=lambda V, W: dissimilarity(V, W, metric=metric))
    assert np.allclose(by_point(called), minimax(D))


@settings(max_examples=40, deadline=None)
@given(grid_points, st.randoms(use_true_random=False))
def test_order_of_rows_and_start_do_not_matter(points, random):
    rows = list(range(len(points)))
    random.shuffle(rows)
    image = by_point(ivat(points))
    shuffled = ivat(points[rows])
    assert np.array_equal(by_point(shuffled), image[np.ix_(rows, rows)])
    # Not only the values: the picture itself is the same.
    assert np.array_equal(shuffled.heights, ivat(points).heights)
    start = rows[0]
    turned = ivat(points, start=start)
    assert turned.order[0] == start
    assert np.allclose(by_point(turned), image)


def test_relabelling_sources_before_the_walks_changes_nothing():
    points = simplex(30)
    counts = np.arange(1, 31)
    rows = np.random.default_rng(1).permutation(30)
    one, other = ivat(points, counts=counts), ivat(points[rows], counts=counts[rows])
    assert np.array_equal(one.heights, other.heights)
    assert np.array_equal(one.image(17), other.image(17))


@settings(max_examples=40, deadline=None)
@given(grid_points, st.data())
def test_image_is_the_pooled_matrix_of_repeated_points(points, data):
    n = len(points)
    counts = data.draw(st.lists(st.integers(1, 4), min_size=n, max_size=n))
    picture = ivat(points, counts=counts)
    total = picture.n_total
    assert total == sum(counts)
    repeated = picture.order.repeat(np.array(counts)[picture.order])
    full = by_point(picture)[np.ix_(repeated, repeated)]
    assert np.array_equal(picture.image(), full)
    for size in (1, 2, 3, 7, total + 3):
        # Pooling by exact areas: both sides cut finely enough to share borders.
        fine = full.repeat(size, axis=0).repeat(size, axis=1)
        pooled = fine.reshape(size, total, size, total).mean(axis=(1, 3))
        assert np.allclose(picture.image(size), pooled, atol=1e-12)
    again = ivat(points.repeat(counts, axis=0))
    assert np.allclose(again.image(5), picture.image(5), atol=1e-12)


def test_image_of_huge_counts_needs_no_memory():
    picture = ivat([[1, 0], [0, 1]], counts=[10**12, 10**12], metric="l1")
    assert np.array_equal(picture.image(2), [[0, 2], [2, 0]])
    assert picture.image().shape == (1000, 1000)


def test_image_of_many_points_is_exact_at_any_size():
    points = simplex(3000)
    picture = ivat(points)
    full = picture.matrix()
    assert np.allclose(picture.image(300), full.reshape(300, 10, 300, 10).mean(axis=(1, 3)))
    assert np.array_equal(picture.image(3000), full)


@settings(max_examples=60, deadline=None)
@given(grid_points, st.integers(0, 12))
def test_cut_is_single_linkage(points, level):
    picture = ivat(points, metric="l1")
    labels = picture.cut(level=level / 2)
    assert len(labels) == len(points)
    same = by_point(picture) <= level / 2
    assert np.array_equal(labels[:, None] == labels, same)
    sizes = np.bincount(labels)
    assert np.all(np.diff(sizes) <= 0)
    if len(points) > 1:
        tree = linkage(pdist(points, "cityblock"), "single")
        theirs = fcluster(tree, level / 2, "distance")
        assert np.array_equal(labels[:, None] == labels, theirs[:, None] == theirs)
    for k in range(1, picture.n_distinct + 1):
        labels = picture.cut(k=k)
        assert set(labels) == set(range(k))


def test_clusters_are_numbered_by_count_then_by_first_occurrence():
    points = [[0.0], [10.0], [20.0], [20.5]]
    assert np.array_equal(ivat(points, metric="l1").cut(level=1), [1, 2, 0, 0])
    assert np.array_equal(ivat(points, metric="l1", counts=[1, 9, 1, 1]).cut(level=1), [2, 0, 1, 1])


def test_distance_is_the_entry_of_the_image():
    picture = ivat(simplex(25))
    image = by_point(picture)
    assert picture.distance(3, 3) == 0
    assert all(picture.distance(i, j) == image[i, j] for i in range(25) for j in range(25))


def test_one_two_and_equal_points_are_ordinary():
    one = ivat([[0.2, 0.8]])
    assert (one.n_distinct, one.n_total) == (1, 1)
    assert np.array_equal(one.image(), [[0.0]])
    assert np.array_equal(one.cut(k=1), [0])
    two = ivat([[1, 0], [0, 1]], metric="l1")
    assert np.array_equal(two.image(), [[0, 2], [2, 0]])
    equal = ivat(np.tile([0.5, 0.5], (7, 1)))
    assert np.array_equal(equal.heights, np.zeros(7))
    assert np.array_equal(equal.cut(level=0), np.zeros(7))
    assert np.array_equal(equal.image(3), np.zeros((3, 3)))
    assert ivat([[0.0]], metric="precomputed").n_points == 1


def test_vat_has_its_own_order_and_the_reordered_matrix():
    points = simplex(20)
    D = dissimilarity(points, metric="l2")
    for result in (vat(points, metric="l2"), vat(D, metric="precomputed")):
        assert np.allclose(result.matrix(), D[np.ix_(result.order, result.order)])
        assert D[result.order[0]].max() == pytest.approx(D.max())
        for r in range(1, 20):
            inside, outside = result.order[:r], result.order[r:]
            step = D[np.ix_(inside, outside)]
            assert step.min() == pytest.approx(step[:, 0].min())
            assert result.heights[r] == pytest.approx(step.min())


@pytest.mark.parametrize("metric", ["l1", "l2", "linf", lp(3)], ids=name_of)
def test_start_is_exact_below_and_close_above_the_limit(metric, monkeypatch):
    points = simplex(200, seed=3)
    D = dissimilarity(points, metric=metric)
    assert D[ivat(points, metric=metric).order[0]].max() == pytest.approx(D.max())
    monkeypatch.setattr(spanning, "EXACT_START", 100)
    assert D[ivat(points, metric=metric).order[0]].max() >= D.max() / 2


@pytest.mark.parametrize("metric", ["rms", "emd", "worst"])
def test_sampled_image_is_within_twice_its_radius(metric):
    points = simplex(400)
    counts = np.random.default_rng(0).integers(1, 5, 400)
    sampled = big_ivat(points, n_representatives=60, metric=metric, counts=counts)
    assert sampled.ivat.n_points == 60
    assert sampled.ivat.n_total == counts.sum()
    D = dissimilarity(points, points[sampled.representatives], metric=metric)
    nearest = D[np.arange(400), sampled.assignment]
    assert np.allclose(nearest, D.min(axis=1))
    assert sampled.radius == pytest.approx(nearest.max())
    assert np.array_equal(
        sampled.ivat.counts, np.bincount(sampled.assignment, weights=counts).astype(int)
    )
    truth = by_point(ivat(points, metric=metric))
    truth = truth[np.ix_(sampled.representatives, sampled.representatives)]
    got = by_point(sampled.ivat)
    assert np.all(got >= truth - 1e-12)
    assert np.all(got <= truth + 2 * sampled.radius + 1e-12)


def test_all_points_may_be_representatives():
    points = [[1, 0], [0, 1], [1, 0]]
    sampled = big_ivat(points)
    assert sampled.radius == 0
    assert len(sampled.representatives) == 2
    assert sampled.assignment[0] == sampled.assignment[2]


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        ([[0, 1, 2], [1, 0, 3]], r"must be square, not of shape \(2, 3\)"),
        ([[0, 1], [2, 0]], r"entries \(0, 1\) and \(1, 0\) are 1\.0 and 2\.0"),
        ([[0, -1], [-1, 0]], r"entry \(0, 1\) is -1\.0"),
        ([[0, 1], [1, 5]], r"entry \(1, 1\) is 5\.0"),
        ([[0, np.nan], [np.nan, 0]], "row 0, column 1 holds nan"),
        (np.zeros((0, 0)), "no points"),
    ],
)
def test_a_matrix_that_is_none_of_dissimilarities(matrix, message):
    with pytest.raises(DataError, match=message):
        ivat(matrix, metric="precomputed")


def test_errors_name_the_value(monkeypatch):
    points = [[1, 0], [0, 1], [1, 0]]
    picture = ivat(points)
    with pytest.raises(DataError, match="no points"):
        ivat(np.zeros((0, 3)))
    with pytest.raises(DataError, match="row 0, column 0 holds inf"):
        ivat([[np.inf, 0]])
    with pytest.raises(OptionError, match=r"metric='cosine' is unknown"):
        ivat(points, metric="cosine")
    with pytest.raises(DataError, match="counts must hold 3 values, not 2"):
        ivat(points, counts=[1, 2])
    with pytest.raises(DataError, match=r"position 1 holds 0\.5"):
        ivat(points, counts=[1, 0.5, 1])
    with pytest.raises(DataError, match="divide them"):
        ivat(points, counts=[1e17, 1, 1])
    for metric in ("rms", "precomputed"):
        with pytest.raises(OptionError, match="start=9 is none of the"):
            ivat([[0, 1], [1, 0]], metric=metric, start=9)
    with pytest.raises(OptionError, match="k=3 clusters cannot be made of 2 distinct points"):
        picture.cut(k=3)
    with pytest.raises(OptionError, match="k=None, level=None"):
        picture.cut()
    with pytest.raises(OptionError, match=r"k=2, level=0\.1"):
        picture.cut(k=2, level=0.1)
    with pytest.raises(OptionError, match="level=-1"):
        picture.cut(level=-1)
    with pytest.raises(OptionError, match="size=0"):
        picture.image(0)
    with pytest.raises(TooLargeError, match="75 GiB"):
        picture.image(100_000)
    with pytest.raises(DataError, match="no point 7 among 3"):
        picture.distance(0, 7)
    with pytest.raises(OptionError, match="n_representatives=0"):
        big_ivat(points, n_representatives=0)
    with pytest.raises(OptionError, match="not the function <lambda>"):
        big_ivat(points, metric=lambda V, W: V @ W.T)
    many = ivat(np.zeros((20_001, 1)))
    with pytest.raises(TooLargeError, match="20001 × 20001"):
        many.matrix()


def test_callables_beyond_the_limit_use_two_sweeps(monkeypatch):
    monkeypatch.setattr(spanning, "EXACT_START", 100)
    points = simplex(40)
    called = ivat(points, metric=lambda V, W: dissimilarity(V, W, metric="l2"))
    assert np.allclose(by_point(called), by_point(ivat(points, metric="l2")))


@pytest.mark.parametrize("metric", ["l1", "l2", "linf", "sql2", lp(3)], ids=name_of)
@pytest.mark.parametrize("kind", ["spread", "ties", "line"])
def test_the_tree_of_very_many_points_is_the_same(metric, kind, monkeypatch):
    rng = np.random.default_rng(0)
    points = {
        "spread": simplex(700),
        "ties": rng.integers(0, 5, (700, 3)).astype(float),
        "line": np.linspace(0, 1, 300)[:, None] ** 2,
    }[kind]
    expected = ivat(points, metric=metric)
    monkeypatch.setattr(spanning, "TREE_POINTS", 2)
    got = ivat(points, metric=metric)
    assert sorted(got.order) == list(range(len(points)))
    assert np.allclose(np.sort(got.heights), np.sort(expected.heights))
    assert got.order[0] == expected.order[0]
    assert np.allclose(by_point(got), by_point(expected))
    few = ivat(points[:3], metric=metric)
    assert np.allclose(by_point(few), minimax(dissimilarity(points[:3], metric=metric)))


@pytest.mark.parametrize("total", [1.0, 250.0])
def test_nine_weights_with_one_total_are_eight_coordinates(monkeypatch, total):
    points = total * np.random.default_rng(3).dirichlet(np.ones(9), 400)
    expected = ivat(points, metric="l2")
    turned = spanning._without_total(points, 2.0)
    assert turned.shape == (400, 8)
    exact = dissimilarity(points, metric="l2")
    assert np.allclose(dissimilarity(turned, metric="l2"), exact, rtol=0, atol=1e-13 * total)
    monkeypatch.setattr(spanning, "TREE_POINTS", 2)
    got = ivat(points, metric="l2")
    assert np.allclose(np.sort(got.heights), np.sort(expected.heights), rtol=1e-14)
    assert np.allclose(by_point(got), by_point(expected), rtol=1e-14)
    points[0, 0] += 0.1 * total
    assert spanning._without_total(points, 2.0) is points


def test_importing_compiles_nothing():
    code = (
        "import sys, choquet.decomposition; print('numba' in sys.modules, 'scipy' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]
