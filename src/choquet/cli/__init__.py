"""The command line: `choquet demo`, `fit`, `predict`, `explain`, `decompose`, `report`, …

typer and rich are imported in this room only, and the rooms that compute only by the commands that
call them, so that ``choquet --help`` answers at once.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code: 0 done, 1 an error of the data, 2 of the usage.

    Parameters
    ----------
    arguments : sequence of str, optional
        Words of the command; those the process was started with by default.

    Examples
    --------
    >>> from choquet.cli import main
    >>> main(["--version"])
    choquet ...
    0
    """
    try:
        import rich
        import typer
    except ImportError:
        sys.stderr.write("choquet: The command line needs typer: pip install 'choquet[cli]'\n")
        return 1
    del rich, typer
    from choquet.cli.app import run

    return run(sys.argv[1:] if arguments is None else list(arguments))
