"""The command line: `choquet demo`, `fit`, `predict`, `explain`, `decompose`, `report`, …

click and rich are imported in this room only, and the rooms that compute only by the commands that
call them, so that ``choquet --help`` answers at once.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib.util import find_spec

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
    if any(find_spec(name) is None for name in ("click", "rich")):
        sys.stderr.write("choquet: The command line needs click: pip install 'choquet[cli]'\n")
        return 1
    # Threads of OpenBLAS wait for work in a busy loop, for 2 to this power of ticks. That is 26 by
    # default, a tenth of a second of a processor, after products that take no time at all.
    os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "16")
    from choquet.cli.app import run
    from choquet.lattice.lazy import put_off

    # SciPy takes every public name of NumPy, its tools for Fortran and for tests among them.
    put_off("numpy.f2py", "numpy.testing")
    return run(sys.argv[1:] if arguments is None else list(arguments))
