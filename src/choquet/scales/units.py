"""The units of the data of a model: its scales, found in whatever wraps what was learned."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from choquet.arrays import BoolArray, FloatArray
from choquet.errors import DataError
from choquet.scales.figures import figure
from choquet.scales.scale import IDENTITY, Scale

_SPOKEN = 12
"""Sources whose scale is spelled out."""


@dataclass(frozen=True, eq=False)
class Units:
    """How the numbers that sources are compared on stand to those in the data.

    Attributes
    ----------
    scales : tuple of Scale
        One for each source.
    target : Scale
        Of the output: a straight line that rises.
    target_name : str
        What the output is called.

    Examples
    --------
    >>> import numpy as np
    >>> heat, time = (Scale(np.array(ends), np.array([0.0, 1.0])) for ends in ([10, 100], [0, 4]))
    >>> units = Units((heat, time), target_name="y")
    >>> units.scaled(np.array([[55.0, 1.0]])), units.inputs(np.array([[0.5, 0.25]]))
    (array([[0.5 , 0.25]]), array([[55.,  1.]]))
    >>> units.text(["heat", "time"])
    'To be comparable, inputs are rescaled to 0–1: heat from 10–100, time from 0–4.'
    """

    scales: tuple[Scale, ...]
    target: Scale = IDENTITY
    target_name: str = "the output"

    def __post_init__(self) -> None:
        if not self.target.affine or self.target.width <= 0:
            raise DataError("the scale of a target must be a straight line that rises")

    @property
    def trivial(self) -> bool:
        """Whether the data are taken as they are."""
        return all(one.trivial for one in (*self.scales, self.target))

    @cached_property
    def _lines(self) -> tuple[FloatArray, FloatArray] | None:
        """Offsets and widths, where all scales are straight lines."""
        if not all(scale.affine for scale in self.scales):
            return None
        offsets = np.array([scale.ends[0] for scale in self.scales])
        return offsets, np.array([scale.width for scale in self.scales])

    def scaled(self, X: FloatArray) -> FloatArray:
        """Rows as the operators see them, from those in the data."""
        if self._lines is not None:
            return np.asarray((X - self._lines[0]) / self._lines[1])
        columns = [scale(X[..., k]) for k, scale in enumerate(self.scales)]
        return np.stack(columns, axis=-1)

    def outside(self, X: FloatArray) -> BoolArray:
        """Which numbers of the data lie outside of the range that is rescaled to 0–1.

        Of columns that are taken as they are, or standardised, no range is known.

        Examples
        --------
        >>> import numpy as np
        >>> heat = Scale(np.array([10.0, 100.0]), np.array([0.0, 1.0]))
        >>> Units((heat, IDENTITY)).outside(np.array([[55.0, 7.0], [101.0, 0.5]]))
        array([[False, False],
               [ True, False]])
        """
        found = np.zeros(X.shape, dtype=bool)
        for k, scale in enumerate(self.scales):
            if {scale.values.min(), scale.values.max()} != {0.0, 1.0} or _same(scale, IDENTITY):
                continue
            low, high = scale.points[[0, -1]]
            slack = 1e-9 * (high - low)  # rounding, of numbers that were written and read again
            found[..., k] = (X[..., k] < low - slack) | (X[..., k] > high + slack)
        return found

    def ranges(self, sources: Sequence[str], which: BoolArray) -> str:
        """Some of the sources, each with its range, as a list in words."""
        parts = [
            f"{name} ({' to '.join(figure(float(end), 4) for end in scale.points[[0, -1]])})"
            for name, scale, told in zip(sources, self.scales, which, strict=True)
            if told
        ]
        more = f" and {len(parts) - _SPOKEN} more" if len(parts) > _SPOKEN else ""
        return ", ".join(parts[:_SPOKEN]) + more

    def inputs(self, scaled: FloatArray, near: FloatArray | None = None) -> FloatArray:
        """Rows as in the data; of two that a peak allows, the one nearer to `near`."""
        if self._lines is not None:
            return np.asarray(scaled * self._lines[1] + self._lines[0])
        columns = [
            scale.inverse(scaled[..., k], None if near is None else near[..., k])
            for k, scale in enumerate(self.scales)
        ]
        return np.stack(columns, axis=-1)

    @property
    def width(self) -> float:
        """How much one of the operators' output is in the data."""
        return self.target.width

    def output(self, scaled: npt.ArrayLike) -> FloatArray:
        """Outputs as in the data."""
        return self.target.inverse(scaled)

    def text(self, sources: Sequence[str]) -> str:
        """What the common scale means, in a sentence or two."""
        parts = [_meaning(*pair) for pair in zip(sources, self.scales, strict=True)][:_SPOKEN]
        more = f" (and so on for {len(sources) - _SPOKEN} more)" if len(sources) > _SPOKEN else ""
        text = f"To be comparable, inputs are rescaled to 0–1: {', '.join(parts)}{more}."
        if self.target.ends != (0.0, 1.0):
            name = self.target_name if self.target_name != "the output" else "The output"
            text += f" {name} is rescaled from {_ends(self.target)} to 0–1."
        return text + self._directions(sources)

    def _directions(self, sources: Sequence[str]) -> str:
        """What "larger" means for columns that do not simply rise."""
        pairs = [(name, scale.direction) for name, scale in zip(sources, self.scales, strict=True)]
        turned = [name for name, direction in pairs if direction == "lower"]
        text = ""
        if turned:
            more = len(turned) - _SPOKEN
            listed = ", ".join(turned[:_SPOKEN]) + (f" and {more} more" if more > 0 else "")
            text += f" For {listed}, less is better: a smaller number counts as larger."
        for name, direction in pairs:
            if not isinstance(direction, str):
                best = figure(direction, 4)
                text += f" For {name}, {best} is best: what is nearer to it counts as larger."
        return text

    def to_dict(self) -> dict[str, Any]:
        """Plain data, as JSON holds them."""
        low, high = self.target.ends
        return {
            "scales": [scale.to_dict() for scale in self.scales],
            "target": self.target_name,
            "target_offset": low,
            "target_width": high - low,
        }


def _same(one: Scale, other: Scale) -> bool:
    return np.array_equal(one.points, other.points) and np.array_equal(one.values, other.values)


def _meaning(name: str, scale: Scale) -> str:
    """From where a column is rescaled, what becomes 0 first."""
    if isinstance(scale.direction, str):
        return f"{name} from {_ends(scale)}"
    left, right = (figure(float(end)) for end in scale.points[[0, -1]])
    return f"{name} from {left} or {right} (0) to {figure(scale.direction)} (1)"


def _ends(scale: Scale) -> str:
    dash = "–" if min(scale.ends) >= 0 else " to "
    return dash.join(figure(end) for end in scale.ends)


class Unwrapped(NamedTuple):
    """What is inside a pipeline: the model that learned, and the units around it."""

    model: Any
    units: Units | None
    """None where the model takes the data as they are."""
    sources: tuple[str, ...] | None
    """Names of the columns, where the wrapping knows them."""
    target: str | None
    """What is predicted, where that has a name."""


def unwrapped(model: Any) -> Unwrapped:
    """The model inside a pipeline, a search, or a model with scales; others as they are.

    Known are `choquet.InUnits`; scikit-learn's ``Pipeline`` of transformers that stretch or bend
    one column at a time and can undo it; ``TransformedTargetRegressor``; and searches
    (``best_estimator_``).

    Raises
    ------
    DataError
        If a transformer of a pipeline cannot be undone column by column, or nothing is fitted.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import MinMaxScaler
    >>> from choquet import ChoquetRegressor
    >>> X, y = [[1, 20], [2, 10], [3, 40]], [0.2, 0.4, 1.0]
    >>> found = unwrapped(make_pipeline(MinMaxScaler(), ChoquetRegressor()).fit(X, y))
    >>> found.model, [scale.ends for scale in found.units.scales]
    (ChoquetRegressor(), [(1.0, 3.0), (10.0, 40.0)])
    """
    if hasattr(model, "best_estimator_"):
        return unwrapped(model.best_estimator_)
    if hasattr(model, "units_") and hasattr(model, "estimator_"):
        units = None if model.units_.trivial else model.units_
        return _named(model, Unwrapped(model.estimator_, units, None, model.target_name_))
    if hasattr(model, "regressor_") and hasattr(model, "transformer_"):
        inner = unwrapped(model.regressor_)
        return _named(model, inner._replace(units=_with_target(inner, model.transformer_)))
    steps = getattr(model, "steps", None)
    if not isinstance(steps, list) or not steps:
        return Unwrapped(model, None, None, None)
    scales: tuple[Scale, ...] | None = None
    for name, step in steps[:-1]:
        if step is not None and step != "passthrough":
            scales = _after(scales, column_scales(step, name))
    inner = unwrapped(steps[-1][1])
    if scales is not None:
        around = Units(scales) if inner.units is None else inner.units
        both = scales if inner.units is None else _after(scales, inner.units.scales)
        inner = inner._replace(units=replace(around, scales=both))
    return _named(model, inner)


def _named(model: Any, found: Unwrapped) -> Unwrapped:
    names = getattr(model, "feature_names_in_", None)
    return found if names is None else found._replace(sources=tuple(map(str, names)))


def _with_target(inner: Unwrapped, transformer: Any) -> Units | None:
    (scale,) = column_scales(transformer, "transformer")
    n = getattr(inner.model, "n_features_in_", 0)
    around = inner.units or Units((IDENTITY,) * n)
    return replace(around, target=_then(around.target, scale) if inner.units else scale)


def _after(first: tuple[Scale, ...] | None, second: tuple[Scale, ...]) -> tuple[Scale, ...]:
    if first is None:
        return second
    return tuple(_then(one, two) for one, two in zip(first, second, strict=True))


def _then(first: Scale, second: Scale) -> Scale:
    """One scale after another."""
    if second is IDENTITY or first is IDENTITY:
        return first if second is IDENTITY else second
    if not first.affine and not second.affine:
        raise DataError(
            "two steps of the pipeline both bend a column; keep one of them, so that explanations "
            "can speak in the units of the data"
        )
    points = first.points if second.affine else first.inverse(second.points)
    points = np.sort(points)
    return Scale(points, second(first(points)), first.clip or second.clip)


def column_scales(transformer: Any, name: str) -> tuple[Scale, ...]:
    """The scales of a fitted transformer, its own or found by asking it.

    A transformer that does not tell its scales is asked to undo 0, 1 and 0.3, and to do it again:
    each column must be a straight line of its own.
    """
    own = getattr(transformer, "scales_", None)
    if own is not None:
        return tuple(own)
    title = f"the step {name!r} of the pipeline, a {type(transformer).__name__},"
    n = getattr(transformer, "n_features_in_", None)
    if n is None:
        raise DataError(f"{title} is not fitted; call fit first")
    usable = hasattr(transformer, "inverse_transform")
    if not usable or not hasattr(transformer, "get_feature_names_out"):
        raise DataError(
            f"{title} cannot be undone, so that nothing can be said in the units of the data; "
            "use choquet.Commensurate or a scaler of scikit-learn instead"
        )
    undo, do = transformer.inverse_transform, transformer.transform
    try:
        ends = [_asked(undo, transformer, np.full((1, n), at))[0] for at in (0.0, 1.0, 0.3)]
    except (ValueError, NotImplementedError):
        imputes = hasattr(transformer, "statistics_") or hasattr(transformer, "initial_imputer_")
        raise DataError(
            f"{title} cannot be undone, so that nothing can be said in the units of the data; "
            + (
                "leave it out: additive models take missing values as they are"
                if imputes
                else "use choquet.Commensurate or a scaler of scikit-learn instead"
            )
        ) from None
    width = ends[1] - ends[0]
    bad = DataError(
        f"{title} mixes columns, or bends them; explanations need a straight line for each column: "
        "use choquet.Commensurate, which also has quantiles and points of your own"
    )
    if width.shape != (n,) or not np.isfinite(width).all() or (width == 0).any():
        raise bad
    straight = np.abs(ends[2] - ends[0] - 0.3 * width) <= 1e-9 * (np.abs(ends[0]) + np.abs(width))
    alone = _asked(do, transformer, ends[0] + np.diag(width))
    if not straight.all() or alone.shape != (n, n) or not np.allclose(alone, np.eye(n), atol=1e-9):
        raise bad
    unit = np.array([0.0, 1.0])
    return tuple(
        Scale(np.array([low, high]), unit) if high > low else Scale(np.array([high, low]), 1 - unit)
        for low, high in zip(ends[0], ends[1], strict=True)
    )


def _asked(method: Any, transformer: Any, rows: FloatArray) -> FloatArray:
    return np.asarray(method(with_names(transformer, rows)), dtype=np.float64)


def with_names(estimator: Any, rows: FloatArray) -> Any:
    """Rows with the names that an estimator was fitted with; without them some of them warn."""
    names = getattr(estimator, "feature_names_in_", None)
    if names is None:
        return rows
    import pandas

    return pandas.DataFrame(rows, columns=names)
