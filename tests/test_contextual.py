from __future__ import annotations

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from choquet import ContextualClassifier, ContextualRegressor

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
