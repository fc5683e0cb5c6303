"""Files written whole or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from choquet.errors import FileError

__all__ = ["write_whole"]


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
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        # mkstemp makes private files; give the mode that open() would have given.
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(temporary, 0o666 & ~mask)
        os.replace(temporary, target)
    except OSError as error:
        raise FileError(f"cannot write {target}: {error.strerror or error}") from error
    finally:
        if temporary is not None and os.path.exists(temporary):
            os.unlink(temporary)
    return target
