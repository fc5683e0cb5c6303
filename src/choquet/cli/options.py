"""Options that several commands take, and how a function becomes a command."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, NamedTuple, get_args, get_origin, get_type_hints

import click

from choquet.arrays import as_number


class _Said(NamedTuple):
    """What the signature of a command says of one parameter."""

    text: str
    flags: tuple[str, ...]
    more: dict[str, Any]
    positional: bool = False


def option(text: str, *flags: str, **more: Any) -> Any:
    """An option by what it is for; its flags follow from its name where none are given."""
    return _Said(text, flags, more)


def argument(text: str) -> Any:
    """A word without a flag, by what it is for."""
    return _Said(text, (), {}, positional=True)


class Command(click.Command):
    """A command whose help explains its arguments as it explains its options."""

    def __init__(self, function: Callable[..., Any], short_help: str | None = None) -> None:
        hints = get_type_hints(function, include_extras=True)
        self.texts: dict[str, str] = {}
        parameters = []
        for name, parameter in inspect.signature(function).parameters.items():
            kind, said = get_args(hints[name])
            self.texts[name] = said.text
            parameters.append(_parameter(name, parameter.default, kind, said))
        super().__init__(
            function.__name__.strip("_"), callback=function, params=parameters,
            help=inspect.getdoc(function), short_help=short_help,
        )  # fmt: skip

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The arguments, then the options."""
        words = [one for one in self.params if isinstance(one, click.Argument)]
        if words:
            with formatter.section("Arguments"):
                formatter.write_dl([(one.make_metavar(ctx), self.texts[one.name or ""])
                                    for one in words])  # fmt: skip
        super().format_options(ctx, formatter)


def _parameter(name: str, default: Any, annotation: Any, said: _Said) -> click.Parameter:
    """The parameter that an annotation describes: `Path`, `int | None`, `list[str] | None`."""
    kinds = [kind for kind in get_args(annotation) if kind is not NoneType]
    kind = kinds[0] if get_origin(annotation) is not list and kinds else annotation
    several = get_origin(kind) is list
    kind = get_args(kind)[0] if several else kind
    more = {"type": click.Path(path_type=Path) if kind is Path else kind, **said.more}
    required = default is inspect.Parameter.empty
    if not required:
        more["default"] = default
    if said.positional:
        return click.Argument([name], required=required, nargs=-1 if several else 1, **more)
    dashed = "--" + name.replace("_", "-")
    if kind is bool:
        flags = said.flags or (f"{dashed}/--no-{dashed[2:]}",)
        two_ways = "/" in flags[0] and default is not None
        more = {"is_flag": True, "show_default": two_ways, **more}
    else:
        flags = said.flags or (dashed,)
        more = {"show_default": True, **more, "multiple": several}
    return click.Option([name, *flags], required=required, help=said.text, **more)


def _number(word: Any) -> float:
    try:
        return as_number(str(word))
    except ValueError:
        raise click.BadParameter(f"{word!r} is not a number") from None


def _whole_number(word: Any) -> int:
    try:  # a default is a number already
        return int(str(word).replace("_", "no"))
    except ValueError:
        raise click.BadParameter(f"{word!r} is not a whole number") from None


# Python reads 1_0 as 10; nobody else does.
NUMBER: Any = {"type": _number, "metavar": "FLOAT"}
WHOLE: Any = {"type": _whole_number, "metavar": "INTEGER"}

TABLE = "CSV, Parquet or Arrow file; - for standard input."
SAVED = "File of a model, measure or decomposition; - for standard input."
MISSING = "What to do with rows that lack a value: error, drop, or keep (additive models)."

Data = Annotated[Path, argument(TABLE)]
Model = Annotated[Path, argument(SAVED)]
Delimiter = Annotated[
    str | None, option("Character between the cells of a CSV file; detected by default.")
]
MissingValues = Annotated[str, option(MISSING, "--missing")]
Json = Annotated[bool, option("Print one JSON document instead of text.", "--json")]
Force = Annotated[bool, option("Replace files that exist.", "--force")]
Label = Annotated[str | None, option("Class to show (classifiers only).", "--class")]
