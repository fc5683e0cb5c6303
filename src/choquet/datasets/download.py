"""Downloads: to a cache folder, with progress, a limit of size and time, and a checksum."""

from __future__ import annotations

import hashlib
import os
import sys
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable
from http.client import HTTPException
from pathlib import Path
from typing import IO, TypeAlias

from choquet.errors import DamagedFileError, FileError, OptionError

Progress: TypeAlias = Callable[[int, int | None], None]
"""Told the bytes so far and, where the server says, the bytes in all."""

_CHUNK = 1 << 16
_MAX_BYTES = 1 << 30
"""Larger answers are refused: nothing that is fetched here is near it."""


def cache_folder() -> Path:
    """Where downloads are kept: the variable CHOQUET_CACHE, or the platform's place for caches.

    Examples
    --------
    >>> cache_folder().name
    'choquet'
    """
    chosen = os.environ.get("CHOQUET_CACHE")
    if chosen:
        return Path(chosen)
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "choquet"


def show_progress(done: int, total: int | None) -> None:
    """Write the progress to the terminal, and nothing where there is none.

    Examples
    --------
    >>> show_progress(1_000_000, 2_000_000)
    """
    if not sys.stderr.isatty():
        return
    megabytes = done / 1e6
    if total:
        filled = min(30, 30 * done // total)
        sys.stderr.write(f"\r[{'#' * filled:<30}] {megabytes:7.1f} of {total / 1e6:.1f} MB")
    else:
        sys.stderr.write(f"\r{megabytes:7.1f} MB")
    if total and done >= total:
        sys.stderr.write("\n")
    sys.stderr.flush()


def download(
    url: str,
    stream: IO[bytes],
    *,
    timeout: float = 30.0,
    sha256: str | None = None,
    progress: Progress | None = show_progress,
    advice: str = "try again later",
) -> int:
    """Copy what an http or https address answers into an open binary file; returns its size.

    The caller throws the bytes away if this raises. The timeout counts seconds without an answer,
    and the advice ends the message when the address cannot be reached.

    Raises
    ------
    FileError
        If the address cannot be reached in time, answers with an error or with too much.
    DamagedFileError
        If the answer is cut short or has another checksum.

    Examples
    --------
    >>> import io
    >>> download("ftp://example.org/a", io.BytesIO())
    Traceback (most recent call last):
    ...
    choquet.errors.OptionError: url='ftp://example.org/a' is no http or https address
    """
    if urllib.parse.urlsplit(url).scheme not in ("http", "https"):
        raise OptionError(f"url={url!r} is no http or https address")
    if not timeout > 0:
        raise OptionError(f"timeout={timeout} must be above 0 seconds")
    digest = hashlib.sha256()
    done = 0
    try:
        with urllib.request.urlopen(url, timeout=timeout) as answer:
            length = answer.headers.get("Content-Length")
            total = int(length) if length and length.isdigit() else None
            while chunk := answer.read(_CHUNK):
                done += len(chunk)
                if done > _MAX_BYTES:
                    raise FileError(f"{url} answers with more than {_MAX_BYTES:,} bytes; stopped")
                digest.update(chunk)
                stream.write(chunk)
                if progress is not None:
                    progress(done, total)
    except urllib.error.HTTPError as error:
        error.close()
        raise FileError(f"{url} answers {error.code} ({error.reason}); {advice}") from None
    except FileError:
        raise
    except (OSError, HTTPException) as error:  # no network, no answer in time, no room on disk
        reason = getattr(error, "reason", None) or error
        raise FileError(f"cannot fetch {url} ({reason}); {advice}") from None
    if total is not None and done < total:
        raise DamagedFileError(f"{url} broke off after {done:,} of {total:,} bytes; {advice}")
    if sha256 is not None and digest.hexdigest() != sha256.lower():
        raise DamagedFileError(
            f"{url} has the SHA-256 checksum {digest.hexdigest()}, not {sha256}: it changed or was "
            f"damaged on the way; {advice}"
        )
    return done
