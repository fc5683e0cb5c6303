"""scikit-learn estimators: the only room that knows scikit-learn.

A name loads its module, and scikit-learn with it; a model from a file needs its own module only,
and no scikit-learn to predict. See `choquet.estimators.foundation`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # for readers and type checkers; at run time `__getattr__` loads these
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

_PLACES = {
    "BinaryRegressor": "searches",
    "ChoquetAdditiveClassifier": "additive.classifier",
    "ChoquetAdditiveRegressor": "additive.regressor",
    "ChoquetClassifier": "classifier",
    "ChoquetRegressor": "regressor",
    "ChoquetRegressorCV": "cross_validated",
    "Commensurate": "commensurate",
    "ConformalClassifier": "conformal",
    "ConformalRegressor": "conformal",
    "ContextualClassifier": "contextual_classifier",
    "ContextualRegressor": "contextual",
    "DecomposableRegressor": "searches",
    "FusionClassifier": "fusion.classifier",
    "GeneticRegressor": "searches",
    "GradientDescentRegressor": "baselines",
    "InUnits": "commensurate",
    "LambdaRegressor": "baselines",
    "LinearConvexSumRegressor": "baselines",
    "MultipleInstanceRegressor": "bags",
    "OWARegressor": "baselines",
    "RewardPunishmentRegressor": "searches",
    "fit_additive_chunks": "additive.chunks",
    "fit_additive_dask": "additive.chunks",
    "fit_chunks": "chunks",
    "fit_evidence": "chunks",
    "fit_statistics": "chunks",
}
"""Public names by the module that holds them."""


def __getattr__(name: str) -> Any:
    """Load a class, ready for scikit-learn, when its name is first asked for (PEP 562)."""
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import_module("choquet.estimators.foundation").load()
    return getattr(import_module(f"{__name__}.{_PLACES[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
