"""`choquet fit`: from a table to a model in a file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from choquet.arrays import FloatArray, as_number
from choquet.cli.columns import Chunk, Missing
from choquet.cli.output import progress, say, say_json, warn
from choquet.cli.subjects import check_output, write_object
from choquet.cli.tables import Table, open_table
from choquet.errors import DataError, OptionError, TooLargeError
from choquet.explanation.learned import as_learned
from choquet.learning.scaled import SCALINGS, ScaledModel
from choquet.measures import Measure, MobiusMeasure, SupportedMeasure

__all__ = ["LEARNERS", "FitOptions", "run_fit"]

MAX_SOURCES = 128
_MAX_CELLS = 1 << 26
"""Numbers that a learner which wants all rows at once may hold: half a gigabyte."""


class Learner(NamedTuple):
    """One row of the table of learners."""

    estimator: str
    """Name of the class."""
    chunked: bool
    """Whether statistics are enough, so that files of any size can be learned from."""
    options: tuple[str, ...]
    """What it takes of the options on the command line."""
    classifies: bool = False
    """Whether the target is a class."""


_SHAPE = ("monotone", "normal", "bias")

_TREE = ("max_leaves", "l2", "prune", "merge")

LEARNERS: dict[str, Learner] = {
    "choquet": Learner(
        "ChoquetRegressor", True,
        (*_SHAPE, "penalty", "strength", "prior", "prior_strength", "k_additive", "fill"),
    ),
    "cv": Learner("ChoquetRegressorCV", False, _SHAPE),
    "classifier": Learner("ChoquetClassifier", False, ("monotone", "ordinal", "strength"), True),
    "contextual": Learner("ContextualRegressor", False, ("convex", *_TREE)),
    "contextual-classifier": Learner("ContextualClassifier", False, _TREE, True),
    "owa": Learner("OWARegressor", True, ()),
    "linear": Learner("LinearConvexSumRegressor", True, ()),
    "lambda": Learner("LambdaRegressor", True, ()),
    "gradient": Learner("GradientDescentRegressor", True, ()),
}  # fmt: skip
"""Learners by the name they have on the command line."""


@dataclass(frozen=True)
class FitOptions:
    """What the user asked of `fit`; options of the learner that were not given are None."""

    target: str | None
    sources: Sequence[str]
    scaling: str
    learner: str
    missing: Missing
    delimiter: str | None
    learning: dict[str, Any]


@dataclass(frozen=True)
class _Ranges:
    """Moments of each column, the target last."""

    n: int
    low: FloatArray
    high: FloatArray
    mean: FloatArray
    square: FloatArray
    """Sum of squared differences from the mean."""

    def join(self, X: FloatArray) -> _Ranges:
        n, mean = len(X), X.mean(axis=0)
        total, away = self.n + n, mean - self.mean
        return _Ranges(
            total,
            np.minimum(self.low, X.min(axis=0)),
            np.maximum(self.high, X.max(axis=0)),
            self.mean + away * (n / total),
            self.square + ((X - mean) ** 2).sum(axis=0) + away**2 * (self.n * n / total),
        )


def run_fit(path: Path, output: Path, options: FitOptions, *, force: bool, as_json: bool) -> None:
    """Read, scale, learn, write."""
    learner = _learner(options)
    check_output(output, force=force)
    with open_table(path, delimiter=options.delimiter) as table:
        target, sources = _columns(table, options)
        job = _Job(table, sources, target, options, learner)
        model = job.fit()
    n_bytes = write_object(model, output, force=force)
    summary = {
        "output": str(output), "bytes": n_bytes, "learner": options.learner,
        "target": target, "sources": list(sources), "scaling": model.scaling,
        "rows": job.n_rows, "rows_dropped": job.n_dropped, **job.quality(model),
    }  # fmt: skip
    if learner.classifies:
        summary["classes"] = [str(label) for label in model.model.classes_]
        summary["ordinal"] = bool(options.learning.get("ordinal"))
    learned = as_learned(model)
    if learned is None:
        summary["subsets_supported"] = model.support_.n_supported
    else:
        parts = getattr(model.model, "decompositions_", [learned.model])
        summary["operators"] = sum(part.n_operators for part in parts)
        summary["contexts"] = sum(len(part.leaves) for part in parts)
    if str(output) == "-":
        return
    if as_json:
        say_json(summary)
        return
    _tell(summary)


def _tell(summary: dict[str, Any]) -> None:
    n = len(summary["sources"])
    dropped = f" ({summary['rows_dropped']:,} dropped)" if summary["rows_dropped"] else ""
    say(
        f"Learned {summary['target']!r} from {n} sources and {summary['rows']:,} rows{dropped}, "
        f"scaling {summary['scaling']}."
    )
    if summary.get("r2") is not None:
        say(f"On these rows: root mean square error {summary['rmse']:.4g}, R² {summary['r2']:.4f}.")
    if summary.get("accuracy") is not None:
        say(f"On these rows: {100 * summary['accuracy']:.1f} % right.")
    classes = summary.get("classes", ())
    if summary.get("ordinal"):
        say(f"Levels, lowest first: {', '.join(classes)}.")
    if "contexts" in summary:
        total = f" in all, for {len(classes)} classes" if len(classes) > 2 else ""
        say(
            f"Found {_many(summary['operators'], 'operator')} in "
            f"{_many(summary['contexts'], 'context')}{total}."
        )
    else:
        subsets = f"{2**n - 2:,}" if n <= 60 else f"2**{n} - 2"
        say(f"The data support {summary['subsets_supported']:,} of {subsets} subsets.")
    say(f"Written to {summary['output']}; see: choquet decompose {summary['output']}")


def _many(number: int, what: str) -> str:
    return f"{number} {what}" + ("" if number == 1 else "s")


def _learner(options: FitOptions) -> Learner:
    learner = LEARNERS.get(options.learner)
    if learner is None:
        raise OptionError(f"--learner {options.learner} is unknown; choose {', '.join(LEARNERS)}")
    if options.scaling not in ("auto", *SCALINGS):
        raise OptionError(
            f"--scaling {options.scaling} is unknown; choose auto, {', '.join(SCALINGS)}"
        )
    if options.missing not in ("error", "drop"):
        raise OptionError(f"--missing {options.missing} is unknown; choose error or drop")
    unused = [name for name in options.learning if name not in learner.options]
    if unused:
        words = ", ".join(f"--{name.replace('_', '-')}" for name in unused)
        raise OptionError(f"the learner {options.learner} does not take {words}; leave it out")
    return learner


def _columns(table: Table, options: FitOptions) -> tuple[str, tuple[str, ...]]:
    target = table.names[-1] if options.target is None else options.target
    table.places([target])
    sources: list[str] = []
    for word in options.sources:
        # A name may hold a comma itself.
        sources += [word] if word in table.names else [name.strip() for name in word.split(",")]
    if not sources:
        sources = [name for name in table.names if name != target]
    if target in sources:
        raise OptionError(f"{target!r} is the target and cannot be a source too; leave it out")
    if len(set(sources)) != len(sources):
        raise OptionError("a source is named twice in --sources; name each once")
    if not sources:
        raise DataError(f"{table.name} has no column besides the target {target!r}")
    table.places(sources)
    if len(sources) > MAX_SOURCES:
        raise TooLargeError(
            f"{table.name} has {len(sources):,} sources; at most {MAX_SOURCES} can be learned "
            "from: choose with --sources a,b,c"
        )
    return target, tuple(sources)


class _Job:
    """One fit: two passes over a table, or one where no scaling is to be found."""

    def __init__(
        self,
        table: Table,
        sources: tuple[str, ...],
        target: str,
        options: FitOptions,
        learner: Learner,
    ) -> None:
        self.table, self.sources, self.target = table, sources, target
        self.options, self.learner = options, learner
        self.classify = learner.classifies
        self.n_rows = self.n_dropped = 0
        self._quality: dict[str, float | None] | None = None
        room: Any = import_module("choquet.estimators")
        given = {"n_jobs": None} if options.learner == "classifier" else {}
        self.estimator = getattr(room, learner.estimator)(**given, **options.learning)

    def fit(self) -> ScaledModel:
        scaling, offsets, widths = self._scaling()
        n = len(self.sources)
        model = self._learn(offsets, widths)
        return ScaledModel(
            model, self.sources, self.target, scaling, offsets[:n], widths[:n],
            0.0 if self.classify else float(offsets[n]),
            1.0 if self.classify else float(widths[n]),
        )  # fmt: skip

    def _learn(self, offsets: FloatArray, widths: FloatArray) -> Any:
        n = len(self.sources)

        def scaled() -> Iterator[tuple[FloatArray, npt.NDArray[Any]]]:
            for X, y in self._rows("learning"):
                inputs = (X - offsets[:n]) / widths[:n]
                yield inputs, y if self.classify else (y - offsets[n]) / widths[n]

        if self.learner.chunked:
            from choquet.estimators.chunks import fit_chunks

            return fit_chunks(self.estimator, scaled(), sources=self.sources)
        held: list[tuple[FloatArray, npt.NDArray[Any]]] = []
        cells = 0
        for X, y in scaled():
            cells += X.size
            if cells > _MAX_CELLS:
                raise TooLargeError(
                    f"the learner {self.options.learner} needs all rows at once, and "
                    f"{self.table.name} holds more than {_MAX_CELLS:,} numbers; "
                    "use --learner choquet, which takes any number of rows"
                )
            held.append((X, y))
        if not held:
            raise DataError(f"{self.table.name} has no rows")
        X, y = (np.concatenate(parts) for parts in zip(*held, strict=True))
        if self.options.learning.get("ordinal"):
            y = _levels(y)
        model = self.estimator.fit(X, y)
        # Names are given afterwards: rows come as arrays, and so they will for predictions.
        for name in ("decomposition_", "measure_"):
            if name in vars(model):
                setattr(model, name, _renamed(getattr(model, name), self.sources))
        for name in ("decompositions_", "measures_"):
            if name in vars(model):
                setattr(model, name, [_renamed(one, self.sources) for one in getattr(model, name)])
        if self.classify:
            self._quality = {"accuracy": float(np.mean(model.predict(X) == y))}
        elif not hasattr(model, "statistics_"):
            error, spread = float(np.mean((model.predict(X) - y) ** 2)), float(np.var(y))
            rmse = float(np.sqrt(error)) * float(widths[n])
            self._quality = {"rmse": rmse, "r2": 1 - error / spread if spread > 0 else None}
        return model

    def _chunks(self, title: str) -> Iterator[Chunk]:
        columns = self.sources if self.classify else (*self.sources, self.target)
        text = self.target if self.classify else None
        self.n_rows = self.n_dropped = 0
        with progress(title, self.table.n_bytes) as advance:
            for chunk in self.table.chunks(columns, text=text, missing=self.options.missing):
                self.n_rows += len(chunk.X)
                self.n_dropped += chunk.n_dropped
                advance(chunk.n_bytes)
                yield chunk
        if not self.n_rows:
            raise DataError(f"{self.table.name} has no rows with all values; nothing to learn from")

    def _rows(self, title: str) -> Iterator[tuple[FloatArray, npt.NDArray[Any]]]:
        n = len(self.sources)
        for chunk in self._chunks(title):
            y = chunk.X[:, n] if chunk.labels is None else chunk.labels.astype(str)
            yield chunk.X[:, :n], y

    def _scaling(self) -> tuple[str, FloatArray, FloatArray]:
        """Name, offsets and widths of the scaling; the target comes last."""
        n_columns = len(self.sources) + (not self.classify)
        plain = np.zeros(n_columns), np.ones(n_columns)
        if self.options.scaling == "none":
            return "none", *plain
        empty = np.zeros(n_columns)
        ranges = _Ranges(0, empty + np.inf, empty - np.inf, empty, empty)
        for chunk in self._chunks("looking at the ranges"):
            if len(chunk.X):
                ranges = ranges.join(chunk.X)
        scaling = self.options.scaling
        if scaling == "auto":
            inside = ranges.low.min() >= 0 and ranges.high.max() <= 1
            scaling = "none" if inside else "minmax"
        if scaling == "none":
            return scaling, *plain
        offsets, widths = ranges.low, ranges.high - ranges.low
        if scaling == "standard":
            offsets, widths = ranges.mean, np.sqrt(ranges.square / ranges.n)
        flat = [self.sources[k] for k in np.flatnonzero(widths[: len(self.sources)] <= 0)]
        if flat:
            warn(f"note: {', '.join(map(repr, flat))} never changes; leave it out of --sources")
        return scaling, offsets, np.where(widths > 0, widths, 1.0)

    def quality(self, model: ScaledModel) -> dict[str, float | None]:
        """Error on the rows learned from, where statistics tell it."""
        if self._quality is not None:
            return self._quality
        statistics, measure = model.model.statistics_, model.measure_
        if isinstance(measure, SupportedMeasure):
            # Every subset with a gap is known, so its bounds are its value.
            error = statistics.error_of(measure.bounds(statistics.masks)[0], model.bias_)
        elif isinstance(measure, Measure):
            error = statistics.squared_error(measure.values, model.bias_)
        elif isinstance(measure, MobiusMeasure):
            error = statistics.squared_error(measure, model.bias_)
        else:
            return {"rmse": None, "r2": None}
        spread = statistics.target_square - statistics.target_sum**2 / statistics.weight
        return {
            "rmse": float(np.sqrt(error / statistics.weight)) * model.target_width,
            "r2": 1 - error / spread if spread > 0 else None,
        }


def _levels(labels: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Labels that are all numbers as numbers, so that 10 comes after 9; others as they are."""
    try:
        numbers = np.array([as_number(str(label)) for label in labels])
    except ValueError:
        return labels
    whole = np.isfinite(numbers).all() and (numbers == np.rint(numbers)).all()
    return numbers.astype(np.int64) if whole else numbers


def _renamed(measure: Any, sources: tuple[str, ...]) -> Any:
    return measure.renamed(sources)
