"""scikit-learn estimators: the only room that knows scikit-learn.

A name loads its module, and scikit-learn with it; a model from a file needs its own module only,
and no scikit-learn to predict. See `choquet.estimators.foundation`.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from choquet.doors import lazy_door

__all__ = [
    "BinaryRegressor",
    "ChoquetAdditiveClassifier",
    "ChoquetAdditiveRegressor",
    "ChoquetClassifier",
    "ChoquetRegressor",
    "ChoquetRegressorCV",
    "Commensurate",
    "ConformalClassifier",
    "ConformalRegressor",
    "ContextualClassifier",
    "ContextualRegressor",
    "DecomposableRegressor",
    "FusionClassifier",
    "GeneticRegressor",
    "GradientDescentRegressor",
    "InUnits",
    "LambdaRegressor",
    "LinearConvexSumRegressor",
    "MultipleInstanceRegressor",
    "OWARegressor",
    "RewardPunishmentRegressor",
    "fit_additive_chunks",
    "fit_additive_dask",
    "fit_chunks",
    "fit_evidence",
    "fit_statistics",
]


def _prepare() -> None:
    """Let classes that are asked for by their public names be ready for scikit-learn."""
    import_module("choquet.estimators.foundation").load()


if TYPE_CHECKING:
    from choquet.estimators.additive.chunks import fit_additive_chunks, fit_additive_dask
    from choquet.estimators.additive.classifier import ChoquetAdditiveClassifier
    from choquet.estimators.additive.regressor import ChoquetAdditiveRegressor
    from choquet.estimators.bags import MultipleInstanceRegressor
    from choquet.estimators.baselines import (
        GradientDescentRegressor,
        LambdaRegressor,
        LinearConvexSumRegressor,
        OWARegressor,
    )
    from choquet.estimators.chunks import fit_chunks, fit_evidence, fit_statistics
    from choquet.estimators.classifier import ChoquetClassifier
    from choquet.estimators.commensurate import Commensurate, InUnits
    from choquet.estimators.conformal import ConformalClassifier, ConformalRegressor
    from choquet.estimators.contextual import ContextualRegressor
    from choquet.estimators.contextual_classifier import ContextualClassifier
    from choquet.estimators.cross_validated import ChoquetRegressorCV
    from choquet.estimators.fusion.classifier import FusionClassifier
    from choquet.estimators.regressor import ChoquetRegressor
    from choquet.estimators.searches import (
        BinaryRegressor,
        DecomposableRegressor,
        GeneticRegressor,
        RewardPunishmentRegressor,
    )
else:
    __getattr__, __dir__ = lazy_door(
        __name__,
        {
            "additive.chunks": "fit_additive_chunks fit_additive_dask",
            "additive.classifier": "ChoquetAdditiveClassifier",
            "additive.regressor": "ChoquetAdditiveRegressor",
            "bags": "MultipleInstanceRegressor",
            "baselines": (
                "GradientDescentRegressor LambdaRegressor LinearConvexSumRegressor OWARegressor"
            ),
            "chunks": "fit_chunks fit_evidence fit_statistics",
            "classifier": "ChoquetClassifier",
            "commensurate": "Commensurate InUnits",
            "conformal": "ConformalClassifier ConformalRegressor",
            "contextual": "ContextualRegressor",
            "contextual_classifier": "ContextualClassifier",
            "cross_validated": "ChoquetRegressorCV",
            "fusion.classifier": "FusionClassifier",
            "regressor": "ChoquetRegressor",
            "searches": (
                "BinaryRegressor DecomposableRegressor GeneticRegressor RewardPunishmentRegressor"
            ),
        },
        _prepare,
    )
