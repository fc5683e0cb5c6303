"""scikit-learn, loaded when it is first needed.

A model that was read from a file predicts and explains without scikit-learn, whose import takes
longer than either. So the estimators stand on the bases below, which know their options and check
plain arrays by themselves. As soon as more is asked for (an estimator's class by its public name,
`fit`, a table with names, tags, a picture in a notebook), `load` puts scikit-learn's bases under
them. From then on nothing differs from classes that were made on those.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from functools import update_wrapper
from importlib import import_module
from inspect import signature
from types import MethodType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from choquet.arrays import column_names

__all__ = [
    "BaseEstimator",
    "ClassifierMixin",
    "OneToOneFeatureMixin",
    "PoorScore",
    "RegressorMixin",
    "Template",
    "TransformerMixin",
    "available_if",
    "check_is_fitted",
    "is_classifier",
    "later",
    "load",
    "made",
    "validate_data",
]

_THEIRS = ("set_", "_repr_", "score", "fit_transform", "get_metadata_routing", "_get_")
"""How the names of methods begin that scikit-learn's bases bring."""


class _Options:
    """What every estimator can do before scikit-learn is there."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        # A class without options has the constructor of all objects, which takes anything.
        # Sorted, as scikit-learn has them: so files are the same bytes with and without it.
        known = signature(type(self).__init__).parameters
        found = {name: getattr(self, name) for name in sorted(known) if name in vars(self)}
        if deep and any(hasattr(value, "get_params") for value in found.values()):
            load()
            found = self.get_params(deep=True)  # now scikit-learn's
        return found

    def set_params(self, **options: Any) -> Any:
        if not set(options) <= set(self.get_params(deep=False)):
            load()
            return self.set_params(**options)
        for name, value in options.items():
            setattr(self, name, value)
        return self

    def __sklearn_tags__(self) -> Any:
        load()
        return self.__sklearn_tags__()

    def __repr__(self) -> str:
        load()
        return repr(self)

    def __getattr__(self, name: str) -> Any:
        if not name.startswith(_THEIRS):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        load()
        return getattr(self, name)


class _Regressor: ...


class _Classifier: ...


class _Transformer: ...


class _OneToOne: ...


if TYPE_CHECKING:  # what they are in the end
    from sklearn.base import (
        BaseEstimator,
        ClassifierMixin,
        OneToOneFeatureMixin,
        RegressorMixin,
        TransformerMixin,
    )
else:

    class BaseEstimator(_Options):
        """Base of all estimators."""

    class RegressorMixin(_Regressor):
        """An estimator that predicts numbers."""

    class ClassifierMixin(_Classifier):
        """An estimator that predicts classes."""

    class TransformerMixin(_Transformer):
        """An estimator that changes its inputs."""

    class OneToOneFeatureMixin(_OneToOne):
        """A transformer that keeps the names of its columns."""


class PoorScore:
    """An estimator that may fit the data of scikit-learn's checks poorly.

    They have targets on another scale than the inputs, classes at small inputs, and few rows.
    """

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        for kind in (tags.regressor_tags, tags.classifier_tags):
            if kind is not None:
                kind.poor_score = True
        return tags


_BASES: Any = (
    BaseEstimator,
    RegressorMixin,
    ClassifierMixin,
    TransformerMixin,
    OneToOneFeatureMixin,
)


def load() -> None:
    """Put scikit-learn's classes under ours; a second call does nothing."""
    if not issubclass(BaseEstimator, _Options):
        return
    theirs = import_module("sklearn.base")
    for base in _BASES:
        base.__bases__ = (getattr(theirs, base.__name__),)
    ready: set[type] = set(_BASES)
    for base in _BASES:
        _tell(base, ready)


def _tell(base: type, ready: set[type]) -> None:
    """Do for each subclass what scikit-learn does when one is made."""
    kind: type
    for kind in base.__subclasses__():
        if kind not in ready and all(
            parent in ready or not issubclass(parent, _BASES) for parent in kind.__bases__
        ):
            ready.add(kind)
            super(kind, kind).__init_subclass__()  # type: ignore[misc]
            _tell(kind, ready)


def later(module: str, name: str) -> Callable[..., Any]:
    """A function of scikit-learn that is imported when it is first called.

    Examples
    --------
    >>> check_cv = later("sklearn.model_selection", "check_cv")
    >>> check_cv(3).n_splits
    3
    """

    def call(*arguments: Any, **options: Any) -> Any:
        load()
        return getattr(import_module(module), name)(*arguments, **options)

    call.__name__ = name
    return call


class Template(NamedTuple):
    """An estimator that is to be made; its options may be such themselves."""

    path: str
    """The class, as "module:name"."""
    options: dict[str, Any]


def made(template: Template) -> Any:
    """An estimator from a file; what is true or false by default must be so there.

    Examples
    --------
    >>> scale = Template("choquet.estimators.commensurate:Commensurate", {"clip": True})
    >>> made(Template("choquet.estimators.commensurate:InUnits", {"scale": scale})).scale.clip
    True
    """
    module, _, name = template.path.partition(":")
    model = getattr(import_module(module), name)()
    options = {
        key: made(value) if isinstance(value, Template) else value
        for key, value in template.options.items()
    }
    for key, value in model.get_params(deep=False).items():
        if isinstance(value, bool) and not isinstance(options.get(key, value), bool):
            raise ValueError(f"{key} is {options[key]!r:.40}, not true or false")
    return model.set_params(**options)


def check_is_fitted(estimator: Any, attributes: str | None = None) -> None:
    """Raise scikit-learn's error if an estimator has not learned anything yet."""
    held = vars(estimator)
    if attributes in held if attributes else any(name.endswith("_") for name in held):
        return
    later("sklearn.utils.validation", "check_is_fitted")(estimator, attributes)


def is_classifier(estimator: Any) -> bool:
    """Whether an estimator predicts classes."""
    if isinstance(estimator, RegressorMixin | ClassifierMixin):
        return isinstance(estimator, ClassifierMixin)
    return bool(later("sklearn.base", "is_classifier")(estimator))


def validate_data(estimator: Any, X: Any, *targets: Any, **checks: Any) -> Any:
    """Data as scikit-learn accepts them; a plain array of finite numbers needs no more than a look.

    Examples
    --------
    >>> import numpy as np
    >>> from types import SimpleNamespace
    >>> model = SimpleNamespace(n_features_in_=2)
    >>> validate_data(model, np.eye(2), dtype=np.float64, reset=False).shape
    (2, 2)
    """
    if not targets and _plain(estimator, X, **checks):
        if "feature_names_in_" in vars(estimator):
            warnings.warn(
                "X does not have valid feature names, but "
                f"{type(estimator).__name__} was fitted with feature names",
                UserWarning,
                stacklevel=3,
            )
        return X
    if not isinstance(X, np.ndarray):
        column_names(X)  # a frame that holds no rows yet is refused before anything else asks it
    return later("sklearn.utils.validation", "validate_data")(estimator, X, *targets, **checks)


def _plain(
    estimator: Any, X: Any, dtype: Any = None, reset: bool = True, ensure_all_finite: Any = True,
    **others: Any,
) -> bool:  # fmt: skip
    """Whether scikit-learn would return the rows as they are."""
    if reset or others or type(X) is not np.ndarray or X.dtype != np.float64 or X.ndim != 2:
        return False
    if dtype is not np.float64 or X.shape[1] != vars(estimator).get("n_features_in_") or not len(X):
        return False
    # One sum tells whether all is finite, but for an overflow, which is looked into elsewhere.
    if np.isfinite(X.sum()):
        return True
    return bool(ensure_all_finite == "allow-nan" and not np.isinf(X).any())


class available_if:
    """Have a method only where a check says so, which takes the estimator.

    Examples
    --------
    >>> class Shy:
    ...     bold = False
    ...
    ...     @available_if(lambda self: self.bold)
    ...     def speak(self): ...
    >>> hasattr(Shy(), "speak")
    False
    """

    def __init__(self, check: Callable[[Any], Any]) -> None:
        self.check = check

    def __call__(self, method: Callable[..., Any]) -> _Conditional:
        """The method, with its condition."""
        return _Conditional(self.check, method)


class _Conditional:
    def __init__(self, check: Callable[[Any], Any], method: Callable[..., Any]) -> None:
        self.check, self.method = check, method
        update_wrapper(self, method)  # type: ignore[arg-type]

    def __set_name__(self, owner: type, name: str) -> None:
        self.owner, self.name = owner, name

    def __get__(self, instance: Any, kind: type) -> Any:
        if instance is None:
            return self.method
        if not self.check(instance):
            raise AttributeError(f"this {kind.__name__} has no {self.name!r}")
        return MethodType(self.method, instance)


if "sklearn.base" in sys.modules:
    load()
