"""Fuzzy integrals as a handful of contextual linear order statistics.

    data ──► learning ──► measure ──► walks ──► decomposition ──► explanation

`Measure` and `choquet_integral` are where to begin; `decompose` is what it is all for. Estimators,
pictures and data sets are loaded when they are first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from choquet._version import __version__
from choquet.bipolar import BiCapacity, bipolar_integral
from choquet.clustering import IVAT, big_ivat, clodd, cluster, ivat, vat
from choquet.decomposition import (
    Clodd,
    Clustering,
    ContextTree,
    Decomposition,
    Distinct,
    FuzzyCMeans,
    Linkage,
    compare,
    decompose,
)
from choquet.indices import banzhaf, interaction, sample_indices, shapley, uniform_distribution
from choquet.integrals import (
    choquet_integral,
    choquet_interval,
    shilkret_integral,
    shilkret_interval,
    sipos_integral,
    sugeno_integral,
    sugeno_interval,
)
from choquet.measures import (
    AbstractMeasure,
    FormulaMeasure,
    Measure,
    MobiusMeasure,
    SparseMeasure,
    SupportedMeasure,
)
from choquet.operators import DISSIMILARITIES, LinearConvexSum, OrderStatistic, dissimilarity
from choquet.storage import load, save
from choquet.uncertain_inputs import (
    FuzzyIntegrals,
    integral_of_fuzzy,
    integral_of_intervals,
    nondirect_integral,
    trapezoid_memberships,
)
from choquet.walks import (
    DataSupport,
    OperatorGraph,
    all_sorts,
    all_walk_weights,
    gsamp,
    random_sorts,
    sort_rank,
    sort_unrank,
    sorts_of,
    walk_weights,
)
from choquet.watching import watch

if TYPE_CHECKING:  # for readers and type checkers; at run time `__getattr__` loads these
    from choquet import datasets, decide, plot, reproduce
    from choquet.decide import Decision
    from choquet.estimators import (
        ChoquetAdditiveClassifier,
        ChoquetAdditiveRegressor,
        ChoquetClassifier,
        ChoquetRegressor,
        ChoquetRegressorCV,
        Commensurate,
        ConformalClassifier,
        ConformalRegressor,
        ContextualClassifier,
        ContextualRegressor,
        FusionClassifier,
        GradientDescentRegressor,
        InUnits,
        LambdaRegressor,
        LinearConvexSumRegressor,
        OWARegressor,
    )
    from choquet.explanation import (
        data_to_collect,
        explain_model,
        explain_operator,
        explain_sample,
        explain_samples,
        of_class,
    )
    from choquet.exports import export
    from choquet.report import Report

__all__ = [
    "DISSIMILARITIES",
    "IVAT",
    "AbstractMeasure",
    "BiCapacity",
    "ChoquetAdditiveClassifier",
    "ChoquetAdditiveRegressor",
    "ChoquetClassifier",
    "ChoquetRegressor",
    "ChoquetRegressorCV",
    "Clodd",
    "Clustering",
    "Commensurate",
    "ConformalClassifier",
    "ConformalRegressor",
    "ContextTree",
    "ContextualClassifier",
    "ContextualRegressor",
    "DataSupport",
    "Decision",
    "Decomposition",
    "Distinct",
    "FormulaMeasure",
    "FusionClassifier",
    "FuzzyCMeans",
    "FuzzyIntegrals",
    "GradientDescentRegressor",
    "InUnits",
    "LambdaRegressor",
    "LinearConvexSum",
    "LinearConvexSumRegressor",
    "Linkage",
    "Measure",
    "MobiusMeasure",
    "OWARegressor",
    "OperatorGraph",
    "OrderStatistic",
    "Report",
    "SparseMeasure",
    "SupportedMeasure",
    "__version__",
    "all_sorts",
    "all_walk_weights",
    "banzhaf",
    "big_ivat",
    "bipolar_integral",
    "choquet_integral",
    "choquet_interval",
    "clodd",
    "cluster",
    "compare",
    "data_to_collect",
    "datasets",
    "decide",
    "decompose",
    "dissimilarity",
    "explain_model",
    "explain_operator",
    "explain_sample",
    "explain_samples",
    "export",
    "gsamp",
    "integral_of_fuzzy",
    "integral_of_intervals",
    "interaction",
    "ivat",
    "load",
    "nondirect_integral",
    "of_class",
    "plot",
    "random_sorts",
    "reproduce",
    "sample_indices",
    "save",
    "shapley",
    "shilkret_integral",
    "shilkret_interval",
    "sipos_integral",
    "sort_rank",
    "sort_unrank",
    "sorts_of",
    "sugeno_integral",
    "sugeno_interval",
    "trapezoid_memberships",
    "uniform_distribution",
    "vat",
    "walk_weights",
    "watch",
]

_LAZY: dict[str, str] = {
    name: f"choquet.{room}"
    for room, names in {
        "estimators": "ChoquetAdditiveClassifier ChoquetAdditiveRegressor ChoquetClassifier "
        "ChoquetRegressor ChoquetRegressorCV Commensurate ConformalClassifier ConformalRegressor "
        "ContextualClassifier ContextualRegressor FusionClassifier GradientDescentRegressor "
        "InUnits LambdaRegressor LinearConvexSumRegressor OWARegressor",
        "explanation": "data_to_collect explain_model explain_operator explain_sample "
        "explain_samples of_class",
        "decide": "Decision",
        "report": "Report",
        "exports": "export",
    }.items()
    for name in names.split()
}
"""Public names by the room that holds them: they bring libraries that take long to load."""

_ROOMS = ("datasets", "decide", "plot", "reproduce")
"""Rooms that are named as a whole, ``choquet.plot.ivat``, and load when they first are."""


def __getattr__(name: str) -> Any:
    """Load a heavy room when one of its names is first asked for (PEP 562)."""
    if name in _LAZY:
        return getattr(import_module(_LAZY[name]), name)
    if name in _ROOMS:
        return import_module(f"choquet.{name}")
    raise AttributeError(f"module 'choquet' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
