"""The envelope of every file: format, version, kind, data."""

from __future__ import annotations

import io
import json
import os
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from choquet._version import __version__
from choquet.errors import ChoquetError, DamagedFileError, FileError, NewerFileError
from choquet.files import write_whole
from choquet.storage.kinds import KINDS, kind_of

__all__ = ["FORMAT", "VERSION", "from_bytes", "load", "save", "to_bytes"]

FORMAT = "choquet"
VERSION = 1
"""Raised when a reader of the earlier version could not read what is written now."""

_INLINE = 4096
"""Arrays with up to so many numbers in all are written as JSON lists."""

_DTYPES = {"float64", "int64", "uint64", "bool", "int32"}


def save(obj: Any, path: str | os.PathLike[str], *, overwrite: bool = False) -> Path:
    """Write an object to a file, whole or not at all.

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
    arrays: dict[str, npt.NDArray[Any]] = {}
    data = KINDS[kind].encode(obj)
    inline = _count_numbers(data) <= _INLINE
    document = {
        "format": FORMAT,
        "version": VERSION,
        "kind": kind,
        "library": __version__,
        "data": _pack(data, arrays, inline),
    }
    text = json.dumps(document, indent=1, ensure_ascii=False, allow_nan=True).encode()
    if inline:
        return text + b"\n"
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("document.json", text)
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, array, allow_pickle=False)
    return stream.getvalue()


def load(path: str | os.PathLike[str]) -> Any:
    """Read an object from a file that `save` wrote.

    Parameters
    ----------
    path : path
        The file.

    Returns
    -------
    object
        Of the kind that was saved.

    Raises
    ------
    DamagedFileError
        If the file is cut short, altered or not one of ours.
    NewerFileError
        If it is in a newer version of the format.
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
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        raise FileError(f"cannot read {path}: {error.strerror or error}") from error
    return from_bytes(content, name=str(path))


def from_bytes(content: bytes, *, name: str = "the content") -> Any:
    """The object whose file has this content; `name` is for messages."""
    path = name
    try:
        document, arrays = _open(content)
    except (ValueError, KeyError, zipfile.BadZipFile, EOFError, RecursionError) as error:
        raise DamagedFileError(f"{path} is damaged or no file of choquet: {error}") from None
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise DamagedFileError(f"{path} is no file of choquet: it does not say so in 'format'")
    version = document.get("version")
    if not isinstance(version, int) or version < 1:
        raise DamagedFileError(f"{path} has no valid version, but {version!r}")
    if version > VERSION:
        raise NewerFileError(
            f"{path} is in version {version} of the format, written by choquet "
            f"{document.get('library')}; this is choquet {__version__}, which reads up to version "
            f"{VERSION}: upgrade with pip install -U choquet"
        )
    kind = document.get("kind")
    if kind not in KINDS:
        raise DamagedFileError(f"{path} holds an unknown kind of object, {kind!r}")
    try:
        return KINDS[kind].decode(_unpack(document["data"], arrays))
    except ChoquetError as error:
        raise DamagedFileError(f"{path} does not hold a valid {kind}: {error}") from error
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        raise DamagedFileError(f"{path} does not hold a valid {kind}: {error!r}") from None


def _open(content: bytes) -> tuple[Any, dict[str, npt.NDArray[Any]]]:
    if not content.startswith(b"PK"):
        return json.loads(content.decode("utf-8")), {}
    arrays = {}
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        document = json.loads(archive.read("document.json").decode("utf-8"))
        for name in archive.namelist():
            if name.endswith(".npy"):
                with archive.open(name) as member:
                    arrays[name[:-4]] = np.lib.format.read_array(member, allow_pickle=False)
    return document, arrays


def _count_numbers(node: Any) -> int:
    if isinstance(node, np.ndarray):
        return node.size
    if isinstance(node, dict):
        return sum(_count_numbers(value) for value in node.values())
    if isinstance(node, list | tuple):
        return sum(_count_numbers(value) for value in node)
    return 0


def _pack(node: Any, arrays: dict[str, npt.NDArray[Any]], inline: bool) -> Any:
    """Plain JSON from nested dicts, lists and arrays."""
    if isinstance(node, np.ndarray):
        if str(node.dtype) not in _DTYPES:
            raise TypeError(f"arrays of {node.dtype} are not written to files")
        if inline:
            return {"dtype": str(node.dtype), "shape": list(node.shape), "array": node.tolist()}
        name = f"array{len(arrays)}"
        arrays[name] = node
        return {"stored": name}
    if isinstance(node, dict):
        return {str(key): _pack(value, arrays, inline) for key, value in node.items()}
    if isinstance(node, list | tuple):
        return [_pack(value, arrays, inline) for value in node]
    if isinstance(node, np.generic):
        return node.item()
    return node


def _unpack(node: Any, arrays: dict[str, npt.NDArray[Any]]) -> Any:
    """Inverse of `_pack`."""
    if isinstance(node, dict):
        if set(node) == {"dtype", "shape", "array"}:
            if node["dtype"] not in _DTYPES:
                raise ValueError(f"unknown type of array, {node['dtype']!r}")
            return np.array(node["array"], dtype=node["dtype"]).reshape(node["shape"])
        if set(node) == {"stored"}:
            return arrays[node["stored"]]
        return {key: _unpack(value, arrays) for key, value in node.items()}
    if isinstance(node, list):
        return [_unpack(value, arrays) for value in node]
    return node
