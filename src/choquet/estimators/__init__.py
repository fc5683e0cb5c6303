"""scikit-learn estimators: the only room that knows scikit-learn."""

from choquet.estimators.additive import ChoquetAdditiveRegressor
from choquet.estimators.additive_chunks import fit_additive_chunks, fit_additive_dask
from choquet.estimators.additive_classifier import ChoquetAdditiveClassifier
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
from choquet.estimators.fusion import FusionClassifier
from choquet.estimators.regressor import ChoquetRegressor
from choquet.estimators.searches import (
    BinaryRegressor,
    DecomposableRegressor,
    GeneticRegressor,
    RewardPunishmentRegressor,
)

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
