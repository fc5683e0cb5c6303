"""scikit-learn estimators of the learning room."""

from choquet.learning.estimators.baselines import (
    GradientDescentRegressor,
    LambdaRegressor,
    LinearConvexSumRegressor,
    OWARegressor,
)
from choquet.learning.estimators.cross_validated import ChoquetRegressorCV
from choquet.learning.estimators.regressor import ChoquetRegressor

__all__ = [
    "ChoquetRegressor",
    "ChoquetRegressorCV",
    "GradientDescentRegressor",
    "LambdaRegressor",
    "LinearConvexSumRegressor",
    "OWARegressor",
]
