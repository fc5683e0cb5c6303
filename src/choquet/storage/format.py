"""The envelope of every file: format, version, kind, checksum, data."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from choquet._version import __version__
from choquet.documents import document_bytes, open_document, refuse_damage
from choquet.errors import DamagedFileError, NewerFileError, TooLargeError
from choquet.files import MAX_BYTES, read_whole, write_whole
from choquet.storage.kinds import KINDS, kind_of

FORMAT = "choquet"
VERSION = 2
"""Raised when a reader of the earlier version could not read what is written now."""

_CHECKED_FROM = 2
"""Version from which on every file has a checksum."""


def save(obj: Any, path: str | os.PathLike[str], *, overwrite: bool = False) -> Path:
    """Write an object to a file; a failure leaves no incomplete file.

    Parameters
    ----------
    obj : Measure, DataSupport, ClusterDecomposition, a fitted ChoquetRegressor, …
        See `choquet.storage.kinds.KINDS` for all of them.
    path : path
        Where to; ".json" is usual.
    overwrite : bool, default False
        Whether an existing file may be replaced.

    Returns
    -------
    Path
        The file that was written.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from choquet import Measure, load, save
    >>> path = save(Measure([0, 0.2, 0.3, 1]), pathlib.Path(tempfile.mkdtemp()) / "g.json")
    >>> load(path)
    <Measure on 2 sources (x1, x2): {x1}: 0.2, {x2}: 0.3, {x1, x2}: 1>
    """
    return write_whole(path, to_bytes(obj), overwrite=overwrite)


def to_bytes(obj: Any) -> bytes:
    """The content of the file that `save` would write.

    Examples
    --------
    >>> from choquet import Measure
    >>> from_bytes(to_bytes(Measure([0, 0.2, 0.3, 1])))("x2")
    0.3
    """
    kind = kind_of(obj)
    head = {"format": FORMAT, "version": VERSION, "kind": kind, "library": __version__}
    return document_bytes(head, KINDS[kind].encode(obj))


def load(path: str | os.PathLike[str], *, verify: bool = True) -> Any:
    """Read an object from a file that `save` wrote.

    Parameters
    ----------
    path : path
        A file; pipes and devices are refused.
    verify : bool, default True
        Compare the content with the checksum in the file. False reads a file that you edited: what
        it holds must still be valid, but one changed digit is not found.

    Returns
    -------
    object
        Of the kind that was saved.

    Raises
    ------
    DamagedFileError
        If the file is cut short, altered or not one of ours, whatever its bytes are.
    NewerFileError
        If it is in a newer version of the format.
    TooLargeError
        If it has more than 2 GiB.
    FileError
        If it cannot be read at all.

    Examples
    --------
    >>> from choquet import load
    >>> load("nowhere.json")
    Traceback (most recent call last):
    ...
    choquet.errors.FileError: cannot read nowhere.json: No such file or directory
    """
    return from_bytes(read_whole(path), name=str(path), verify=verify)


def from_bytes(content: bytes, *, name: str = "the content", verify: bool = True) -> Any:
    """The object whose file has this content; `name` is for messages, `verify` as in `load`."""
    if len(content) > MAX_BYTES:
        raise TooLargeError(f"{name} has more than {MAX_BYTES:,} bytes, and is no file of choquet")
    try:
        document = open_document(content)
    except Exception as error:
        refuse_damage(f"{name} is damaged or no file of choquet", error)
    head = document.fields
    if head.get("format") != FORMAT:
        raise DamagedFileError(f"{name} is no file of choquet: it does not say so in 'format'")
    version, kind = head.get("version"), head.get("kind")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise DamagedFileError(f"{name} has no valid version, but {version!r:.40}")
    if version > VERSION:
        raise NewerFileError(
            f"{name} is in version {version!s:.12} of the format, written by choquet "
            f"{head.get('library')!s:.40}; this is choquet {__version__}, which reads up to "
            f"version {VERSION}: upgrade with pip install -U choquet"
        )
    if not isinstance(kind, str) or kind not in KINDS:
        raise DamagedFileError(f"{name} holds an unknown kind of object, {kind!r:.40}")
    library = head.get("library")
    author = "" if library == __version__ else f", written by choquet {library!s:.40},"
    try:
        data = document.data(verify=verify, required=version >= _CHECKED_FROM)
        return KINDS[kind].decode(data)
    except Exception as error:
        refuse_damage(f"{name}{author} does not hold a valid {kind}", error)
