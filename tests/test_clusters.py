import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.cluster import DBSCAN, AgglomerativeClustering, KMeans, MeanShift

from choquet.clustering import clodd, cluster, fuzzy_c_means, ivat, medoids
from choquet.clustering.partition import canonical_labels
from choquet.errors import DataError, OptionError
from choquet.operators import DISSIMILARITIES, dissimilarity, lp

pytestmark = pytest.mark.numerical

CENTRES = np.array([[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]])
TRUTH = np.repeat([0, 1, 2], [20, 15, 10])
POINTS = np.abs(CENTRES[TRUTH] + np.random.default_rng(0).normal(scale=0.01, size=(45, 3)))

EVERY_METHOD = [
    ("clodd", {}),
    ("single_linkage", {"k": 3}),
    ("single_linkage", {"level": 0.1}),
    ("fuzzy_c_means", {"k": 3, "rng": 0}),
    (KMeans(3, n_init=3, random_state=0), {}),
    (DBSCAN(eps=0.1), {}),
    (DBSCAN(eps=0.1, metric="precomputed"), {}),
    (AgglomerativeClustering(3), {}),
    (AgglomerativeClustering(3, metric="precomputed", linkage="average"), {}),
    (MeanShift(bandwidth=0.1), {}),
]


def name_of(metric):
    return metric if isinstance(metric, str) else metric.name


@pytest.mark.parametrize(("method", "options"), EVERY_METHOD, ids=str)
def test_every_method_finds_plain_groups(method, options):
    rows = np.random.default_rng(1).permutation(45)
    partition = cluster(POINTS[rows], method=method, **options)
    assert np.array_equal(partition.labels, TRUTH[rows])
    assert partition.n_clusters == 3
    names = {"clodd": "path+local"}
    name = method if isinstance(method, str) else type(method).__name__
    assert partition.method == names.get(name, name)


def test_counts_number_the_clusters_and_weigh_where_they_can():
    counts = np.where(TRUTH == 2, 5, 1)
    for method, options in EVERY_METHOD:
        labels = cluster(POINTS, method=method, counts=counts, **options).labels
        assert np.array_equal(labels, np.array([1, 2, 0])[TRUTH])
    lone = [[1, 0], [0, 1], [0.99, 0.01]]
    assert cluster(lone, method=DBSCAN(eps=0.1, min_samples=5)).n_clusters == 0
    heavy = cluster(lone, method=DBSCAN(eps=0.1, min_samples=5), counts=[1, 9, 1])
    assert np.array_equal(heavy.labels, [-1, 0, -1])


def test_an_image_made_before_gives_the_same():
    picture = ivat(POINTS)
    assert np.array_equal(cluster(picture).labels, clodd(picture).labels)
    assert np.array_equal(cluster(picture, method="single_linkage", k=3).labels, picture.cut(k=3))
    D = dissimilarity(POINTS)
    for method in ("clodd", DBSCAN(eps=0.1, metric="precomputed")):
        assert np.array_equal(cluster(D, method=method, metric="precomputed").labels, TRUTH)
    assert cluster(picture, level=10.0).n_clusters == 1
    assert cluster(picture, k=2).n_clusters == 2


def test_a_clusterer_only_needs_fit_predict():
    class Halves:
        def fit_predict(self, X):
            return (np.arange(len(X)) >= len(X) / 3).astype(int) * 7

    assert np.array_equal(cluster(POINTS[:6], method=Halves()).labels, [1, 1, 0, 0, 0, 0])


def test_fuzzy_c_means_is_a_stationary_point():
    partition = fuzzy_c_means(POINTS, 3, metric="l2", rng=0)
    U = partition.memberships
    assert np.allclose(U.sum(axis=1), 1)
    assert np.array_equal(U.argmax(axis=1), partition.labels)
    centres = (U**2).T @ POINTS / (U**2).sum(axis=0)[:, None]
    D = dissimilarity(POINTS, centres, metric="sql2")
    assert np.allclose(U, (1 / D) / (1 / D).sum(axis=1, keepdims=True), atol=1e-5)
    assert partition.score == pytest.approx(-(U**2 * D).sum(), rel=1e-6)


def test_fuzzy_c_means_counts_are_repetitions():
    counts = np.random.default_rng(2).integers(1, 4, 45)
    one = fuzzy_c_means(POINTS, 3, counts=counts, rng=0)
    other = fuzzy_c_means(POINTS.repeat(counts, axis=0), 3, rng=0)
    assert np.allclose(one.memberships.repeat(counts, axis=0), other.memberships, atol=1e-6)
    assert one.score == pytest.approx(other.score)


def test_fuzzy_c_means_extremes():
    one = fuzzy_c_means(POINTS, 1, rng=0)
    assert np.allclose(one.memberships, 1)
    every = fuzzy_c_means([[1, 0], [0, 1], [1, 0]], 2, rng=0)
    assert np.allclose(every.memberships, [[1, 0], [0, 1], [1, 0]])
    crisp = fuzzy_c_means(POINTS, 3, fuzzifier=1.05, rng=0)
    assert crisp.memberships.max(axis=1).min() > 0.999
    # Operators that differ only where the metric does not look.
    blind = fuzzy_c_means([[0.1, 0.1], [0.2, 0.2]], 2, metric="aitchison", rng=0)
    assert blind.n_clusters == 2


points_and_counts = st.integers(1, 12).flatmap(
    lambda n: st.tuples(
        arrays(float, (n, 3), elements=st.integers(0, 4).map(float)),
        st.lists(st.integers(1, 5), min_size=n, max_size=n),
    )
)


@settings(max_examples=80, deadline=None)
@given(points_and_counts, st.sampled_from(["l1", "l2", "sql2", "linf", "emd", "worst", "rms"]))
def test_medoids_have_the_smallest_sum(drawn, metric):
    points, counts = drawn
    (got,) = medoids(points, counts=counts, metric=metric)
    sums = dissimilarity(points, metric=metric) @ np.array(counts)
    assert sums[got] == pytest.approx(sums.min())


@pytest.mark.parametrize("metric", [*DISSIMILARITIES, lp(3)], ids=name_of)
def test_medoids_of_clusters_under_every_metric(metric):
    points = np.random.default_rng(0).dirichlet(np.ones(4), 300)
    labels = np.random.default_rng(1).integers(-1, 3, 300)
    got = medoids(points, labels, metric=metric)
    called = medoids(points, labels, metric=lambda V, W: dissimilarity(V, W, metric=metric))
    for number in range(3):
        inside = np.flatnonzero(labels == number)
        sums = dissimilarity(points[inside], metric=metric).sum(axis=1)
        assert got[number] == called[number] == inside[sums.argmin()]


@pytest.mark.parametrize("metric", ["rms", "emd", "worst", lp(3)], ids=name_of)
def test_medoid_of_many_points(metric):
    rng = np.random.default_rng(0)
    points = rng.dirichlet(np.ones(4), 5000)
    counts = rng.integers(1, 9, 5000)
    sums = dissimilarity(points, metric=metric) @ counts
    assert medoids(points, counts=counts, metric=metric)[0] == sums.argmin()


def test_canonical_labels_do_not_depend_on_numbers():
    labels = np.array([5, 5, 2, 9, 9, -3])
    counts = np.ones(6, dtype=np.int64)
    assert np.array_equal(canonical_labels(labels, counts), [0, 0, 2, 1, 1, -1])
    assert np.array_equal(canonical_labels(np.array([-1, -1]), counts[:2]), [-1, -1])


def test_errors_name_the_value():
    with pytest.raises(OptionError, match=r"method='kmeans' is unknown; .*clodd"):
        cluster(POINTS, method="kmeans")
    with pytest.raises(OptionError, match="method=3 is neither a name"):
        cluster(POINTS, method=3)
    with pytest.raises(OptionError, match="k=3 and level=None are for named methods"):
        cluster(POINTS, method=DBSCAN(), k=3)
    with pytest.raises(OptionError, match="k=None, level=None"):
        cluster(POINTS, method="single_linkage")
    with pytest.raises(OptionError, match="needs k and no level: k=None"):
        cluster(POINTS, method="fuzzy_c_means")
    with pytest.raises(OptionError, match="not metric='precomputed'"):
        cluster(np.zeros((2, 2)), method="fuzzy_c_means", k=1, metric="precomputed")
    for method in ("fuzzy_c_means", DBSCAN()):
        with pytest.raises(DataError, match="needs the operators themselves"):
            cluster(ivat(POINTS), method=method)
    with pytest.raises(OptionError, match=r"DBSCAN\(\) is not: give it"):
        cluster(np.zeros((2, 2)), method=DBSCAN(), metric="precomputed")
    with pytest.raises(OptionError, match=r"has no vectors for DBSCAN\(\)"):
        cluster(POINTS, method=DBSCAN(), metric=lambda V, W: np.zeros((len(V), len(W))))

    class Short:
        def fit_predict(self, X):
            return [0]

    with pytest.raises(DataError, match=r"labels of shape \(1,\) for 45 points"):
        cluster(POINTS, method=Short())
    with pytest.raises(OptionError, match="not emd"):
        fuzzy_c_means(POINTS, 2, metric="emd")
    with pytest.raises(OptionError, match="fuzzifier=1"):
        fuzzy_c_means(POINTS, 2, fuzzifier=1)
    with pytest.raises(OptionError, match="n_starts=0"):
        fuzzy_c_means(POINTS, 2, n_starts=0)
    with pytest.raises(OptionError, match="k=46 clusters cannot be made of 45"):
        fuzzy_c_means(POINTS, 46)
    with pytest.raises(DataError, match="cluster 0 is empty"):
        medoids(POINTS[:2], [1, 1])
    with pytest.raises(DataError, match="labels must be 2 whole numbers, not float64"):
        medoids(POINTS[:2], [0.5, 1])
    with pytest.raises(DataError, match="all negative"):
        medoids(POINTS[:2], [-1, -1])
