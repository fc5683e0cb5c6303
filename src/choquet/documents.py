"""Documents: JSON with arrays, of the same bytes every time, with a checksum and limits.

Small documents are one JSON text. Where they hold many numbers, they are a zip archive (NumPy's
npz) whose member ``document.json`` is the same text with the arrays moved out. The checksum is over
what the text says, not how it is laid out, and includes the checksum of every array.

Whatever the bytes, reading allocates no more than they can hold: sizes are compared with what is
there before anything is inflated, and arrays that the text does not name are left alone.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import zipfile
from dataclasses import dataclass, field
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from choquet.errors import ChoquetError, DamagedFileError, TooLargeError
from choquet.files import MAX_BYTES

__all__ = [
    "Document",
    "document_bytes",
    "open_document",
    "refuse_damage",
]

_INLINE = 4096
"""Arrays with up to so many numbers in all are written as JSON lists."""
_MAX_TEXT = 1 << 26
"""Bytes of the JSON text: as Python's objects they are some twenty times as many."""
_MAX_DEPTH = 64
"""Dicts and lists inside each other."""
_MAX_RATIO = 1032
"""Deflate makes no more of a byte."""
_DTYPES = {"float64", "int64", "uint64", "bool", "int32"}
_EPOCH = (1980, 1, 1, 0, 0, 0)
"""The time of every member of an archive, so that the same object is the same bytes."""

_CHANGED = (
    "the content does not match its checksum: it was damaged, or edited, after it was written; get "
    "it again; if you edited it yourself, read it in Python with verify=False, and save it anew"
)

Array = npt.NDArray[Any]


# -- writing ---------------------------------------------------------------------------------------


def document_bytes(head: dict[str, Any], data: Any, *, compress: bool = True) -> bytes:
    """The content of a file with these fields, its checksum, and nested data with arrays.

    Arrays of a file that is soon written again are not worth compressing.

    Examples
    --------
    >>> content = document_bytes({"format": "example"}, {"a": np.array([0.5, 0.25])})
    >>> open_document(content).data()
    {'a': array([0.5 , 0.25])}
    >>> open_document(content.replace(b"0.25", b"0.26")).data()
    Traceback (most recent call last):
    ...
    ValueError: the content does not match its checksum: ...
    """
    arrays: dict[str, Array] = {}
    size = _count_numbers(data)
    packed = _pack(data, arrays, size <= _INLINE)
    document = {**head, "checksum": "", "data": packed}
    document["checksum"] = _checksum(document)
    text = _text(document)
    if len(text) > _MAX_TEXT or 8 * size > MAX_BYTES:
        raise TooLargeError(
            f"this needs {len(text) + 8 * size:,} bytes in a file; at most {_MAX_TEXT:,} of text "
            f"and {MAX_BYTES:,} of numbers are written"
        )
    if size <= _INLINE:
        return text + b"\n"
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr(_member("document.json", compress), text)
        for name, array in arrays.items():
            info = _member(f"{name}.npy", compress)
            with archive.open(info, "w", force_zip64=True) as member:
                np.lib.format.write_array(member, array, version=(1, 0), allow_pickle=False)
    return stream.getvalue()


def _member(name: str, compress: bool) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name, _EPOCH)
    info.compress_type = zipfile.ZIP_DEFLATED if compress else zipfile.ZIP_STORED
    info.create_system, info.external_attr = 3, 0o644 << 16
    return info


def _text(document: dict[str, Any]) -> bytes:
    try:
        return json.dumps(document, indent=1, ensure_ascii=False).encode()
    except UnicodeEncodeError:  # half a surrogate pair in a name: as an escape it can be written
        return json.dumps(document, indent=1).encode()


def _checksum(document: dict[str, Any]) -> str:
    rest = {key: value for key, value in document.items() if key != "checksum"}
    text = json.dumps(rest, sort_keys=True, separators=(",", ":"))
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def _raw(array: Array) -> memoryview:
    """The bytes of an array, where they are."""
    return memoryview(array.reshape(-1).view(np.uint8).data)


def _digest(array: Array) -> str:
    head = f"{array.dtype.name} {array.shape} "
    digest = hashlib.sha256(head.encode())
    digest.update(_raw(array))
    return digest.hexdigest()


def _count_numbers(node: Any) -> int:
    if isinstance(node, np.ndarray):
        return node.size
    if isinstance(node, dict):
        return sum(_count_numbers(value) for value in node.values())
    if isinstance(node, list | tuple):
        return sum(_count_numbers(value) for value in node)
    return 0


def _pack(node: Any, arrays: dict[str, Array], inline: bool) -> Any:
    """Plain JSON from nested dicts, lists and arrays."""
    if isinstance(node, np.ndarray):
        if node.dtype.name not in _DTYPES:
            raise TypeError(f"arrays of {node.dtype} are not written to files")
        # In one order and byte order, so that equal arrays are equal bytes.
        array = np.asarray(node, dtype=node.dtype.newbyteorder("<"), order="C")
        about: dict[str, Any] = {"dtype": node.dtype.name, "shape": list(node.shape)}
        if inline:
            return {**about, "array": array.tolist()}
        name = f"array{len(arrays)}"
        arrays[name] = array
        return {**about, "stored": name, "sha256": _digest(array)}
    if isinstance(node, dict):
        return {str(key): _pack(value, arrays, inline) for key, value in node.items()}
    if isinstance(node, list | tuple):
        return [_pack(value, arrays, inline) for value in node]
    if isinstance(node, np.generic):
        return node.item()
    return node


# -- reading ---------------------------------------------------------------------------------------


def refuse_damage(start: str, error: Exception) -> NoReturn:
    """Raise any error of a reader as a `DamagedFileError`: it works on whatever bytes there are.

    Examples
    --------
    >>> refuse_damage("a.json is damaged", IndexError("list index out of range"))
    Traceback (most recent call last):
    ...
    choquet.errors.DamagedFileError: a.json is damaged: list index out of range
    """
    if isinstance(error, MemoryError):
        raise DamagedFileError(f"{start}: it asks for more memory than there is") from None
    plain = isinstance(error, ChoquetError | ValueError | IndexError) and str(error)
    reason = str(error) if plain else repr(error)
    shown = reason if len(reason) <= 500 else f"{reason[:500]}…"
    raise DamagedFileError(f"{start}: {shown}") from (
        error if isinstance(error, ChoquetError) else None
    )


@dataclass(frozen=True, eq=False)
class Document:
    """A document whose text was read, and whose arrays were not yet.

    Attributes
    ----------
    fields : dict
        All of its text.
    exact : bool
        Whether every number is spelt as we spell it: another last digit can be the same number.
    """

    fields: dict[str, Any]
    exact: bool
    _archive: _Archive | None = field(repr=False)

    def data(self, *, verify: bool = True, required: bool = True) -> Any:
        """The data, with its arrays.

        Parameters
        ----------
        verify : bool, default True
            Whether to compare with the checksums.
        required : bool, default True
            Whether a document without a checksum is refused; earlier versions wrote none.
        """
        given = self.fields.get("checksum")
        checked = verify and (given is not None or required)
        if checked and not (self.exact and given == _checksum(self.fields)):
            raise ValueError(_CHANGED)
        return _unpack(self.fields["data"], self._archive, verify)


def open_document(content: bytes) -> Document:
    """Read the text of a document; raises whatever its bytes lead to: see `refuse_damage`."""
    if not content.startswith(b"PK"):
        return Document(*_parsed(content), None)
    archive = _Archive(content)
    return Document(*_parsed(archive.text("document.json")), archive)


def _parsed(text: bytes) -> tuple[dict[str, Any], bool]:
    exact = True

    def number(spelt: str) -> float:
        nonlocal exact
        value = float(spelt)
        exact = exact and repr(value) == spelt
        return value

    if len(text) > _MAX_TEXT:
        raise ValueError(f"its text has {len(text):,} bytes; at most {_MAX_TEXT:,} are read")
    document = json.loads(text.decode("utf-8"), object_pairs_hook=_once, parse_float=number)
    if not isinstance(document, dict):
        raise ValueError("its text is no JSON object")
    _refuse_depth(document)
    return document, exact


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key is there twice")
    return found


def _refuse_depth(document: Any) -> None:
    level = [document]
    for _ in range(_MAX_DEPTH):
        children = (node.values() if isinstance(node, dict) else node for node in level)
        level = [one for child in children for one in child if isinstance(one, dict | list)]
        if not level:
            return
    raise ValueError(f"it is nested more than {_MAX_DEPTH} deep")


def _unpack(node: Any, archive: _Archive | None, verify: bool) -> Any:
    """Inverse of `_pack`."""
    if isinstance(node, list):
        return [_unpack(value, archive, verify) for value in node]
    if not isinstance(node, dict):
        return node
    if "stored" in node and set(node) <= {"stored", "dtype", "shape", "sha256"}:
        if archive is None:
            raise ValueError(f"there is no array {node['stored']!r}")
        array = archive.array(node)
        if verify and node.get("sha256", "") not in ("", _digest(array)):
            raise ValueError(_CHANGED)
        return array
    if set(node) == {"dtype", "shape", "array"}:
        return _listed(node)
    return {key: _unpack(value, archive, verify) for key, value in node.items()}


_NATURAL = {"float64": "fiu", "int64": "iu", "uint64": "iu", "int32": "iu", "bool": "b"}
"""Kinds of numbers that become an array of each type: no text, no fraction as a whole number."""


def _listed(node: dict[str, Any]) -> Array:
    """An array from lists of numbers."""
    if node["dtype"] not in _DTYPES:
        raise ValueError(f"unknown type of array, {node['dtype']!r}")
    shape = _shape(node["shape"])
    found = np.array(node["array"])
    if found.size and (found.shape != shape or found.dtype.kind not in _NATURAL[node["dtype"]]):
        raise ValueError(f"{found.dtype} {found.shape} is no array of {node['dtype']} {shape}")
    array = found.astype(node["dtype"]).reshape(shape)
    if found.dtype.kind in "iu" and node["dtype"] != "float64" and (array != found).any():
        raise ValueError(f"a number is too large for {node['dtype']}")
    return array


def _shape(sizes: Any) -> tuple[int, ...]:
    if not isinstance(sizes, list | tuple) or not all(
        isinstance(size, int) and not isinstance(size, bool) and size >= 0 for size in sizes
    ):
        raise ValueError(f"{sizes!r} is no shape of an array")
    return tuple(sizes)


class _Archive:
    """Members of a zip archive, each compared with its size before it is inflated."""

    def __init__(self, content: bytes) -> None:
        self._file = zipfile.ZipFile(io.BytesIO(content))
        members = self._file.infolist()
        self._members = {info.filename: info for info in members}
        if len(self._members) != len(members):
            raise ValueError("a member of the archive is there twice")
        self._left = MAX_BYTES

    def _find(self, name: Any, limit: int) -> zipfile.ZipInfo:
        info = self._members.get(name) if isinstance(name, str) else None
        if info is None:
            raise ValueError(f"there is no {name!r} in the archive")
        known = info.compress_type in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
        if not known or info.flag_bits & 1:
            raise ValueError(f"{name} is packed in a way that is not ours")
        if info.file_size > min(limit, _MAX_RATIO * info.compress_size + 64):
            raise ValueError(f"{name} claims {info.file_size:,} bytes, which it cannot hold")
        return info

    def text(self, name: str) -> bytes:
        """A small member as it is."""
        info = self._find(name, _MAX_TEXT)
        with self._file.open(info) as member:
            return member.read(info.file_size)

    def array(self, about: dict[str, Any]) -> Array:
        """An array, if it is what the document says it is, and the archive holds all of it."""
        info = self._find(f"{about['stored']}.npy", self._left)
        with self._file.open(info) as member:
            version = np.lib.format.read_magic(member)
            if version != (1, 0):
                raise ValueError(f"{info.filename} is in version {version} of npy")
            shape, fortran, dtype = np.lib.format.read_array_header_1_0(member)
            shape = _shape(shape)
            if dtype.name not in _DTYPES:
                raise ValueError(f"unknown type of array, {dtype}")
            said = about.get("dtype", dtype.name), _shape(about.get("shape", shape))
            size = math.prod(shape) * dtype.itemsize
            if (dtype.name, shape) != said or size != info.file_size - member.tell():
                raise ValueError(f"{info.filename} is not the array that the document names")
            self._left -= size
            array = np.empty(size // dtype.itemsize, dtype)
            room = _raw(array)
            done = 0
            while part := member.read(1 << 20):
                room[done : done + len(part)] = part
                done += len(part)
            if done != size:
                raise ValueError(f"{info.filename} is cut short")
        array = array.reshape(shape, order="F" if fortran else "C")
        return np.ascontiguousarray(array.astype(dtype.newbyteorder("="), copy=False))
