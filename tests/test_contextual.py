from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import KFold
from sklearn.utils.estimator_checks import parametrize_with_checks

import choquet
from choquet import ContextualClassifier, ContextualRegressor, sorts_of
from choquet.contexts.leaves import (
    LeafOptions,
    above_sums,
    fit_leaf,
    fit_statistics,
    rank_sums,
    statistics_of,
)
from choquet.contexts.pruning import weakest_links
from choquet.contexts.rows import RankRows
from choquet.contexts.splits import SplitOptions, best_splits
from choquet.contexts.tree import grow
from choquet.errors import DataError, OptionError, SupportWarning

pytestmark = pytest.mark.numerical

ESTIMATORS = [
    ContextualRegressor(cv=2, max_leaves=4),
    ContextualRegressor(convex=True, prune="bic", max_leaves=4, min_samples_leaf=5),
    ContextualClassifier(cv=2, max_leaves=3),
]


# The checks feed few rows and constant sources, which the estimators rightly warn about.
@pytest.mark.filterwarnings("ignore::choquet.errors.ChoquetWarning")
@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def make(n_samples=600, n_sources=4, sigma=0.01, seed=0):
    """Source 1 among the top two: the median-like second; else the mean of the extremes."""
    rng = np.random.default_rng(seed)
    X = rng.random((n_samples, n_sources))
    S = -np.sort(-X, axis=1)
    context = (X[:, [1]] < X).sum(axis=1) < 2
    y = np.where(context, S[:, 1], (S[:, 0] + S[:, -1]) / 2)
    return X, y + sigma * rng.standard_normal(n_samples), context


def test_the_defaults_recover_what_is_true():
    """Two operators for two: demining without noise, and one source of a hundred that decides."""
    for n_samples in (100, 300):
        made = choquet.datasets.make_demining(n_samples, rng=0)
        model = ContextualRegressor().fit(made.data, made.target)
        assert model.n_operators_ == 2
        assert model.score(made.data, made.target) > 1 - 1e-6
        noisy = choquet.datasets.make_demining(300, noise=0.05, rng=0)
        assert ContextualRegressor().fit(noisy.data, noisy.target).n_operators_ == 2
    rng = np.random.default_rng(0)
    X = rng.random((800, 60))
    y = np.where(X[:, 31] > np.median(X, axis=1), X.max(axis=1), X.min(axis=1))
    model = ContextualRegressor(cv=3).fit(X, y)
    assert [str(op.context) for op in model.operators_] in (
        ["x32 is among the top 30", "x32 is not among the top 30"],
        ["x32 is not among the top 30", "x32 is among the top 30"],
    )


def test_leaves_by_source_and_thresholds_where_asked():
    rng = np.random.default_rng(0)
    X = rng.random((500, 4))
    linear = X @ [0.4, 0.3, 0.2, 0.1] + 0.02 * rng.standard_normal(500)
    model = ContextualRegressor().fit(X, linear)
    assert model.n_operators_ == 1
    np.testing.assert_allclose(model.operators_[0].source_weights, [0.4, 0.3, 0.2, 0.1], atol=0.02)
    assert not model.operators_[0].rank_weights.any()
    y = np.where(X[:, 2] >= 0.6, 1.0, 0.0) + X[:, 0] + 0.02 * rng.standard_normal(500)
    asked = ContextualRegressor(n_cuts=12).fit(X, y)
    assert asked.score(X, y) > 0.97
    assert "x3 is at least 0." in " ".join(str(op.context) for op in asked.operators_)
    labels = asked.operator_of(X)
    for number, op in enumerate(asked.operators_):
        np.testing.assert_array_equal(op.context.holds_in(X), labels == number)
    with pytest.raises(DataError, match="give inputs"):
        asked.decomposition_.operator_of_sorts(sorts_of(X))


@pytest.mark.parametrize("convex", [True, False])
def test_the_truth_is_found(convex):
    X, y, context = make()
    model = ContextualRegressor(leaf="rank", convex=convex, l2=0.1, merge=False).fit(X, y)
    T, t, c = make(seed=1)
    assert np.mean((model.predict(T) - t) ** 2) < 2e-4
    first = model.operators_[int(model.operator_of(T[c][:1])[0])]
    np.testing.assert_allclose(first.weights, [0, 1, 0, 0], atol=0.05)
    merged = ContextualRegressor(leaf="rank", convex=convex, l2=0.1).fit(X, y)
    assert merged.n_operators_ == 2
    labels = merged.operator_of(X)
    assert (labels == labels[context][0]).tolist() == context.tolist()
    if convex:
        weights = model.decomposition_.weights
        assert weights.min() >= 0
        np.testing.assert_allclose(weights.sum(axis=1), 1.0, atol=1e-12)


def test_the_interface_of_a_decomposition():
    X, y, _ = make()
    model = ContextualRegressor(leaf="rank", l2=1.0).fit(X, y)
    d = model.decomposition_
    labels = model.operator_of(X)
    np.testing.assert_array_equal(model.rules_.predict(sorts_of(X)), labels)
    np.testing.assert_array_equal(d.operator_of_sorts(sorts_of(X)), labels)
    by_operator = np.array([op(X) for op in model.operators_])
    np.testing.assert_allclose(by_operator[labels, np.arange(len(X))], model.predict(X), atol=1e-9)
    assert len(np.unique(model.apply(X))) == model.n_leaves_
    assert sum(op.count for op in model.operators_) == len(X)
    assert sum(op.share for op in model.operators_) == pytest.approx(1)
    for number, op in enumerate(model.operators_):
        covered = np.logical_or.reduce([rule.covers(sorts_of(X)) for rule in op.context.rules])
        np.testing.assert_array_equal(covered, labels == number)
        assert op.rank == 4
        assert 0 < op.trust <= 1
        assert op.residual > 0
    assert ((model.trust(X) > 0) & (model.trust(X) <= 1)).all()
    assert "operators of 4 sources" in str(d)
    assert d.n_numbers == d.n_operators * 5


def test_statistics_of_all_splits_are_sums_of_rows():
    rng = np.random.default_rng(0)
    for n_sources in (3, 30):  # a kernel row by row, and blocks of products
        X = rng.random((80, n_sources))
        rows = RankRows.from_data(X, X.max(axis=1), rng.random(80) + 0.5)
        index = np.arange(5, 75)
        sums, counts = rank_sums(rows, index, rows.weight, 1)
        inside = np.cumsum(sums, axis=0)
        for top in range(1, n_sources):
            part = index[rows.ranks[index, 1] < top]
            expected = statistics_of(rows, part, rows.weight)
            np.testing.assert_allclose(inside[top - 1], expected, atol=1e-9)
            assert counts[:top].sum() == pytest.approx(rows.weight[part].sum())
        (above,), (weight,) = above_sums(rows, index, rows.weight, np.array([[2, 0]]))
        part = index[rows.ranks[index, 2] < rows.ranks[index, 0]]
        np.testing.assert_allclose(above, statistics_of(rows, part, rows.weight), atol=1e-9)
        assert weight == pytest.approx(rows.weight[part].sum())


def test_leaves_against_plain_solvers():
    from scipy.optimize import nnls

    rng = np.random.default_rng(0)
    X = rng.random((60, 5))
    y = X @ rng.random(5) + 0.3 * rng.standard_normal(60)
    rows = RankRows.from_data(X, y)
    packed = statistics_of(rows, rows.everything(), rows.weight)[None]
    A, t, ridge = rows.Z[:, :-1], rows.Z[:, -1], np.diag([2.0] * 5 + [0.0])
    expected = np.linalg.solve(A.T @ A + ridge, A.T @ t)
    found, errors = fit_statistics(packed, LeafOptions(l2=2.0), np.zeros(5))
    np.testing.assert_allclose(found[0], expected, atol=1e-10)
    assert errors[0] == pytest.approx(((A @ expected - t) ** 2).sum())
    rows = RankRows.from_data(X, y, convex=True)
    packed = statistics_of(rows, rows.everything(), rows.weight)[None]
    found, _ = fit_statistics(packed, LeafOptions(convex=True), np.full(5, 0.2))
    heavy = np.vstack([rows.Z[:, :5], 1e5 * np.ones(5)])
    expected = nnls(heavy, np.append(rows.Z[:, -1], 1e5))[0]
    np.testing.assert_allclose(found[0, :5], expected, atol=1e-6)


def test_l1_sets_weights_to_zero():
    X, y, _ = make()
    rows = RankRows.from_data(X, -np.sort(-X, axis=1)[:, 1])
    plain = fit_leaf(rows, rows.everything(), LeafOptions(), np.zeros(4))
    sparse = fit_leaf(rows, rows.everything(), LeafOptions(l1=100.0), np.zeros(4))
    assert (sparse.coefficients[:4] == 0).sum() >= 1
    assert sparse.error > plain.error
    assert ContextualRegressor(l1=1.0, max_leaves=4).fit(X, y).score(X, y) > 0.9


def test_outliers_count_less_with_a_robust_loss():
    X, y, _ = make(400, sigma=0.01)
    dirty = y.copy()
    dirty[::10] += 5.0
    options = {"max_leaves": 2, "prune": "none", "l2": 0.1}
    plain = ContextualRegressor(**options).fit(X, dirty)
    robust = ContextualRegressor(loss="huber", **options).fit(X, dirty)
    errors = [np.mean((model.predict(X) - y) ** 2) for model in (plain, robust)]
    assert errors[1] < 0.05 * errors[0]


def test_screening_finds_the_source_among_many():
    rng = np.random.default_rng(0)
    X = rng.random((1500, 40))
    first = X[:, 31] > np.median(X, axis=1)
    y = np.where(first, X.max(axis=1), X.min(axis=1)) + 0.01 * rng.standard_normal(1500)
    rows, options = RankRows.from_data(X, y), LeafOptions(l2=1.0)
    fit = fit_leaf(rows, rows.everything(), options, np.zeros(40))
    node, every = (rows, rows.everything(), fit), SplitOptions(80, above=False, screen=40)
    (screened,) = best_splits([node], options, SplitOptions(80, screen=4))
    (exact,) = best_splits([node], options, every)
    assert screened is not None
    assert (screened.source, screened.top) == (31, 20) == (exact.source, exact.top)
    assert screened.gain == pytest.approx(exact.gain)


def test_pruning_gives_nested_subtrees():
    X, y, _ = make(sigma=0.2)
    rows = RankRows.from_data(X, y)
    tree = grow(rows, rows.everything(), LeafOptions(), SplitOptions(20), max_leaves=12)
    path = weakest_links(tree)
    assert (np.diff(path.alphas) >= 0).all()
    assert (np.diff(path.n_leaves) < 0).all()
    assert (np.diff(path.errors) >= -1e-9).all()
    for k, count in enumerate(path.n_leaves):
        small = tree.cut(path.stops[k])
        assert len(small.leaves) == count
        assert small.error[small.leaves].sum() == pytest.approx(path.errors[k])
        assert (path.stops[k] >= path.stops[max(k - 1, 0)]).all()


@pytest.mark.parametrize("prune", ["cv", "bic"])
def test_noise_is_pruned_away(prune):
    rng = np.random.default_rng(0)
    X = rng.random((500, 4))
    y = X.mean(axis=1) + 0.1 * rng.standard_normal(500)
    assert ContextualRegressor(prune=prune).fit(X, y).n_leaves_ <= 2


def test_folds_in_parallel_give_the_same_tree():
    rng = np.random.default_rng(4)
    X = rng.random((400, 30))  # more columns than go to the kernel, more sources than are all tried
    y = np.where(X[:, 3] > X[:, 7], X.max(axis=1), X.min(axis=1)) + 0.1 * rng.standard_normal(400)
    alone, together = (
        ContextualRegressor(max_leaves=4, cv=3, n_jobs=n_jobs).fit(X, y) for n_jobs in (None, 2)
    )
    np.testing.assert_array_equal(alone.fold_errors_, together.fold_errors_)
    np.testing.assert_array_equal(alone.predict(X), together.predict(X))


def test_units_do_not_matter():
    X, y, _ = make()
    model = ContextualRegressor().fit(X, y)
    other = ContextualRegressor().fit(50 * X - 7, 1000 * y + 3)
    np.testing.assert_allclose(other.predict(50 * X - 7), 1000 * model.predict(X) + 3, atol=1e-5)


@pytest.mark.parametrize(("name", "bound"), [("yacht", 0.13), ("airfoil", 0.30)])
def test_reference_errors(name, bound):
    bunch = getattr(choquet.datasets, f"load_{name}")()
    X, y, errors = bunch.data, bunch.target, []
    for train, test in KFold(5, shuffle=True, random_state=0).split(X):
        H = (X - X[train].mean(axis=0)) / X[train].std(axis=0)
        t = (y - y[train].mean()) / y[train].std()
        model = ContextualRegressor(prune="cv").fit(H[train], t[train])
        errors.append(np.mean((model.predict(H[test]) - t[test]) ** 2))
    assert np.mean(errors) < bound


def test_classes_and_their_probabilities():
    X, score, _ = make(800)
    rng = np.random.default_rng(3)
    y = rng.random(800) < 1 / (1 + np.exp(-12 * (score - 0.5)))
    model = ContextualClassifier(l2=0.1).fit(X, y)
    truth = 1 / (1 + np.exp(-12 * (score - 0.5)))
    assert np.abs(model.predict_proba(X)[:, 1] - truth).mean() < 0.06
    levels = np.digitize(score, [0.4, 0.6])
    several = clone(model).fit(X, levels)
    assert several.score(X, levels) > 0.8
    assert several.operator_of(X).shape == (800, 3)
    np.testing.assert_allclose(several.predict_proba(X).sum(axis=1), 1.0)
    pure = clone(model).fit(X, X[:, 0] == X.max(axis=1))  # a context that knows one class alone
    assert np.isfinite(pure.decision_function(X)).all()
    assert pure.score(X, X[:, 0] == X.max(axis=1)) == 1


# -- bad input -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.random.default_rng(0).random((30, 3)), "too few for a rule"),
        (np.full((50, 3), 0.5), "every source is constant"),
        (np.repeat(np.random.default_rng(0).random((50, 1)), 3, axis=1), "tied in all sources"),
    ],
)
def test_little_information_is_a_warning(X, message):
    with pytest.warns(SupportWarning, match=message):
        model = ContextualRegressor().fit(X, np.arange(len(X)) / len(X))
    assert model.n_operators_ == 1
    assert np.isfinite(model.predict(X)).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"prune": "luck"}, "prune='luck'"),
        ({"max_leaves": 0}, "max_leaves=0"),
        ({"l2": -1.0}, "l2=-1"),
        ({"convex": True, "l1": 1.0}, "use l2"),
        ({"loss": "absolute"}, "loss='absolute'"),
        ({"cv": 1}, "cv=1"),
        ({"min_samples_leaf": 0}, "min_samples_leaf=0"),
    ],
)
def test_options_that_make_no_sense(options, message):
    X, y, _ = make(100)
    with pytest.raises(OptionError, match=message):
        ContextualRegressor(**options).fit(X, y)


def test_other_bad_input():
    pd = pytest.importorskip("pandas")
    X, y, _ = make(100)
    frame = pd.DataFrame(X, columns=["ir", "emi", "gpr", "lidar"])
    assert ContextualRegressor().fit(frame, y).decomposition_.sources[0] == "ir"
    frame["gpr"] = pd.Categorical(["low", "high"] * 50)
    with pytest.raises(DataError, match="gpr hold categories"):
        ContextualRegressor().fit(frame, y)
    with pytest.raises(ValueError, match="zero"):
        ContextualRegressor().fit(X, y, sample_weight=np.zeros(100))
    with pytest.raises(DataError, match="one class"):
        ContextualClassifier().fit(X, np.ones(100))
    with pytest.raises(ValueError, match="3 features"):
        ContextualRegressor().fit(X, y).predict(X[:, :3])
