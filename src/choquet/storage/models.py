"""Fitted estimators: their options, and the attributes that their methods need.

Nothing here imports scikit-learn: a row names its class, which is imported when a file holds it.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from choquet.estimators.foundation import Template, made
from choquet.expected import NUMBER, Number, expect_fields
from choquet.storage.additive import check_additive
from choquet.storage.pipelines import SCALERS
from choquet.storage.values import decode_value, encode_value

_NAMES = ("n_features_in_", "feature_names_in_")
_COMMON = (*_NAMES, "measure_", "support_")
_LEARNED = (
    "measure_", "decomposition_", "decompositions_", "estimator_", "scales_", "scale_", "model_",
)  # fmt: skip
"""A fitted model has one of these: what it learned."""
_ADDITIVE = (
    *_NAMES, "columns_", "model_", "contexts_", "n_rows_", "n_numbers_", "edf_", "moves_", "proof_",
    "believed_", "target_name_",
)  # fmt: skip
_LEAST_SQUARES = (*_COMMON, "intercept_", "statistics_", "noise_", "free_target_")


class Model(NamedTuple):
    """One row of the table of storable estimators."""

    path: str
    """The class, as "module:name"."""
    fitted: tuple[str, ...]
    """Attributes that are stored where the estimator has them."""


def _row(place: str, *attributes: str) -> Model:
    return Model(f"choquet.estimators.{place}", attributes)


MODELS: dict[str, Model] = {
    "choquet_regressor": _row("regressor:ChoquetRegressor", *_LEAST_SQUARES, "solution_"),
    "choquet_regressor_cv": _row(
        "cross_validated:ChoquetRegressorCV",
        *_LEAST_SQUARES, "prior_", "alpha_", "cv_results_", "fold_statistics_",
        "fold_seed_",
    ),
    "choquet_classifier": _row(
        "classifier:ChoquetClassifier",
        *_COMMON, "classes_", "measures_", "scales_", "intercepts_", "n_iter_",
    ),
    "fusion_classifier": _row(
        "fusion.classifier:FusionClassifier",
        *_COMMON, "classes_", "sources_", "measures_", "models_", "statistics_", "supports_",
        "power_",
    ),
    "lambda_regressor": _row(
        "baselines:LambdaRegressor", *_LEAST_SQUARES, "fit_", "densities_", "lambda_"
    ),
    "owa_regressor": _row("baselines:OWARegressor", *_LEAST_SQUARES, "weights_"),
    "linear_convex_sum_regressor": _row(
        "baselines:LinearConvexSumRegressor", *_LEAST_SQUARES, "weights_"
    ),
    "gradient_descent_regressor": _row(
        "baselines:GradientDescentRegressor", *_LEAST_SQUARES, "errors_", "n_iter_"
    ),
    "contextual_regressor": _row(
        "contextual:ContextualRegressor", *_NAMES, "decomposition_", "path_", "fold_errors_"
    ),
    "contextual_classifier": _row(
        "contextual_classifier:ContextualClassifier", *_NAMES, "classes_", "decompositions_"
    ),
    "choquet_additive_regressor": _row(
        "additive.regressor:ChoquetAdditiveRegressor",
        *_ADDITIVE, "centre_", "scale_", "link_", "noise_",
    ),
    "choquet_additive_classifier": _row(
        "additive.classifier:ChoquetAdditiveClassifier", *_ADDITIVE, "classes_", "thresholds_"
    ),
    "commensurate": _row(
        "commensurate:Commensurate", *_NAMES, "scales_", "directions_", "note_"
    ),
    "in_units": _row(
        "commensurate:InUnits", *_NAMES, "estimator_", "scale_", "units_", "target_name_"
    ),
    **{
        name: Model(f"sklearn.preprocessing:{title}", (*_NAMES, *fitted))
        for name, (title, fitted) in SCALERS.items()
    },
}  # fmt: skip
"""Storable estimators by the name they have in files."""


def _name_of(model: Any) -> str:
    path = path_of(type(model))
    return next(name for name, row in MODELS.items() if row.path == path)


def path_of(kind: type) -> str:
    """A class as "module:name"; other libraries' private modules are left out."""
    public = [part for part in kind.__module__.split(".") if not part.startswith("_")]
    return f"{'.'.join(public)}:{kind.__qualname__}"


def _fitted(model: Any) -> bool:
    return any(name in vars(model) for name in _LEARNED)


def encode_model(model: Any) -> dict[str, Any]:
    """Options and fitted attributes of an estimator, as plain data."""
    name = _name_of(model)
    title = type(model).__name__
    if not _fitted(model):
        raise TypeError(f"cannot save a {title} that is not fitted; call fit first")
    inner = getattr(model, "estimators", None)
    if inner is not None:
        raise TypeError(
            f"cannot save a {title} with its {len(inner)} classifiers, which belong to another "
            "library; save its fusion, choquet.save(model.measure_, …), and them by other means"
        )
    options = {}
    for key, value in model.get_params(deep=False).items():
        try:
            options[key] = _encode_option(value)
        except TypeError:
            raise TypeError(
                f"cannot save a {title} with {key}={value!r}; predictions do not need it: "
                f"call set_params({key}=None) before"
            ) from None
    fitted = {key: getattr(model, key) for key in MODELS[name].fitted if hasattr(model, key)}
    if "cv_results_" in fitted:  # what nobody has asked for yet can be found again
        fitted["cv_results_"] = fitted["cv_results_"].known()
    return {
        "model": name,
        "options": options,
        "fitted": {key: encode_value(value) for key, value in fitted.items()},
    }


def _encode_option(value: Any) -> Any:
    """An option; an estimator that others are made like is stored without what it learned."""
    if not hasattr(value, "get_params"):
        return encode_value(value)
    options = value.get_params(deep=False)
    return {
        "like": _name_of(value),
        "options": {key: _encode_option(one) for key, one in options.items()},
    }


def _decode_option(node: Any) -> Any:
    if not isinstance(node, dict) or set(node) != {"like", "options"}:
        return decode_value(node)
    return _template(MODELS[node["like"]].path, node["options"])


def _template(path: str, options: dict[str, Any]) -> Template:
    """An estimator of a file with its options, before it is made."""
    found = {_EARLIER.get(key, key): _decode_option(one) for key, one in options.items()}
    return Template(path, found)


_EARLIER = {
    "bias": "fit_intercept",
    "bias_": "intercept_",
    "prior_strength": "prior_alpha",
    "strength": "alpha",
    "strength_": "alpha_",
    "strengths": "alphas",
}
"""Names that options and attributes had in files of earlier versions."""


_MAY_LACK = {"cv_results_", "alpha_", "power_"}
"""Attributes in which NaN and infinities mean something."""


_FITTED = {"intercept_": NUMBER, "lambda_": NUMBER, "n_features_in_": Number(low=1, whole=True)}


def _check(fitted: dict[str, Any]) -> None:
    """Refuse numbers that are not finite, and parts of other numbers of sources."""
    for name, value in fitted.items():
        numeric = isinstance(value, float) or getattr(value, "dtype", None) == np.float64
        if numeric and name not in _MAY_LACK and not np.isfinite(value).all():
            raise ValueError(f"{name} is not finite")
    sizes = {name: value.n_sources for name, value in fitted.items() if hasattr(value, "n_sources")}
    if len(set(sizes.values())) > 1:
        raise ValueError(f"parts of the model are of different numbers of sources: {sizes}")
    expect_fields(fitted, _FITTED, absent=("intercept_", "lambda_"), unknown=("n_features_in_",))
    columns = fitted.get("n_features_in_")
    names = fitted.get("feature_names_in_")
    if names is not None and (
        names.shape != (columns,) or not all(isinstance(one, str) for one in names)
    ):
        raise ValueError(f"feature_names_in_ are not {columns} names")


def _check_parts(model: str, fitted: dict[str, Any], *, ordinal: bool) -> None:
    """Refuse what lacks its classes, or has a part too few or too many.

    Ordered classes have one measure, and a threshold between each two of them.
    """
    if "classes_" in MODELS[model].fitted:
        classes = fitted.get("classes_")
        if classes is None or np.ndim(classes) != 1 or len(classes) < 2:
            raise ValueError("a classifier has at least two classes")
        each = 1 if len(classes) == 2 or ordinal else len(classes)
        edges = len(classes) - 1 if ordinal else each
        parts = {
            "choquet_classifier": {"measures_": each, "scales_": each, "intercepts_": edges},
            "contextual_classifier": {"decompositions_": each},
        }
        for part, wanted in parts.get(model, {}).items():
            if len(fitted[part]) != wanted:
                raise ValueError(f"{part} are {len(fitted[part])} for {len(classes)} classes")
    columns, scaled = fitted.get("n_features_in_"), fitted.get("scale_")
    if model == "commensurate":
        scaled = SimpleNamespace(**fitted)
    scales = getattr(scaled, "scales_", None)
    if scales is not None and len(scales) != columns:
        raise ValueError(f"{len(scales)} scales for {columns} columns")
    units = fitted.get("units_")
    if units is not None and len(units.scales) != columns:
        raise ValueError(f"units of {len(units.scales)} columns for {columns} columns")


def decode_model(data: dict[str, Any]) -> Any:
    """The estimator again, as if it had just been fitted."""
    row = MODELS[data["model"]]
    name = row.path.partition(":")[2]
    model = made(_template(row.path, data["options"]))
    stored = {_EARLIER.get(key, key): value for key, value in data["fitted"].items()}
    formula = decode_value(stored.pop("formula_", None))
    unknown = set(stored) - set(row.fitted)
    if unknown:
        raise ValueError(f"{name} has no fitted {', '.join(sorted(unknown))}")
    fitted = {key: decode_value(value) for key, value in stored.items()}
    if formula is not None:  # earlier versions kept the formula of a family beside the measure
        fitted["measure_"] = formula.renamed(fitted["measure_"].sources)
    _check(fitted)
    _check_parts(data["model"], fitted, ordinal=getattr(model, "ordinal", False))
    if "contexts_" in fitted:
        check_additive(fitted)
    vars(model).update(fitted)
    if not _fitted(model):
        raise ValueError(f"the file does not hold what the {name} learned")
    if "cv_results_" in fitted:
        model.restored()
    return model
