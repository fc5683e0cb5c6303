"""The authors' files in a folder: which belong together, and the rows they were learned from."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from choquet.arrays import FloatArray, IntArray
from choquet.datasets.author_orders import MatchedRows, Reading, choose, match_rows, readings
from choquet.datasets.author_tables import as_table
from choquet.datasets.authors import AuthorsFile, carried_rows, read_authors, standardised
from choquet.errors import ChoquetError

_SUFFIX = re.compile(
    r"^(?P<name>.+?)[_-]?(?P<what>noreg|no_reg|reg|sorts?|ranks?|)$", re.IGNORECASE
)
_READ = (".csv", ".txt", ".dat", ".data", ".tsv", ".mat")
"""Text before MATLAB: where a data set has both, the text is read."""


@dataclass(eq=False)
class Study:
    """The files of one data set."""

    name: str
    """The beginning of their names, or the folder of single measures."""
    n_sources: int
    files: dict[str, AuthorsFile] = field(default_factory=dict)
    """Measures without ("none") and with a "penalty", their values in the order of the file."""
    lines: IntArray | None = None
    """The lines of the file of sorts, as they stand there."""
    rows: tuple[FloatArray, FloatArray] | None = None
    """Standardised features and target, where they are at hand."""

    def matches(self) -> dict[str, MatchedRows]:
        """Both readings of the lines of sorts."""
        if self.lines is None:
            return {}
        X = None if self.rows is None else self.rows[0]
        inverse = np.argsort(self.lines, axis=1)
        return {"sorts": match_rows(self.lines, X), "ranks": match_rows(inverse, X)}

    def sorts(self) -> tuple[IntArray | None, str]:
        """Sorts of the training rows and how the lines were read: as data or else zeros say."""
        found = self.matches()
        if not found:
            return None, ""
        clear: dict[str, Any] = {
            name: self._clarity(one.sorts) if self.rows is None else one.n_matched or 0
            for name, one in found.items()
        }
        best = max(found, key=clear.__getitem__)
        return found[best].sorts, best

    def _clarity(self, sorts: IntArray) -> tuple[float, float]:
        """How well some order of the values goes with the sorts: by zeros, then by spread."""
        every = [
            one
            for file in self.files.values()
            for one in readings(file.values, file.bias, None, None, sorts).values()
        ]
        gaps = [one.zeros - (one.zeros_elsewhere or 0.0) for one in every if one.zeros is not None]
        trends = [one.spread[0] for one in every if one.spread is not None]
        return max(gaps, default=0.0), -min(trends, default=0.0)

    def readings(self, which: str) -> dict[str, Reading]:
        """Both readings of a file of measures, with all that can be checked."""
        file = self.files[which]
        X, y = (None, None) if self.rows is None else self.rows
        return readings(file.values, file.bias, X, y, self.sorts()[0])

    def order(self) -> tuple[str | None, str]:
        """The order of the values, which all files of a study share, and what speaks for it."""
        said = [choose(self.readings(which)) for which in self.files]
        return next((one for one in said if one[0] is not None), (None, said[0][1]))


def authors_folder(data: Path | None) -> Path | None:
    """The folder of the authors' files: the one given, or ``authors`` in it.

    Examples
    --------
    >>> authors_folder(None) is None
    True
    """
    if data is None:
        return None
    for place in (data / "authors", data):
        if place.is_dir() and find_studies(place)[0]:
            return place
    return None


def find_studies(folder: Path) -> tuple[list[Study], list[str]]:
    """The studies in a folder, and a sentence for each file that could not be read.

    Measures beside each other are told apart by the ends of their names: ``fish.csv`` is with a
    penalty, ``fish_noreg.csv`` without, ``fish_sorts.csv`` holds sorts or ranks. A folder inside
    holds single measures, one in each file.

    Examples
    --------
    >>> import tempfile
    >>> find_studies(Path(tempfile.mkdtemp()))
    ([], [])
    """
    studies: dict[str, Study] = {}
    notes: list[str] = []
    for file in _files(folder):
        name, what = _parts(file)
        try:
            _add(studies, name, what, _quietly(file))
        except ChoquetError as error:
            if what:
                notes.append(f"{file.name} was not read: {error}".replace(str(file), file.name))
    for inside in sorted(path for path in folder.iterdir() if path.is_dir()):
        study = _single_measures(inside)
        if study is not None:
            studies[study.name] = study
    kept = [study for study in studies.values() if study.files]
    for study in kept:
        study.files = dict(sorted(study.files.items()))  # "none" before "penalty"
        study.rows = _rows(study, folder)
    return kept, notes


def _parts(file: Path) -> tuple[str, str]:
    """The name of the data set, and what the file holds of it."""
    found = _SUFFIX.match(file.stem.lower())
    return (file.stem.lower(), "") if found is None else (found["name"], found["what"])


def _files(folder: Path) -> Iterator[Path]:
    files = [path for path in folder.iterdir() if path.suffix.lower() in _READ]
    yield from sorted(files, key=lambda path: (path.suffix.lower() == ".mat", path.name))


def _quietly(file: Path) -> AuthorsFile:
    """A file in its own order: what is right is decided from all files of a data set together."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return read_authors(file, order="binary")
        except ChoquetError:
            return read_authors(file, order="sorts")


def _add(studies: dict[str, Study], name: str, what: str, file: AuthorsFile) -> None:
    if what.startswith(("sort", "rank")) and file.kind != "sorts":
        raise ChoquetError("by its name it holds sorts, but its lines are no permutations")
    study = studies.setdefault(name, Study(name, file.n_sources))
    if study.n_sources != file.n_sources:
        if study.files or study.lines is None:
            raise ChoquetError(f"it has {file.n_sources} sources, the others {study.n_sources}")
        study.n_sources, study.lines = file.n_sources, None
    if file.kind == "sorts":
        study.lines = file.sorts if study.lines is None else study.lines
    else:
        study.files.setdefault("none" if what.startswith("no") else "penalty", file)


def _single_measures(folder: Path) -> Study | None:
    """All measures in a folder as the runs of one study, if they are on the same sources."""
    found = []
    for file in _files(folder):
        try:
            read = _quietly(file)
        except ChoquetError:
            continue
        if read.kind == "measures":
            found.append(read)
    if not found or len({one.n_sources for one in found}) > 1:
        return None
    values, bias = (np.concatenate([getattr(o, n) for o in found]) for n in ("values", "bias"))
    whole = AuthorsFile("measures", "binary", values, bias)
    return Study(folder.name, found[0].n_sources, {"none": whole})


def _rows(study: Study, folder: Path) -> tuple[FloatArray, FloatArray] | None:
    """Standardised rows: of the package, or a table whose name begins with that of the study."""
    carried = carried_rows(study.name, study.n_sources)
    if carried is not None:
        return carried
    for place in (folder, folder / "uci", folder.parent / "uci", folder.parent):
        for file in sorted(place.glob("*")) if place.is_dir() else ():
            if not file.is_file() or not file.name.lower().startswith(study.name):
                continue
            if place == folder and _parts(file)[0] == study.name:
                continue  # measures or sorts
            try:
                table = as_table(file)
            except ChoquetError:
                continue
            if table.shape[1] == study.n_sources + 1 and len(table) > study.n_sources:
                return standardised(table[:, :-1], table[:, -1])
    return None
