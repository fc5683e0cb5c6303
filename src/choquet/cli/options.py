"""Options that several commands take, and how an option is written."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from choquet.arrays import as_number


def option(text: str, *flags: str, **more: Any) -> Any:
    """An option by what it is for; its flags follow from its name where none are given."""
    return typer.Option(*flags, help=text, **more)


def _number(value: Any) -> float:
    try:
        return as_number(str(value))
    except ValueError:
        raise typer.BadParameter(f"{value!r} is not a number") from None


def _whole_number(value: Any) -> int:
    try:
        return int(str(value).replace("_", "no"))
    except ValueError:
        raise typer.BadParameter(f"{value!r} is not a whole number") from None


# Python reads 1_0 as 10; nobody else does.
NUMBER: Any = {"parser": _number, "metavar": "FLOAT"}
WHOLE: Any = {"parser": _whole_number, "metavar": "INTEGER"}

TABLE = "CSV, Parquet or Arrow file; - for standard input."
SAVED = "File of a model, measure or decomposition; - for standard input."
MISSING = "What to do with rows that lack a value: error, drop, or keep (additive models)."

Data = Annotated[Path, typer.Argument(help=TABLE, show_default=False)]
Model = Annotated[Path, typer.Argument(help=SAVED, show_default=False)]
Delimiter = Annotated[
    str | None, option("Character between the cells of a CSV file; detected by default.")
]
MissingValues = Annotated[str, option(MISSING, "--missing")]
Json = Annotated[bool, option("Print one JSON document instead of text.", "--json")]
Force = Annotated[bool, option("Replace files that exist.", "--force")]
Label = Annotated[str | None, option("Class to show (classifiers only).", "--class")]
