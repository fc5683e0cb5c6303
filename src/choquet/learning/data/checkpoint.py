"""Sums so far in a file, so that a long run that was stopped goes on where it was."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from choquet.errors import DamagedFileError, DataError
from choquet.files import write_whole
from choquet.learning.data.minima import MinimaStatistics
from choquet.learning.data.statistics import Statistics
from choquet.walks import DataSupport

__all__ = ["Checkpoint"]

_FORMAT = "choquet checkpoint 1"
_KINDS: dict[str, Any] = {"gaps": Statistics, "minima": MinimaStatistics}
"""Statistics by the name they have in the file."""


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """Chunks that were summed up, and their sums.

    Attributes
    ----------
    n_chunks, n_rows : int
        How many are in the sums.
    total : Evidence, Statistics or MinimaStatistics
        The sums; None before the first.
    whole : int
        Chunks or partitions in all, where that is known; 0 elsewhere.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "so-far.npz"
    >>> part = Statistics.from_data([[0.9, 0.4]], [0.6])
    >>> Checkpoint(1, 1, part).write(path)
    >>> Checkpoint.read(path).total.target_square == part.target_square
    True
    """

    n_chunks: int
    n_rows: int
    total: Any
    whole: int = 0

    @property
    def n_sources(self) -> int | None:
        """Sources of the data, if any were seen."""
        if self.total is None:
            return None
        statistics = getattr(self.total, "statistics", self.total)
        return int(statistics.n_sources)

    def write(self, path: str | PathLike[str]) -> None:
        """Write the file whole, in place of the one before."""
        statistics = getattr(self.total, "statistics", self.total)
        kind = next(name for name, known in _KINDS.items() if isinstance(statistics, known))
        arrays = {f"statistics.{key}": value for key, value in statistics.to_arrays().items()}
        if statistics is not self.total:
            support = self.total.support
            arrays |= {
                f"support.{field.name}": np.asarray(getattr(support, field.name))
                for field in fields(support)
            }
        stream = io.BytesIO()
        np.savez(
            stream,
            format=np.array(_FORMAT),
            kind=np.array(kind),
            place=np.array([self.n_chunks, self.n_rows, self.whole]),
            **arrays,
        )
        write_whole(path, stream.getvalue(), overwrite=True)

    @classmethod
    def read(cls, path: str | PathLike[str]) -> Checkpoint:
        """The checkpoint in a file."""
        from choquet.learning.data.chunks import Evidence

        try:
            content = Path(path).read_bytes()
            with np.load(io.BytesIO(content), allow_pickle=False) as file:
                arrays = {name: file[name] for name in file.files}
            if str(arrays["format"]) != _FORMAT:
                raise ValueError(f"its format is {arrays['format']}")
            total: Any = _KINDS[str(arrays["kind"])].from_arrays(_under("statistics.", arrays))
            support = _under("support.", arrays)
            if support:
                plain = {k: v.item() if v.ndim == 0 else v for k, v in support.items()}
                total = Evidence(total, DataSupport(**plain))
            n_chunks, n_rows, whole = (int(k) for k in arrays["place"])
        except (ValueError, KeyError, TypeError, OSError, EOFError, zipfile.BadZipFile) as error:
            raise DamagedFileError(
                f"{path} is no checkpoint ({error}); remove it to begin anew"
            ) from None
        return cls(n_chunks, n_rows, total, whole)

    def rest_of(self, chunks: Iterable[Any]) -> Iterator[Any]:
        """The chunks after those that are in the sums, which must be the same as then."""
        enter = getattr(chunks, "after", None)
        if enter is not None:
            rows, rest = enter(self.n_chunks)
            self._compare(rows)
            found: Iterator[Any] = rest
            return found
        remaining, rows = iter(chunks), 0
        for number in range(self.n_chunks):
            chunk = next(remaining, None)
            if chunk is None:
                self._compare(-1)
            width = np.shape(chunk[0])[1:] if chunk is not None and len(chunk[0]) else ()
            if width and width != (self.n_sources,):
                raise DataError(
                    f"the checkpoint is of {self.n_sources} sources, but chunk {number} has "
                    f"{width[0]}; give another file name, or remove the file to begin anew"
                )
            rows += len(chunk[0]) if chunk is not None else 0
        self._compare(rows)
        return remaining

    def _compare(self, rows: int) -> None:
        if rows != self.n_rows:
            here = "there are fewer chunks here" if rows < 0 else f"here they hold {rows:,}"
            raise DataError(
                f"the checkpoint is of other data: its {self.n_chunks:,} chunks held "
                f"{self.n_rows:,} rows, and {here}; give another file name, or remove the file to "
                "begin anew"
            )


def _under(prefix: str, arrays: dict[str, Any]) -> dict[str, Any]:
    return {
        name.removeprefix(prefix): array
        for name, array in arrays.items()
        if name.startswith(prefix)
    }
