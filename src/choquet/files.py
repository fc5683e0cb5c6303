"""Files written whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from choquet.errors import ChoquetError, FileError

__all__ = ["write_whole", "writing"]


def write_whole(path: str | os.PathLike[str], content: bytes, *, overwrite: bool = False) -> Path:
    """Write a file so that others see the old one or the whole new one, never a part.

    Raises
    ------
    FileError
        If the file exists and may not be overwritten, or cannot be written; what was there stays.

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
def writing(path: str | os.PathLike[str], *, overwrite: bool = False) -> Iterator[BinaryIO]:
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
    target = Path(path)
    if target.is_dir():
        raise FileError(f"{target} is a folder; give the name of a file in it")
    if target.exists() and not overwrite:
        raise FileError(f"{target} exists; choose another name, or pass overwrite=True")
    temporary = None
    try:
        # In the same folder, so that the final rename stays on one file system and is atomic.
        descriptor, temporary = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
        with os.fdopen(descriptor, "wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        # mkstemp makes private files; give the mode that open() would have given.
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(temporary, 0o666 & ~mask)
        os.replace(temporary, target)
    except ChoquetError:
        raise
    except OSError as error:
        raise FileError(f"cannot write {target}: {error.strerror or error}") from error
    finally:
        if temporary is not None and os.path.exists(temporary):
            os.unlink(temporary)
