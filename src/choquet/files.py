"""Files written whole or not at all, and read only if they are files.

Content goes to a temporary file in the target's folder, which takes the target's place when it is
complete. The writer holds a lock on it, which the system takes back when the writer ends, however
it ends: so the next writer of the same target knows which temporary files nobody writes any more.
"""

from __future__ import annotations

import errno
import hashlib
import os
import secrets
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from choquet.errors import ChoquetError, FileError, TooLargeError

try:
    import fcntl
except ImportError:  # Windows, which refuses to remove files that are open: no lock is needed
    fcntl = None  # type: ignore[assignment]

__all__ = ["append_whole", "check_target", "open_file", "read_whole", "write_whole", "writing"]

PathName = str | os.PathLike[str]

MAX_BYTES = 1 << 31
"""Largest file that `read_whole` takes into memory unless told: 2 GiB."""

_OLD = 86_400.0
"""Seconds after which a temporary file is removed where locks do not work."""

_KINDS = {
    stat.S_IFDIR: "a folder; give the name of a file in it",
    stat.S_IFIFO: "a pipe (FIFO), not a file; give the name of a file",
    stat.S_IFSOCK: "a socket, not a file; give the name of a file",
    stat.S_IFCHR: "a device, not a file; give the name of a file",
    stat.S_IFBLK: "a device, not a file; give the name of a file",
}
"""What a path may be that is no file, and what to do then."""

_OFFICE = {".pdf", ".doc", ".docx", ".odt", ".xls", ".xlsx", ".ods", ".ppt", ".pptx"}
"""Endings of formats that nothing here writes: a file of another kind would not open."""

_NO_LINKS = {errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK, errno.EXDEV}
"""How file systems say that they have no hard links."""


def write_whole(path: PathName, content: bytes, *, overwrite: bool = False) -> Path:
    """Write a file so that others see the old one or the whole new one, never a part.

    Symbolic links are followed: the file they lead to is written, and they stay. An existing file
    keeps its permissions, and its owner where that is allowed.

    Raises
    ------
    FileError
        If the file exists and may not be overwritten, is a folder, pipe, socket or device, or
        cannot be written; what was there stays. Of several writers of a new file only one wins.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> write_whole(folder / "a.txt", b"all of it").read_bytes()
    b'all of it'
    """
    with writing(path, overwrite=overwrite) as stream:
        stream.write(content)
    return Path(path)


@contextmanager
def writing(path: PathName, *, overwrite: bool = False) -> Iterator[BinaryIO]:
    """A stream whose content becomes the file when the block ends well, and vanishes otherwise.

    Raises
    ------
    FileError
        As `write_whole`.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> with writing(folder / "a.txt") as stream:
    ...     count = stream.write(b"part by part")
    >>> (folder / "a.txt").read_bytes()
    b'part by part'
    """
    before = check_target(path, overwrite=overwrite)
    temporary: str | None = None
    try:
        target = os.path.realpath(path)
        _remove_left(target)
        descriptor, temporary = _temporary(target, 0o666 if before is None else before.st_mode)
        with os.fdopen(descriptor, "wb") as stream:
            yield stream
            stream.flush()
            if before is not None and hasattr(os, "fchown"):
                with suppress(OSError):
                    os.fchown(stream.fileno(), before.st_uid, before.st_gid)
                os.fchmod(stream.fileno(), before.st_mode & 0o777)
            os.fsync(stream.fileno())
            if os.name == "posix":  # while the lock holds: no sweep can come between
                _put(temporary, target, overwrite)
        if os.name != "posix":
            _put(temporary, target, overwrite)
    except ChoquetError:
        raise
    except FileExistsError:
        raise _exists(path) from None
    except OSError as error:
        raise FileError(f"cannot write {path}: {error.strerror or error}") from error
    finally:
        if temporary is not None:
            with suppress(OSError):
                os.unlink(temporary)


def check_target(path: PathName, *, overwrite: bool = False) -> os.stat_result | None:
    """Refuse before the work what writing would refuse after it; the file that is there, if any.

    Examples
    --------
    >>> import tempfile
    >>> check_target(tempfile.mkdtemp())
    Traceback (most recent call last):
    ...
    choquet.errors.FileError: ... is a folder; give the name of a file in it
    """
    ending = os.path.splitext(os.fspath(path))[1].lower()
    if ending in _OFFICE:
        raise FileError(f"{path}: {ending} files are not written; choose another ending")
    try:
        found = os.stat(path)
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise FileError(f"cannot write {path}: {_reason(error)}") from None
    _refuse_special(path, found)
    if not overwrite:
        raise _exists(path)
    return found


def append_whole(path: PathName, line: bytes) -> None:
    r"""Add a line to a file that `write_whole` made: a log whose last line may be cut short.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = write_whole(pathlib.Path(tempfile.mkdtemp()) / "log", b"one\n")
    >>> append_whole(path, b"two\n")
    >>> path.read_bytes()
    b'one\ntwo\n'
    """
    with open_file(path, os.O_WRONLY | os.O_APPEND) as stream:
        stream.write(line)


def read_whole(path: PathName, *, limit: int = MAX_BYTES) -> bytes:
    """Content of a file; nothing else is read, and nothing beyond `limit` bytes.

    Raises
    ------
    FileError
        If there is no such file, it cannot be read, or it is a folder, pipe, socket or device.
    TooLargeError
        If it holds more than `limit` bytes.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = write_whole(pathlib.Path(tempfile.mkdtemp()) / "a.txt", b"all of it")
    >>> read_whole(path)
    b'all of it'
    """
    with open_file(path) as stream:
        size = os.fstat(stream.fileno()).st_size
        try:
            # One byte more than allowed: a file may grow while it is read.
            content = stream.read(limit + 1) if size <= limit else b""
        except OSError as error:
            raise FileError(f"cannot read {path}: {_reason(error)}") from error
    if size > limit or len(content) > limit:
        raise TooLargeError(
            f"{path} has {max(size, limit + 1):,} bytes; at most {limit:,} are read"
        )
    return content


@contextmanager
def open_file(path: PathName, flags: int = os.O_RDONLY) -> Iterator[BinaryIO]:
    """A file, opened; pipes, sockets, devices and folders are refused, and never waited for.

    Raises
    ------
    FileError
        If it cannot be opened, or is none.
    """
    doing = "read" if flags == os.O_RDONLY else "write"
    try:
        _refuse_special(path, os.stat(path))
        # Between the two looks it may have become a pipe, which must not block.
        block = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
        descriptor = os.open(path, flags | block)
    except ChoquetError:
        raise
    except (OSError, ValueError) as error:
        raise FileError(f"cannot {doing} {path}: {_reason(error)}") from None
    with os.fdopen(descriptor, "rb" if flags == os.O_RDONLY else "ab") as stream:
        _refuse_special(path, os.fstat(descriptor))
        yield stream


def _reason(error: Exception) -> str:
    return str(getattr(error, "strerror", None) or error)


def _exists(path: PathName) -> FileError:
    return FileError(f"{path} exists; choose another name, or pass overwrite=True")


def _refuse_special(path: PathName, found: os.stat_result) -> None:
    if not stat.S_ISREG(found.st_mode):
        kind = _KINDS.get(stat.S_IFMT(found.st_mode), "not a file; give the name of a file")
        raise FileError(f"{path} is {kind}")


# -- temporary files -------------------------------------------------------------------------------


def _prefix(target: str) -> str:
    """How the names of a target's temporary files begin: of one length, whatever its name is."""
    name = os.fsencode(os.path.basename(target))
    return f".choquet-{hashlib.sha256(name).hexdigest()[:16]}-"


def _temporary(target: str, mode: int) -> tuple[int, str]:
    """A new file in the same folder, so that taking the target's place is one step, and its lock.

    The system takes the umask off the mode, as for every new file.
    """
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    start = os.path.join(os.path.dirname(target), _prefix(target))
    while True:
        name = f"{start}{secrets.token_hex(8)}.tmp"
        descriptor = os.open(name, flags, mode & 0o777)
        with suppress(OSError):  # no locks here: then age decides
            _lock(descriptor, wait=True)
        # A sweep may have come between the two steps and taken the file for a dead writer's.
        if os.fstat(descriptor).st_nlink:
            return descriptor, name
        os.close(descriptor)


def _lock(descriptor: int, *, wait: bool) -> None:
    if fcntl is not None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))


def _remove_left(target: str) -> None:
    """Remove what killed writers of the same target left behind."""
    folder, prefix = os.path.dirname(target), _prefix(target)
    with suppress(OSError), os.scandir(folder) as entries:
        left = [e.path for e in entries if e.name.startswith(prefix) and e.name.endswith(".tmp")]
        for name in left:
            with suppress(OSError):
                _remove_if_left(name)


def _remove_if_left(name: str) -> None:
    found = os.lstat(name)
    foreign = hasattr(os, "getuid") and os.getuid() not in (0, found.st_uid)
    if foreign or not stat.S_ISREG(found.st_mode):
        return
    descriptor = os.open(name, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
    try:
        _lock(descriptor, wait=False)
        if os.name == "posix":
            os.unlink(name)  # before the lock is given back
    except BlockingIOError:
        pass  # somebody writes it
    except OSError:
        if time.time() - found.st_mtime > _OLD:
            os.unlink(name)
    finally:
        os.close(descriptor)
    if os.name != "posix":
        os.unlink(name)


def _put(temporary: str, target: str, overwrite: bool) -> None:
    """Let the temporary file take the target's place, in one step.

    A new name is given by a hard link, which fails if the name is taken: of several writers one
    wins. File systems without links let the winner reserve the name by an empty file first.
    """
    if overwrite:
        os.replace(temporary, target)
        return
    if os.name != "posix":
        os.rename(temporary, target)  # fails if the target exists
        return
    try:
        os.link(temporary, target)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL))
        try:
            os.replace(temporary, target)
        except BaseException:
            os.unlink(target)
            raise
