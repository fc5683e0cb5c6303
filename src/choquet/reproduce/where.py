"""Where the data lie that the package does not carry."""

from __future__ import annotations

import os
from pathlib import Path

from choquet.errors import FileError

VARIABLE = "CHOQUET_DATA"
_ARCHIVE = "aid_7nets_fold1.tar.xz"


def data_folder(data: str | os.PathLike[str] | None = None) -> Path | None:
    """The folder given, that of the variable CHOQUET_DATA, or one beside the project; else None.

    Raises
    ------
    FileError
        If a folder was named and is not there.

    Examples
    --------
    >>> data_folder("no/such/folder")
    Traceback (most recent call last):
    ...
    choquet.errors.FileError: no/such/folder is no folder; give the one that holds aid/, or none
    """
    named = data if data is not None else os.environ.get(VARIABLE)
    if named is not None:
        folder = Path(named)
        if not folder.is_dir():
            raise FileError(f"{folder} is no folder; give the one that holds aid/, or none")
        return folder
    beside = Path(__file__).resolve().parents[4] / "shared" / "data"
    return beside if beside.is_dir() else None


def aid_origin(data: Path | None) -> Path | None:
    """The archive or folder of the scores of seven networks under a data folder, if it is there.

    Examples
    --------
    >>> aid_origin(None) is None
    True
    """
    if data is None:
        return None
    for place in (data / "aid" / _ARCHIVE, data / "aid", data):
        if place.is_file() or (place / "AID_dataset").is_dir():
            return place
    return None
