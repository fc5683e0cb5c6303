"""scikit-learn estimators of the learning room."""

from choquet.learning.estimators.baselines import (
    GradientDescentRegressor,
    LambdaRegressor,
    LinearConvexSumRegressor,
    OWARegressor,
)
from choquet.learning.estimators.chunks import fit_chunks, fit_evidence, fit_statistics
from choquet.learning.estimators.classifier import ChoquetClassifier
from choquet.learning.estimators.contextual import ContextualRegressor
from choquet.learning.estimators.contextual_classifier import ContextualClassifier
from choquet.learning.estimators.cross_validated import ChoquetRegressorCV
from choquet.learning.estimators.fusion import FusionClassifier
from choquet.learning.estimators.regressor import ChoquetRegressor

__all__ = [
    "ChoquetClassifier",
    "ChoquetRegressor",
    "ChoquetRegressorCV",
    "ContextualClassifier",
    "ContextualRegressor",
    "FusionClassifier",
    "GradientDescentRegressor",
    "LambdaRegressor",
    "LinearConvexSumRegressor",
    "OWARegressor",
    "fit_chunks",
    "fit_evidence",
    "fit_statistics",
]
