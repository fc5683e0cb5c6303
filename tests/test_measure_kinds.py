"""Every public function × every kind of measure: the dense answer, a proved bound, or our error."""

import copy
import inspect
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure

import choquet
from choquet import indices
from choquet.errors import ChoquetError, DataError, MeasureError, SourceError, TooLargeError
from choquet.lattice.wide import pack
from choquet.measures import (
    AbstractMeasure,
    FormulaMeasure,
    Measure,
    MobiusMeasure,
    SparseMeasure,
    SupportedMeasure,
)

N = 4
NAMES = ("gpr", "ir", "emi", "sar")
WORDS = np.arange(1 << N, dtype=np.uint64)[:, None]


def kinds(n=N, seed=0):
    """The five kinds, each with the dense measure it should agree with (None: known in part)."""
    rng = np.random.default_rng(seed)
    names = NAMES if n == N else tuple(f"s{i}" for i in range(n))
    weights = rng.dirichlet(np.ones(n))
    inside = np.eye(n, dtype=bool)
    pairs = inside.copy()
    pairs[:, 0] = True
    mobius = MobiusMeasure(
        np.unique(np.concatenate([pack(inside), pack(pairs[1:])]), axis=0),
        np.full(2 * n - 1, 1 / (2 * n - 1)),
        names,
    )
    chain = np.tril(np.ones((n, n), dtype=bool))
    supported = SupportedMeasure(pack(chain[:-1]), np.linspace(0.1, 0.9, n - 1), names)
    sparse = SparseMeasure(pack(chain), np.linspace(-0.2, 1.3, n), names)
    found = {
        "formula": FormulaMeasure("additive", weights, names),
        "lambda": FormulaMeasure("additive", weights, names, curve=-1.5),
        "symmetric": FormulaMeasure("symmetric", weights, names),
        "mobius": mobius,
        "supported": supported,
        "sparse": sparse,
    }
    if n <= 10:
        found["dense"] = Measure.random(n, rng=seed, sources=names)
    return found


KINDS = kinds()
LARGE = kinds(30)


def dense_of(measure):
    return measure.to_measure(fill="midpoint")


@pytest.mark.parametrize("kind", KINDS)
def test_values_walks_and_integrals_are_those_of_the_dense_measure(kind):
    g = KINDS[kind]
    dense = dense_of(g)
    X = np.random.default_rng(1).random((200, N))
    sorts = choquet.all_sorts(N)
    np.testing.assert_allclose(g.values_of(WORDS), dense.values, atol=1e-14)
    np.testing.assert_allclose(g.walk_values(sorts), dense.walk_values(sorts), atol=1e-14)
    np.testing.assert_allclose(g.walk_weights(sorts), dense.walk_weights(sorts), atol=1e-14)
    np.testing.assert_allclose(g.integral(X), dense.integral(X), atol=1e-14)
    np.testing.assert_array_equal(g.integral_of_rows(X), g.integral(X))
    np.testing.assert_array_equal(g.interval_of_rows(X), g.interval(X))
    np.testing.assert_allclose(choquet.choquet_integral(g, X), dense.integral(X), atol=1e-14)
    lower, upper = g.bounds(WORDS)
    assert (lower <= dense.values + 1e-14).all()
    assert (dense.values <= upper + 1e-14).all()
    low, high = g.walk_bounds(sorts)
    assert (low <= dense.walk_values(sorts) + 1e-14).all()
    assert (dense.walk_values(sorts) <= high + 1e-14).all()
    interval = g.interval(X)
    assert (interval[:, 0] - 1e-14 <= g.integral(X)).all()
    assert (g.integral(X) <= interval[:, 1] + 1e-14).all()
    assert g.total == pytest.approx(dense.values[-1], abs=1e-14)


def _bars(ax):
    return [patch.get_width() for patch in ax.child_axes[0].patches]


def trapezoids(X):
    return np.clip(np.stack([X - 0.1, X - 0.05, X + 0.05, X + 0.1], axis=-1), 0, 1)


def ends_of(fuzzy):
    return np.column_stack([fuzzy.lower.min(axis=1), fuzzy.upper.max(axis=1)])


FUNCTIONS = {
    "choquet_integral": lambda g, X: choquet.choquet_integral(g, X),
    "choquet_interval": lambda g, X: choquet.choquet_interval(g, X),
    "sugeno_integral": lambda g, X: choquet.sugeno_integral(g, X),
    "sugeno_interval": lambda g, X: choquet.sugeno_interval(g, X),
    "shilkret_integral": lambda g, X: choquet.shilkret_integral(g, X),
    "shilkret_interval": lambda g, X: choquet.shilkret_interval(g, X),
    "sipos_integral": lambda g, X: choquet.sipos_integral(g, X - 0.5),
    "shapley": lambda g, X: choquet.shapley(g),
    "banzhaf": lambda g, X: choquet.banzhaf(g),
    "interaction": lambda g, X: choquet.interaction(g),
    "interaction_transform": lambda g, X: indices.interaction_transform(g),
    "orness": lambda g, X: indices.orness(g),
    "andness": lambda g, X: indices.andness(g),
    "veto": lambda g, X: indices.veto(g),
    "favour": lambda g, X: indices.favour(g),
    "entropy": lambda g, X: indices.entropy(g),
    "nonadditivity": lambda g, X: indices.nonadditivity(g),
    "nonmodularity": lambda g, X: indices.nonmodularity(g),
    "nearest_order_statistic": lambda g, X: indices.nearest_order_statistic(g).weights,
    "uniform_distribution": lambda g, X: choquet.uniform_distribution(g).mean,
    "summary": lambda g, X: indices.summary(g).shapley,
    "walk_weights": lambda g, X: choquet.walk_weights(g, choquet.sorts_of(X)),
    "all_walk_weights": lambda g, X: choquet.all_walk_weights(g),
    "gsamp": lambda g, X: choquet.gsamp(g, n_walks=10, rng=0),
    "OperatorGraph": lambda g, X: choquet.OperatorGraph(g).weights(),
    "supported_shapley": lambda g, X: indices.supported_shapley(
        g, choquet.DataSupport.from_data(X)
    ),
    "sample_indices": lambda g, X: choquet.sample_indices(g, n_rounds=2).shapley.value,
    "decompose": lambda g, X: choquet.decompose(g).predict(X[:3]),
    "bipolar_integral": lambda g, X: choquet.bipolar_integral(g, g, X - 0.5),
    "BiCapacity": lambda g, X: choquet.BiCapacity.from_measures(g, g).integral(X - 0.5),
    "integral of silence": lambda g, X: choquet.choquet_integral(
        g, np.where(X > 0.99, np.nan, X), missing="interval"
    ),
    "explain_samples": lambda g, X: [one.output for one in choquet.explain_samples(g, X[:3])],
    "integral_of_intervals": lambda g, X: choquet.integral_of_intervals(g, 0.9 * X, X),
    "integral_of_fuzzy": lambda g, X: ends_of(choquet.integral_of_fuzzy(g, trapezoids(X))),
    "nondirect_integral": lambda g, X: choquet.nondirect_integral(
        g, choquet.trapezoid_memberships(trapezoids(X), np.linspace(0, 1, 5))
    ),
    "explain_sample": lambda g, X: choquet.explain_sample(g, X[0]).output,
    "plot.indices": lambda g, X: _bars(choquet.plot.indices(g, ax=Figure().subplots())),
    "plot.distribution": lambda g, X: len(
        choquet.plot.distribution(g, ax=Figure().subplots()).lines
    ),
}


WORDS_AND_FILES = {
    "explain_model": lambda g, path: choquet.explain_model(g).text(),
    "explain_operator": lambda g, path: str(choquet.explain_operator(g, 0)),
    "data_to_collect": lambda g, path: str(choquet.data_to_collect(g)),
    "export": lambda g, path: choquet.export(g, path / "g.js", to="js").read_text(),
    "of_class": lambda g, path: choquet.of_class(g, 1),
}
"""Functions whose answers are no arrays."""


def test_no_public_function_of_a_measure_is_left_out():
    first = {
        name: next(iter(inspect.signature(getattr(choquet, name)).parameters), None)
        for name in choquet.__all__
        if inspect.isfunction(getattr(choquet, name))
    }
    taking = {name for name, one in first.items() if one in ("measure", "model", "positive")}
    assert taking == taking & (set(FUNCTIONS) | set(WORDS_AND_FILES))


@pytest.mark.parametrize("function", WORDS_AND_FILES)
@pytest.mark.parametrize("kind", KINDS)
def test_words_and_files_are_made_of_every_kind_or_it_is_refused(kind, function, tmp_path):
    try:
        told = bool(WORDS_AND_FILES[function](KINDS[kind], tmp_path))
    except ChoquetError as error:
        told = len(str(error)) > 20
    assert told


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("kind", KINDS)
def test_every_function_takes_every_kind_or_says_what_to_use(kind, function):
    g, call = KINDS[kind], FUNCTIONS[function]
    X = np.random.default_rng(2).random((50, N))
    try:
        found, refused = np.asarray(call(g, X)), None
    except ChoquetError as error:
        refused = error
    if refused is not None:
        if kind == "supported":
            assert "fill" in str(refused)  # known in part: the answer would be a guess
        else:
            with pytest.raises(type(refused)):  # not normal: nor is the dense one
                call(dense_of(g), X)
        return
    assert np.isfinite(found).all()
    if function == "decompose" and kind != "dense":
        return  # it may draw other walks of one kind than of another
    if function == "sample_indices":
        expected = choquet.sample_indices(dense_of(g), n_rounds=2).shapley.value
    else:
        expected = np.asarray(call(dense_of(g), X))
    bounds = ("interval", "intervals", "of_fuzzy")
    if function.endswith(bounds) and kind == "supported":
        assert (found[:, 0] <= expected[:, 0] + 1e-12).all()
        assert (expected[:, 1] <= found[:, 1] + 1e-12).all()
    else:
        np.testing.assert_allclose(found, expected, atol=1e-10)


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("kind", LARGE)
def test_thirty_sources_give_an_answer_or_a_clear_error(kind, function):
    g = LARGE[kind]
    X = np.random.default_rng(3).random((20, 30))
    try:
        found = np.asarray(FUNCTIONS[function](g, X))
    except ChoquetError as error:
        message = str(error)
        found = None
    if found is None:
        assert len(message) > 30
        return
    assert np.isfinite(found).all()
    if function in ("choquet_integral", "sugeno_integral", "shilkret_integral"):
        interval = FUNCTIONS[function.replace("integral", "interval")](g, X)
        assert (interval[:, 0] - 1e-12 <= found).all()
        assert (found <= interval[:, 1] + 1e-12).all()


def test_a_model_of_eighteen_sources_integrates_as_it_predicts():
    rng = np.random.default_rng(0)
    X = rng.random((60, 18))
    model = choquet.ChoquetRegressor().fit(X, X.mean(axis=1))
    new = rng.random((5, 18))
    np.testing.assert_allclose(
        choquet.choquet_integral(model.measure_, new), model.predict(new), atol=1e-12
    )


@pytest.mark.parametrize("kind", KINDS)
def test_frames_are_read_by_name(kind):
    g = KINDS[kind]
    X = np.random.default_rng(4).random((6, N))
    frame = pd.DataFrame(X, columns=NAMES)
    mixed = frame[["sar", "emi", "gpr", "ir"]]
    for call in (choquet.choquet_integral, choquet.choquet_interval, choquet.sipos_integral):
        expected = call(g, X)
        np.testing.assert_array_equal(call(g, mixed), expected)
        np.testing.assert_array_equal(call(g, pl.DataFrame(dict(mixed))), expected)
        np.testing.assert_array_equal(call(g, mixed.to_dict("list")), expected)
    np.testing.assert_array_equal(choquet.choquet_integral(g, mixed.iloc[0]), g.integral(X[0]))
    with pytest.raises(DataError, match="no column 'gpr'"):
        choquet.choquet_integral(g, frame.rename(columns={"gpr": "radar"}))


def test_parts_read_frames_by_name():
    g = Measure([0, 0, 1, 1, 1, 1, 1, 1], sources=["gpr", "ir", "emi"])
    parts = choquet.decompose(g)
    X = np.random.default_rng(0).random((20, 3))
    frame = pd.DataFrame(X, columns=g.sources)[["emi", "ir", "gpr"]]
    np.testing.assert_array_equal(parts.predict(frame), parts.predict(X))
    np.testing.assert_array_equal(parts.operator_of(frame), parts.operator_of(X))
    np.testing.assert_array_equal(parts.assess(frame).integral, parts.assess(X).integral)


@pytest.mark.parametrize("kind", KINDS)
def test_copies_are_equal_and_as_frozen(kind):
    g = KINDS[kind]
    unpickled = pickle.loads(pickle.dumps(g))  # noqa: S301 - our own bytes
    for twin in (unpickled, copy.deepcopy(g), g.renamed(g.sources)):
        assert twin == g
        assert type(twin) is type(g)
        arrays = [value for value in vars(twin).values() if isinstance(value, np.ndarray)]
        assert arrays
        assert not any(array.flags.writeable for array in arrays)
    with pytest.raises(AttributeError):
        g.sources = ("a",)
    other = g.renamed({"gpr": "radar"})
    assert other.sources == ("radar", *NAMES[1:])
    assert other != g
    with pytest.raises(SourceError, match="radar"):
        g.renamed({"radar": "x"})


def test_only_the_dense_measure_has_values():
    assert [kind for kind, g in KINDS.items() if hasattr(g, "values")] == ["dense"]
    assert all(isinstance(g, AbstractMeasure) for g in KINDS.values())
    for function in ("integral", "interval", "bounds", "values_of", "__call__"):
        assert all(function not in vars(type(g)) for g in KINDS.values()), function


@pytest.mark.parametrize("given_subsets", ["names", "numbers", "masks", "words"])
def test_subsets_may_be_given_in_four_ways(given_subsets):
    g = KINDS["dense"]
    wanted = {
        "names": [(), "ir", ("gpr", "emi")],
        "numbers": [(), 1, {0, 2}],
        "masks": np.array([0, 2, 5]),
        "words": np.array([[0], [2], [5]], dtype=np.uint64),
    }[given_subsets]
    np.testing.assert_array_equal(g.values_of(wanted), g.values[[0, 2, 5]])


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda g: g.values_of(np.array([16])), SourceError),
        (lambda g: g.values_of(np.array([-1])), SourceError),
        (lambda g: g.values_of("gpr"), DataError),
        (lambda g: g.values_of(["radar"]), SourceError),
        (lambda g: g.walk_values([[0, 0, 1, 2]]), DataError),
        (lambda g: g.integral([[0.1, 0.2]]), DataError),
        (lambda g: g.integral([[0.1, 0.2, np.nan, 0.3]]), DataError),
        (lambda g: choquet.choquet_integral(g.sources, [[0.1] * 4]), MeasureError),
        (lambda g: choquet.shapley([0, 1]), MeasureError),
    ],
)
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_no_subset_sort_sample_or_measure_is_refused(kind, call, error):
    with pytest.raises(error):
        call(KINDS[kind])


def test_a_fitted_model_in_place_of_a_measure_says_where_its_measure_is():
    X = np.random.default_rng(0).random((30, 3))
    model = choquet.ChoquetRegressor().fit(X, X.mean(axis=1))
    with pytest.raises(MeasureError, match="measure_"):
        choquet.shapley(model)


def test_a_measure_known_in_part_is_filled_only_when_asked():
    g = KINDS["supported"]
    with pytest.raises(MeasureError, match="only bounds"):
        g.to_measure()
    whole = SupportedMeasure.from_measure(KINDS["dense"], np.ones(16))
    assert whole.to_measure() == KINDS["dense"]
    with pytest.raises(TooLargeError):
        LARGE["formula"].to_measure()


@given(st.lists(st.floats(0.01, 1), min_size=2, max_size=5), st.floats(-5, 5))
def test_a_bent_additive_measure_is_a_sugeno_measure(raw, curve):
    weights = np.array(raw) / np.sum(raw)
    g = FormulaMeasure("additive", weights, curve=curve)
    dense = g.to_measure()  # refused unless it is monotone and normal
    a, b = dense(0), dense(1)
    if len(raw) > 2:
        joint = a + b + g.parameter * a * b
        assert dense(0, 1) == pytest.approx(joint, abs=1e-9 * (1 + abs(g.parameter)))
    np.testing.assert_allclose(choquet.shapley(g), choquet.shapley(dense), atol=1e-12)


def test_support_of_a_frame_knows_its_columns():
    g = Measure([0, 0, 1, 1, 1, 1, 1, 1], sources=["gpr", "ir", "emi"])
    X = np.random.default_rng(0).random((20, 3))
    frame = pd.DataFrame(X, columns=g.sources)[["emi", "ir", "gpr"]]
    support = choquet.DataSupport.from_data(frame, sources=g.sources)
    np.testing.assert_array_equal(support.count, choquet.DataSupport.from_data(X).count)
    other = choquet.DataSupport.from_data(frame)
    assert other.sources == ("emi", "ir", "gpr")
    for use in (
        lambda: choquet.OperatorGraph(g, other),
        lambda: choquet.gsamp(g, other),
        lambda: indices.supported_shapley(g, other),
        lambda: choquet.decompose(g, support=other),
        lambda: support + other,
    ):
        with pytest.raises(DataError, match=r"emi, ir, gpr|'emi', 'ir', 'gpr'"):
            use()
    assert (support + support).sources == g.sources
