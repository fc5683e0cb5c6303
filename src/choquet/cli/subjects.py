"""What a command works on: any file of ours that can answer, and where results go."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from choquet.arrays import FloatArray
from choquet.decomposition import Decomposition, decompose
from choquet.errors import DataError, FileError
from choquet.files import write_whole
from choquet.integrals import choquet_integral, choquet_interval
from choquet.learning.scaled import ScaledModel
from choquet.measures import Measure, MobiusMeasure, SupportedMeasure
from choquet.storage import from_bytes, load, to_bytes

__all__ = ["Subject", "check_output", "load_any", "load_subject", "write_object", "write_text"]


def load_any(path: Path) -> Any:
    """The object in a file, or on standard input ("-")."""
    if str(path) == "-":
        return from_bytes(sys.stdin.buffer.read(), name="standard input")
    return load(path)


def check_output(path: Path, *, force: bool) -> None:
    """Refuse before the work what would be refused after it."""
    if str(path) == "-":
        return
    if path.is_dir():
        raise FileError(f"{path} is a folder; give the name of a file in it")
    if path.exists() and not force:
        raise FileError(f"{path} exists; choose another name with -o, or pass --force")
    if not path.absolute().parent.is_dir():
        raise FileError(f"{path.parent} is no folder; make it first, or choose another with -o")


def write_object(obj: Any, path: Path, *, force: bool) -> int:
    """Write a file of ours, or standard output ("-"); returns its size."""
    return write_text(to_bytes(obj), path, force=force)


def write_text(content: bytes, path: Path, *, force: bool) -> int:
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

    @property
    def sources(self) -> tuple[str, ...]:
        """Names of the sources, in order."""
        if isinstance(self.obj, ScaledModel):
            return self.obj.sources
        return tuple(self._measure.sources)

    @property
    def target(self) -> str | None:
        """Name of what is predicted, if known."""
        return self.obj.target if isinstance(self.obj, ScaledModel) else None

    @property
    def _measure(self) -> Any:
        if isinstance(self.obj, Measure | SupportedMeasure | MobiusMeasure):
            return self.obj
        return self.obj.measure if isinstance(self.obj, Decomposition) else self.obj.measure_

    def inputs(self, X: FloatArray) -> FloatArray:
        """Rows as the measure sees them."""
        return self.obj.inputs(X) if isinstance(self.obj, ScaledModel) else X

    def outputs(self, y: FloatArray) -> FloatArray:
        """Targets as the measure sees them."""
        if isinstance(self.obj, ScaledModel):
            return np.asarray((y - self.obj.target_offset) / self.obj.target_width)
        return y

    def decomposition(self, **options: Any) -> Decomposition:
        """The decomposition itself, or one made of the model with these options."""
        if isinstance(self.obj, Decomposition):
            if options:
                return decompose(self.obj.measure, **{"support": self.obj.support, **options})
            return self.obj
        return decompose(self.obj, **options)

    def answer(self, X: FloatArray) -> dict[str, npt.NDArray[Any]]:
        """Columns of output for rows by source."""
        obj = self.obj
        if isinstance(obj, Measure | MobiusMeasure):
            return {"prediction": choquet_integral(obj, X)}
        if isinstance(obj, SupportedMeasure):
            bounds = choquet_interval(obj, X)
            return {"prediction": bounds.mean(axis=1), "low": bounds[:, 0], "high": bounds[:, 1]}
        if isinstance(obj, Decomposition):
            known = obj.assess(X)
            return {
                "prediction": obj.predict(X),
                "operator": np.array(obj.operator_names, dtype=object)[known.operator],
                "supported": known.supported.astype(int),
            }
        found = {"prediction": obj.predict(X)}
        inner = obj.model if isinstance(obj, ScaledModel) else obj
        if hasattr(inner, "predict_proba"):
            scores = inner.predict_proba(self.inputs(X))
            found |= {f"p({name})": scores[:, k] for k, name in enumerate(inner.classes_)}
        if hasattr(inner, "predict_interval"):
            bounds = obj.predict_interval(X)
            found |= {"low": bounds[:, 0], "high": bounds[:, 1], "trust": obj.trust(X)}
        return found


def load_subject(path: Path) -> Subject:
    """A file that can answer; others are refused by what they hold."""
    obj = load_any(path)
    measures = Measure | SupportedMeasure | MobiusMeasure
    answers = isinstance(obj, measures | Decomposition | ScaledModel)
    if not answers and not (hasattr(obj, "predict") and hasattr(obj, "measure_")):
        raise DataError(
            f"{path} holds a {type(obj).__name__}; this needs a model, measure or decomposition"
        )
    return Subject(obj, str(path))
