"""What a command works on: any file of ours that can answer, and where results go."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from choquet.arrays import FloatArray
from choquet.cli.columns import standard_input
from choquet.decomposition import ClusterDecomposition, decompose
from choquet.decomposition.outcome import Outcome, outcome_of
from choquet.decomposition.trees import TreeDecomposition
from choquet.errors import DataError, FileError, OptionError
from choquet.explanation.classes import of_class
from choquet.explanation.learned import as_learned
from choquet.explanation.subject import identification_of
from choquet.files import MAX_BYTES, check_target, write_whole
from choquet.integrals import choquet_integral, choquet_interval
from choquet.learning.scaled import ScaledModel
from choquet.measures import Measure, MobiusMeasure, SupportedMeasure
from choquet.storage import from_bytes, load, to_bytes

__all__ = ["Subject", "check_output", "load_any", "load_subject", "write_content", "write_object"]


_OPTIONS = {"support": "--all-walks", "k": "-k"}
"""Options of `decompose` that are not called on the command line as they are in Python."""


def load_any(path: Path) -> Any:
    """The object in a file, or on standard input ("-")."""
    if str(path) == "-":
        return from_bytes(standard_input().read(MAX_BYTES + 1), name="standard input")
    return load(path)


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
    """A model, measure or decomposition, with one way to ask it."""

    obj: Any
    name: str
    label: str | None = None
    """The class that is looked at, where there are several and one was named."""

    @property
    def sources(self) -> tuple[str, ...]:
        """Names of the sources, in order."""
        if isinstance(self.obj, ScaledModel):
            return self.obj.sources
        learned = as_learned(self.obj)
        return tuple(self._measure.sources if learned is None else learned.sources)

    @property
    def target(self) -> str | None:
        """Name of what is predicted, if known."""
        return self.obj.target if isinstance(self.obj, ScaledModel) else None

    @property
    def outcome(self) -> Outcome | None:
        """What the output says of a class, where it is one's."""
        return outcome_of(self.looked_at)

    @property
    def _measure(self) -> Any:
        if isinstance(self.obj, Measure | SupportedMeasure | MobiusMeasure):
            return self.obj
        return self.obj.measure if isinstance(self.obj, ClusterDecomposition) else self.obj.measure_

    @property
    def _inner(self) -> Any:
        return self.obj.model if isinstance(self.obj, ScaledModel) else self.obj

    @cached_property
    def looked_at(self) -> Any:
        """The model, or what it learned for the class that was named."""
        return self.obj if self.label is None else of_class(self.obj, self.label)

    def explained(self) -> Any:
        """What explanations and reports are given: a decomposition in the units of the data."""
        if self.label is not None:
            return self.looked_at
        return self.obj if as_learned(self.obj) is not None else self.in_units(self.decomposition())

    def in_units(self, found: Any) -> Any:
        """A decomposition of the model, with the units of its data where they are scaled."""
        scaled = isinstance(self.obj, ScaledModel) and self.obj.scaling != "none"
        return self.obj.around(found) if scaled else found

    def parts(self, **options: Any) -> ClusterDecomposition | TreeDecomposition:
        """The operators that a contextual model learned, or a decomposition."""
        learned = as_learned(self.looked_at)
        if learned is None:
            return self.decomposition(**options)
        if options:
            words = [_OPTIONS.get(name, f"--{name.replace('_', '-')}") for name in options]
            raise OptionError(
                f"{self.name} learned its operators directly: {', '.join(words)} has nothing to "
                "take apart; leave it out, or fit again with --max-leaves"
            )
        return learned.model

    def decomposition(self, **options: Any) -> ClusterDecomposition:
        """The decomposition itself, or one made of the model with these options."""
        if as_learned(self.obj) is not None:
            raise DataError(
                f"{self.name} learned its operators directly: it holds no measure to take apart"
            )
        looked_at = self.looked_at
        inner = looked_at.model if isinstance(looked_at, ScaledModel) else looked_at
        if isinstance(inner, ClusterDecomposition):
            if options:
                again = decompose(inner.measure, **{"support": inner.support, **options})
                return replace(again, bias=inner.bias, outcome=inner.outcome)
            return inner
        return decompose(self.obj, identification=identification_of(self.obj), **options)

    def answer(self, X: FloatArray) -> dict[str, npt.NDArray[Any]]:
        """Columns of output for rows by source."""
        obj = self.obj
        if isinstance(obj, Measure | MobiusMeasure):
            return {"prediction": choquet_integral(obj, X)}
        if isinstance(obj, SupportedMeasure):
            bounds = choquet_interval(obj, X)
            return {"prediction": bounds.mean(axis=1), "low": bounds[:, 0], "high": bounds[:, 1]}
        inner, inputs = self._inner, obj.inputs(X) if isinstance(obj, ScaledModel) else X
        found = {"prediction": obj.predict(X)}
        alone: Outcome | None = getattr(obj, "outcome", None)
        chance = None if alone is None else alone.probability(found["prediction"])
        if alone is not None and chance is not None:
            of = alone.label if len(alone.classes) == 2 else alone.contest
            found[f"p({of})"] = chance
        if isinstance(inner, ClusterDecomposition):
            known = inner.assess(inputs)
            names = np.array(inner.operator_names, dtype=object)
            supported = known.supported.astype(int)
            return {**found, "operator": names[known.operator], "supported": supported}
        learned = as_learned(obj)
        if learned is not None and not hasattr(inner, "classes_"):
            names = np.array(learned.model.operator_names, dtype=object)
            operator = names[learned.model.operator_of(inputs)]
            return {**found, "operator": operator, "trust": learned.model.trust(inputs)}
        if hasattr(inner, "predict_proba"):
            scores = inner.predict_proba(inputs)
            found |= {f"p({name})": scores[:, k] for k, name in enumerate(inner.classes_)}
        if hasattr(inner, "predict_interval"):
            bounds = obj.predict_interval(X)
            found |= {"low": bounds[:, 0], "high": bounds[:, 1], "trust": obj.trust(X)}
        return found


def load_subject(path: Path, label: str | None = None) -> Subject:
    """A file that can answer, and the class of it to look at; others are refused."""
    obj = load_any(path)
    measures = Measure | SupportedMeasure | MobiusMeasure
    answers = isinstance(obj, measures | ClusterDecomposition | ScaledModel)
    answers = answers or as_learned(obj) is not None
    if not answers and not (hasattr(obj, "predict") and hasattr(obj, "measure_")):
        raise DataError(
            f"{path} holds a {type(obj).__name__}; this needs a model, measure or decomposition"
        )
    return Subject(obj, str(path), label)
