from __future__ import annotations

import pytest
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from choquet.learning.estimators import (
    ChoquetClassifier,
    ChoquetRegressor,
    ChoquetRegressorCV,
    FusionClassifier,
    GradientDescentRegressor,
    LambdaRegressor,
    LinearConvexSumRegressor,
    OWARegressor,
)

ESTIMATORS = [
    ChoquetClassifier(),
    ChoquetClassifier(ordinal=True),
    FusionClassifier([("bayes", GaussianNB()), ("tree", DecisionTreeClassifier(random_state=0))]),
    ChoquetRegressor(),
    ChoquetRegressor(monotone=False, normal=False, bias=True, penalty="l2"),
    ChoquetRegressorCV(priors=("symmetric", "lambda"), strengths=(1.0,), n_paths=1, cv=2),
    GradientDescentRegressor(max_iter=100),
    LambdaRegressor(),
    LinearConvexSumRegressor(),
    OWARegressor(),
]


# The checks feed targets and inputs of any scale, which the estimators rightly warn about.
@pytest.mark.filterwarnings("ignore::choquet.errors.ChoquetWarning")
@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
