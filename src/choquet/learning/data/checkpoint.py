"""Sums so far in a file, so that a long run that was stopped goes on where it was."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, fields
from hashlib import blake2b
from os import PathLike
from typing import Any

import numpy as np

from choquet._version import __version__
from choquet.arrays import as_inputs, as_vector
from choquet.documents import document_bytes, open_document, refuse_damage
from choquet.errors import DamagedFileError, DataError, NewerFileError
from choquet.expected import TEXT, Number, expect_fields
from choquet.files import read_whole, write_whole
from choquet.learning.data.checks import support_from
from choquet.learning.data.minima import MinimaStatistics
from choquet.learning.data.statistics import Statistics

_FORMAT, _VERSION = "choquet checkpoint", 2
_KINDS: dict[str, Any] = {"gaps": Statistics, "minima": MinimaStatistics}
"""Statistics by the name they have in the file."""
_FIELDS = {
    **dict.fromkeys(("n_chunks", "n_rows", "whole"), Number(low=0, high=2**62, whole=True)),
    "content": TEXT,
    "source": TEXT,
}
_ANEW = "give another file name, or remove the file to begin anew"


def content_after(content: str, *columns: Any) -> str:
    """Digest of chunks up to one, from the digest up to the one before and its columns.

    Examples
    --------
    >>> first = content_after("", np.array([[0.5, 0.25]]), np.array([1.0]))
    >>> first == content_after("", np.array([[0.5, 0.75]]), np.array([1.0]))
    False
    """
    digest = blake2b(content.encode(), digest_size=16)
    for column in columns:
        digest.update(str(column.shape).encode())
        digest.update(np.ascontiguousarray(column, dtype="<f8").tobytes())
    return digest.hexdigest()


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """Chunks that were summed up, their sums, and by what to know these chunks again.

    Attributes
    ----------
    n_chunks, n_rows : int
        How many are in the sums.
    total : Evidence, Statistics or MinimaStatistics
        The sums; None before the first.
    whole : int
        Chunks or partitions in all, where that is known; 0 elsewhere.
    content : str
        Digest of all numbers in the chunks, in order: see `content_after`.
    source : str
        What the source itself says of them without reading them, where it can; else empty.
    parts : tuple of (int, str)
        Of a cluster: number and digest of each partition that has rows.

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
    content: str = ""
    source: str = ""
    parts: tuple[tuple[int, str], ...] = ()

    @property
    def n_sources(self) -> int | None:
        """Sources of the data, if any were seen."""
        if self.total is None:
            return None
        statistics = getattr(self.total, "statistics", self.total)
        return int(statistics.n_sources)

    def write(self, path: str | PathLike[str]) -> None:
        """Write the file whole, in place of the one before."""
        write_whole(path, self.to_bytes(), overwrite=True)

    def to_bytes(self) -> bytes:
        """The content of the file, which partitions of a cluster send too."""
        statistics = getattr(self.total, "statistics", self.total)
        data: dict[str, Any] = {
            "kind": next(name for name, known in _KINDS.items() if isinstance(statistics, known)),
            **{name: getattr(self, name) for name in ("n_chunks", "n_rows", "whole")},
            **{name: getattr(self, name) for name in ("content", "source", "parts")},
            "statistics": dict(statistics.to_arrays()),
        }
        if statistics is not self.total:
            support = self.total.support
            data["support"] = {
                field.name: getattr(support, field.name) for field in fields(support)
            }
        head = {"format": _FORMAT, "version": _VERSION, "library": __version__}
        return document_bytes(head, data, compress=False)

    @classmethod
    def read(cls, path: str | PathLike[str]) -> Checkpoint:
        """The checkpoint in a file."""
        return cls.from_bytes(read_whole(path), str(path))

    @classmethod
    def from_bytes(cls, found: bytes, path: str) -> Checkpoint:
        """The checkpoint in the content of a file, with its name for messages."""
        from choquet.learning.data.chunks import Evidence

        if found.startswith(b"PK") and b"format.npy" in found[:200]:
            raise DamagedFileError(
                f"{path} is a checkpoint of an earlier choquet (format 1), which did not "
                "say which data it belongs to; remove it to begin anew"
            )
        unreadable = f"{path} is no checkpoint; remove it to begin anew"
        try:
            document = open_document(found)
            version = document.fields.get("version")
            if document.fields.get("format") != _FORMAT or not isinstance(version, int):
                raise ValueError("it does not say so in 'format'")
        except Exception as error:
            refuse_damage(unreadable, error)
        if version > _VERSION:
            raise NewerFileError(f"{path} is of a newer choquet; upgrade, or remove it")
        try:
            data = document.data()
            total: Any = _KINDS[data["kind"]].from_arrays(data["statistics"])
            if "support" in data:
                total = Evidence(total, support_from(data["support"]))
            fields = expect_fields(data, _FIELDS)
            parts = tuple((int(number), str(digest)) for number, digest in data["parts"])
            return cls(**fields, total=total, parts=parts)
        except Exception as error:
            refuse_damage(unreadable, error)

    def refuse_other_sums(self, make: Callable[..., Any]) -> None:
        """Raise if these are not the sums that `make` makes: statistics, evidence, and of which k.

        Examples
        --------
        >>> from choquet.learning import evidence_of
        >>> part = Statistics.from_data([[0.9, 0.4]], [0.6])
        >>> Checkpoint(1, 1, part).refuse_other_sums(evidence_of)
        Traceback (most recent call last):
        ...
        choquet.errors.DataError: the checkpoint holds Statistics, not Evidence of Statistics; ...
        """
        row = np.zeros((1, self.n_sources or 1)), np.zeros(1), np.ones(1)
        found, wanted = _sort_of(self.total), _sort_of(make(*row))
        if found != wanted:
            raise DataError(f"the checkpoint holds {found}, not {wanted}; {_ANEW}")

    def rest_of(self, chunks: Iterable[Any]) -> Iterator[Any]:
        """The chunks after those that are in the sums, which must be the same as then."""
        enter = getattr(chunks, "after", None)
        if enter is not None and self.source:
            rows, rest = enter(self.n_chunks)
            self._compare(rows)
            self._insist(chunks.fingerprint(self.n_chunks) == self.source)  # type: ignore[attr-defined]
            found: Iterator[Any] = rest
            return found
        remaining, rows, content = iter(chunks), 0, ""
        for number in range(self.n_chunks):
            chunk = next(remaining, None)
            if chunk is None:
                self._compare(-1)
            elif len(chunk[0]) or len(chunk[1]):
                X = as_inputs(chunk[0], finite=False)
                if X.shape[1] != self.n_sources:
                    raise DataError(
                        f"the checkpoint is of {self.n_sources} sources, but chunk {number} has "
                        f"{X.shape[1]}; {_ANEW}"
                    )
                given = chunk[2] if len(chunk) == 3 else np.ones(len(X))
                y, weight = as_vector(chunk[1], "y"), as_vector(given, "weight")
                rows, content = rows + len(X), content_after(content, X, y, weight)
        self._compare(rows)
        self._insist(content == self.content)
        return remaining

    def _compare(self, rows: int) -> None:
        if rows != self.n_rows:
            here = "there are fewer chunks here" if rows < 0 else f"here they hold {rows:,}"
            raise DataError(
                f"the checkpoint is of other data: its {self.n_chunks:,} chunks held "
                f"{self.n_rows:,} rows, and {here}; {_ANEW}"
            )

    def _insist(self, same: bool) -> None:
        if not same:
            raise DataError(
                f"the checkpoint is of other data: its {self.n_chunks:,} chunks held as many rows, "
                f"but other numbers; {_ANEW}"
            )


def _sort_of(total: Any) -> str:
    """What sums are of, in words."""
    statistics = getattr(total, "statistics", total)
    order = f" of order {statistics.order}" if isinstance(statistics, MinimaStatistics) else ""
    kind = f"{type(statistics).__name__}{order}"
    return kind if statistics is total else f"{type(total).__name__} of {kind}"
