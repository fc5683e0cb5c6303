"""Files that commands take and give: any model, measure or decomposition, seen in one way."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from numbers import Number
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt

from choquet import decomposition
from choquet.arrays import FloatArray, check_option
from choquet.cli.columns import standard_input
from choquet.decomposition import Decomposition, decompose
from choquet.errors import DataError, FileError, OptionError, SupportWarning, TooLargeError
from choquet.explanation import AbstractView, View, operators_view, view_of
from choquet.explanation.view import is_additive
from choquet.files import MAX_BYTES, check_target, write_whole
from choquet.measures import AbstractMeasure
from choquet.scales import Unwrapped, unwrapped
from choquet.storage import from_bytes, load, to_bytes

_INTERVAL_ROWS = {4: 200_000, 5: 100_000, 6: 10_000, 7: 4_000, 8: 600, 9: 120}
"""Rows a minute, by the number of sources: an interval of 5 sources takes about 0.4 ms, one of 7
about 4 ms, one of 9 a third of a second. Below 4 it takes little, and beyond 9 there are none."""


_TABLES = (".csv", ".tsv", ".txt", ".parquet", ".feather", ".arrow")
"""How the names of tables end."""

_OPTIONS = {"support": "--all-walks", "k": "-k", "X": "a table", "y": "a target"}
"""Options of `decompose` that are not called on the command line as they are in Python."""

_METHODS = {
    "contexts": "ContextTree", "clodd": "Clodd", "single_linkage": "Linkage",
    "fuzzy_c_means": "FuzzyCMeans", "distinct": "Distinct",
}  # fmt: skip
"""Classes of the ways to decompose, which load when they are asked for."""


def load_any(path: Path) -> Any:
    """The object in a file, or on standard input ("-")."""
    if str(path) == "-":
        return from_bytes(standard_input().read(MAX_BYTES + 1), name="standard input")
    try:
        return load(path)
    except FileError:
        if path.suffix.lower() not in _TABLES or not path.is_file():
            raise
        raise FileError(
            f"{path} looks like a table, and a model is expected here; make one with choquet fit "
            f"{path}"
        ) from None


def refuse_two_inputs(model: Path, data: Path | None) -> None:
    """Standard input is read once."""
    if str(model) == "-" and str(data) == "-":
        raise OptionError("only one of model and data can come from standard input")


def check_output(path: Path, *, force: bool, suffixes: Sequence[str] = ()) -> None:
    """Refuse before the work what would be refused after it, and names of other formats."""
    if str(path) == "-":
        return
    if suffixes and path.suffix and path.suffix.lower() not in suffixes:
        raise OptionError(
            f"{path}: {path.suffix} files are not written; choose a name that ends in "
            f"{', '.join(suffixes)}"
        )
    check_target(path, overwrite=force)
    if not path.absolute().parent.is_dir():
        raise FileError(f"{path.parent} is no folder; make it first, or choose another with -o")


def write_object(obj: Any, path: Path, *, force: bool) -> int:
    """Write a file of ours, or standard output ("-"); returns its size."""
    return write_content(to_bytes(obj), path, force=force)


def write_content(content: bytes, path: Path, *, force: bool) -> int:
    """Write content whole or not at all, or to standard output ("-"); returns its size."""
    if str(path) == "-":
        sys.stdout.flush()
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()
    else:
        write_whole(path, content, overwrite=force)
    return len(content)


@dataclass(frozen=True, eq=False)
class Subject:
    """A model, measure or decomposition from a file, and the class of it that is looked at."""

    obj: Any
    name: str
    label: str | None = None

    @cached_property
    def seen(self) -> AbstractView:
        """Its view, made when first needed."""
        return view_of(self.inside, label=self.label)

    @cached_property
    def additive(self) -> bool:
        """Whether it is a sum of small integrals, which has no operators of all sources."""
        return is_additive(self.inside.model)

    @property
    def terms(self) -> Any:
        """Contexts and operators of the terms of an additive model."""
        seen: Any = self.seen
        return seen.parts

    @cached_property
    def view(self) -> View:
        """The view of its operators; an additive model has none."""
        return operators_view(self.inside, label=self.label)

    @property
    def fused(self) -> bool:
        """Whether it fuses classifiers, and so takes tables of scores."""
        return bool(getattr(self.obj, "takes_scores", False))

    @property
    def asked(self) -> Any:
        """What reports are given: the model, or what it learned for the class."""
        return self.obj if self.label is None else self.seen

    @property
    def explained(self) -> Any:
        """What explanations are given: the same without what is around it."""
        return self.inside if self.label is None else self.seen

    @cached_property
    def inside(self) -> Unwrapped:
        """The model inside a pipeline, with the units around it."""
        return unwrapped(self.obj)

    @cached_property
    def sources(self) -> tuple[str, ...]:
        """Names of the columns that it takes, in order."""
        inner, _, names, _ = self.inside
        measure = getattr(inner, "measure_", inner)
        return tuple(names or getattr(measure, "sources", None) or self.seen.sources)

    @cached_property
    def words(self) -> dict[str, dict[str, Any]]:
        """Columns whose cells are words, each with the level that a word stands for."""
        columns = getattr(self.inside.model, "columns_", ())
        spelled = (one for one in columns if not all(map(_is_number, one.levels)))
        return {one.name: {str(level): level for level in one.levels} for one in spelled}

    def rows(self, X: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Rows of a table as the model takes them: words in place of how a file spells them."""
        for name, levels in self.words.items():
            k = self.sources.index(name)
            X[:, k] = [levels.get(cell, cell) for cell in X[:, k].tolist()]
        return X

    @property
    def target(self) -> str | None:
        """Name of what is predicted, if known."""
        return self.inside.target or self.seen.target

    def parts(self, *, identify: bool = True, **options: Any) -> Decomposition:
        """The operators that were learned, or a decomposition with these options.

        With `identify` they know which values the data of a regressor determine.
        """
        if not options:
            return operators_view(self.inside, label=self.label, identify=identify).parts
        if self.view.learned:
            words = [_OPTIONS.get(name, f"--{name.replace('_', '-')}") for name in options]
            raise OptionError(
                f"{self.name} learned its operators directly: {', '.join(words)} has nothing to "
                "take apart; leave it out, or fit again with --max-leaves"
            )
        if isinstance(self.obj, Decomposition) or self.label is not None:
            old = self.view.parts
            model = SimpleNamespace(
                measure_=old.measure, support_=old.support, intercept_=old.intercept,
                outcome=old.outcome,
            )  # fmt: skip
            asked = _asked(options)
            if old.units is not None and "X" in asked:
                asked["X"] = old.units.scaled(asked["X"])
                asked["y"] = None if asked["y"] is None else old.units.target(asked["y"])
            found: Decomposition = decompose(model, **asked)
            return found.in_units(old.units)
        known = None
        if identify:
            known = operators_view(self.inside, identify=True).parts.identification
        made: Decomposition = decompose(self.inside, identification=known, **_asked(options))
        return made

    def decomposition(self) -> Decomposition:
        """The decomposition of a measure; of what holds none there is none."""
        parts = self.view.parts
        if parts.measure is None:
            raise DataError(
                f"{self.name} learned its operators directly: it holds no measure to take apart"
            )
        return parts

    @property
    def has_noise(self) -> bool:
        """Whether it has limits for new targets, as regressors do."""
        inner = self.inside.model
        return hasattr(inner, "predict_interval") and not hasattr(inner, "classes_")

    @cached_property
    def learned_gaps(self) -> bool:
        """Whether it learned from rows that lack values, and so takes them."""
        terms = self.inside.model.model_.terms if self.additive else ()
        return any(axis.missing for term in terms for axis in term.axes)

    def answer(
        self, X: FloatArray, level: float | None = 0.95, noise: bool = False
    ) -> dict[str, npt.NDArray[Any]]:
        """Columns of output for rows by source, in the units of the data.

        Without a level there are no intervals; with noise they are for new targets.
        """
        inner, units, _, _ = self.inside
        if self.additive:
            return self._sum(inner, X, level, noise)
        scaled = X if units is None else units.scaled(X)
        if getattr(inner, "known_words", None) is not None:
            bounds = inner.interval(X)
            return {"prediction": bounds.mean(axis=1), "low": bounds[:, 0], "high": bounds[:, 1]}
        if hasattr(inner, "classes_"):
            found = {"prediction": inner.predict(scaled)}
            scores = inner.predict_proba(scaled)
            return found | {f"p({one})": scores[:, k] for k, one in enumerate(inner.classes_)}
        if hasattr(inner, "predict_interval"):
            answers = inner.predict(scaled)
            found = {"prediction": answers if units is None else units.output(answers)}
            ends = None if level is None else _intervals(inner, scaled, level, noise)
            if ends is not None:
                low, high = (ends if units is None else units.output(ends)).T
                found |= {"low": low, "high": high, "level": np.full(len(low), level)}
            return found | {"support": inner.support_share(scaled)}
        if isinstance(inner, AbstractMeasure):
            outputs = inner.integral(scaled)
            return {"prediction": outputs if units is None else units.output(outputs)}
        view = self.view
        found = {"prediction": view.in_data(view.answers(view.parts.scaled(X)))}
        if view.own is not None:
            return found
        alone = view.outcome
        chance = None if alone is None else alone.probability(found["prediction"])
        if alone is not None and chance is not None:
            found[f"p({alone.label if len(alone.classes) == 2 else alone.contest})"] = chance
        known = view.parts.assess(X)
        found["operator"] = np.array(view.parts.operator_names, dtype=object)[known.operator]
        if view.learned:
            return found | {"trust": 1 - known.phi}
        return found | {"supported": known.supported.astype(int)}

    @property
    def interval_rows(self) -> float:
        """Rows whose intervals are found unasked, in about a minute."""
        inner = self.inside[0]
        if self.additive or not hasattr(inner, "predict_interval"):
            return float("inf")
        return _INTERVAL_ROWS.get(len(self.sources), float("inf"))

    def _sum(
        self, model: Any, X: FloatArray, level: float | None, noise: bool
    ) -> dict[str, npt.NDArray[Any]]:
        """Answers of an additive model."""
        model = model.nameless()
        found = {"prediction": model.predict(X)}
        if hasattr(model, "classes_"):
            chances = model.predict_proba(X)
            found |= {f"p({one})": chances[:, k] for k, one in enumerate(model.classes_)}
        elif level is not None:
            low, high = model.predict_interval(X, level=level, noise=noise).T
            found |= {"low": low, "high": high, "level": np.full(len(low), level)}
        return found | {"trust": model.trust(X)}


def _is_number(level: Any) -> bool:
    return isinstance(level, Number) and not isinstance(level, bool | np.bool_)


def _intervals(
    model: Any, scaled: FloatArray, level: float, noise: bool = False
) -> FloatArray | None:
    """Intervals of outputs at this level; None where there are too many sources for them."""
    try:
        return np.asarray(
            model.predict_interval(scaled, level=level, **({"noise": True} if noise else {}))
        )
    except (TooLargeError, OptionError) as error:
        if noise:
            raise
        # Said once for all rows, as all notes are.
        warnings.warn(f"there are no intervals: {error}", SupportWarning, stacklevel=2)
        return None


def load_subject(path: Path, label: str | None = None) -> Subject:
    """A file that can answer, and the class of it to look at; others are refused."""
    subject = Subject(load_any(path), str(path), label)
    inner = subject.inside.model
    known = isinstance(inner, Decomposition) or hasattr(inner, "decomposition_")
    if not known and not isinstance(getattr(inner, "measure_", inner), AbstractMeasure):
        kind = type(subject.obj).__name__
        raise DataError(f"{path} holds a {kind}; this needs a model, measure or decomposition")
    return subject


def _asked(options: dict[str, Any]) -> dict[str, Any]:
    """Options of the command line as those of `decompose`: the method with what belongs to it."""
    given = dict(options)
    kept: dict[str, Any] = {
        name: given.pop(name) for name in ("support", "X", "y") if name in given
    }
    name = given.pop("method", "contexts" if set(given) <= {"epsilon"} else "clodd")
    made = getattr(decomposition, _METHODS[check_option("method", name, _METHODS)])
    unknown = sorted(set(given) - {field.name for field in fields(made)})
    if unknown:
        words = ", ".join(_OPTIONS.get(one, f"--{one.replace('_', '-')}") for one in unknown)
        raise OptionError(f"--method {name} has no {words}; leave it out, or choose another method")
    if name == "fuzzy_c_means" and "k" not in given:
        raise OptionError("--method fuzzy_c_means needs the number of clusters: -k")
    return {**kept, "method": made(**given)}
