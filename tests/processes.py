"""Child processes as tests need them, whatever the parent does with signals."""

from __future__ import annotations

import sys

_LISTEN = """
import runpy, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.argv = sys.argv[1:]
runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
"""


def interruptible(module: str, *words: str) -> list[str]:
    """Command that runs a module and hears Ctrl-C, even where its parent ignores SIGINT.

    A background job of a shell ignores SIGINT, and children inherit that: Python then leaves the
    signal alone. So the child sets the handler itself.
    """
    return [sys.executable, "-c", _LISTEN, module, *words]
