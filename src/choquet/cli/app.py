"""The commands and their options; what they do is imported when one is called."""

from __future__ import annotations

import os
import sys
import traceback
from pathlib import Path
from typing import Annotated, Any

import typer

from choquet._version import __version__
from choquet.cli.output import say, warn
from choquet.errors import ChoquetError

__all__ = ["app", "run"]

app = typer.Typer(
    name="choquet",
    help="Take fuzzy integrals apart into contextual linear order statistics.",
    epilog="Begin with: choquet demo",
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

# typer re-exports the leaves of click's tree of errors only, and newer ones carry their own click.
_CommandError: Any = typer.BadParameter.__mro__[2]
_UsageError: Any = typer.BadParameter.__mro__[1]

Json = Annotated[bool, typer.Option("--json", help="Print one JSON document instead of text.")]
Force = Annotated[bool, typer.Option("--force", help="Replace files that exist.")]


def run(arguments: list[str]) -> int:
    """Run one command; errors become one line, and an exit code."""
    debug = "--debug" in arguments
    for stream in (sys.stdout, sys.stderr):
        # A terminal that cannot show a name must not stop the work.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    try:
        code = app(
            args=[word for word in arguments if word != "--debug"] or ["--help"],
            prog_name="choquet",
            standalone_mode=False,
        )
        sys.stdout.flush()
        return code if isinstance(code, int) else 0
    except BrokenPipeError:
        # The reader has seen enough; the interpreter must not complain when it flushes at the end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (KeyboardInterrupt, typer.Abort):
        warn("stopped; nothing was written")
        return 130
    except typer.Exit as exit_:
        return exit_.exit_code
    except Exception as error:
        if debug:
            traceback.print_exc()
        return _tell(error)


def _tell(error: Exception) -> int:
    """Say on one line what went wrong; 2 if the command was called wrongly, else 1."""
    if isinstance(error, _CommandError):
        text = error.format_message()
        context = getattr(error, "ctx", None)
        path = context.command_path if context is not None else "choquet"
        warn(f"{text.rstrip('.')}; see {path} --help")
        return 2 if isinstance(error, _UsageError) else 1
    if isinstance(error, ChoquetError):
        warn(str(error).replace("pass overwrite=True", "pass --force"))
        return 1
    if isinstance(error, OSError | MemoryError):
        name = getattr(error, "filename", None)
        reason = getattr(error, "strerror", None) or str(error) or "not enough memory"
        warn(f"{name}: {reason}" if name else reason)
        return 1
    warn(f"unexpected {type(error).__name__}: {error}; run again with --debug and report it")
    return 1


def _version(wanted: bool) -> None:
    if wanted:
        say(f"choquet {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Say the version.")
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show where an error comes from.")] = False,
) -> None:
    pass


@app.command()
def demo(
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Folder for pictures and report.")
    ] = Path("choquet-demo"),
    show: Annotated[
        bool, typer.Option("--open/--no-open", help="Open the report where there is a display.")
    ] = True,
    force: Force = False,
    json: Json = False,
) -> None:
    """Fuse classifiers, take the fusion apart, and say what was found."""
    from choquet.cli.demo import run_demo

    run_demo(output, show=show, force=force, as_json=json)
