"""Fuzzy integrals as a handful of contextual linear order statistics.

    data ──► learning ──► measure ──► walks ──► decomposition ──► explanation

`Measure` and `choquet_integral` are where to begin; `decompose` is what it is all for. Estimators,
pictures and data sets are loaded when they are first used.
"""

from typing import TYPE_CHECKING

from choquet._version import __version__
from choquet.doors import lazy_door

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

if TYPE_CHECKING:
    from choquet import datasets, decide, plot, reproduce
    from choquet.bipolar import BiCapacity, bipolar_integral
    from choquet.clustering import IVAT, big_ivat, clodd, cluster, ivat, vat
    from choquet.decide import Decision
    from choquet.decomposition import (
        Clodd,
        Clustering,
        ContextTree,
        Decomposition,
        Distinct,
        FuzzyCMeans,
        Linkage,
    )
    from choquet.decomposition.compare import compare
    from choquet.decomposition.decompose import decompose
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
    from choquet.exports.export import export
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
    from choquet.report import Report
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
else:
    __getattr__, __dir__ = lazy_door(
        __name__,
        {
            "bipolar": "BiCapacity bipolar_integral",
            "clustering": "IVAT big_ivat clodd cluster ivat vat",
            "decide": "Decision",
            "decomposition": (
                "Clodd Clustering ContextTree Decomposition Distinct FuzzyCMeans Linkage compare "
                "decompose"
            ),
            "estimators": (
                "ChoquetAdditiveClassifier ChoquetAdditiveRegressor ChoquetClassifier "
                "ChoquetRegressor ChoquetRegressorCV Commensurate ConformalClassifier "
                "ConformalRegressor ContextualClassifier ContextualRegressor FusionClassifier "
                "GradientDescentRegressor InUnits LambdaRegressor LinearConvexSumRegressor "
                "OWARegressor"
            ),
            "explanation": (
                "data_to_collect explain_model explain_operator explain_sample explain_samples "
                "of_class"
            ),
            "exports": "export",
            "indices": "banzhaf interaction sample_indices shapley uniform_distribution",
            "integrals": (
                "choquet_integral choquet_interval shilkret_integral shilkret_interval "
                "sipos_integral sugeno_integral sugeno_interval"
            ),
            "measures": (
                "AbstractMeasure FormulaMeasure Measure MobiusMeasure SparseMeasure "
                "SupportedMeasure"
            ),
            "operators": "DISSIMILARITIES LinearConvexSum OrderStatistic dissimilarity",
            "report": "Report",
            "storage": "load save",
            "uncertain_inputs": (
                "FuzzyIntegrals integral_of_fuzzy integral_of_intervals nondirect_integral "
                "trapezoid_memberships"
            ),
            "walks": (
                "DataSupport OperatorGraph all_sorts all_walk_weights gsamp random_sorts "
                "sort_rank sort_unrank sorts_of walk_weights"
            ),
            "watching": "watch",
        },
    )
