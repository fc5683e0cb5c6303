"""The additive estimators: scikit-learn's rules."""

from __future__ import annotations

from sklearn.utils.estimator_checks import parametrize_with_checks

from choquet import ChoquetAdditiveClassifier, ChoquetAdditiveRegressor

ESTIMATORS = [ChoquetAdditiveRegressor(max_order=2), ChoquetAdditiveClassifier(max_order=2)]


@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
