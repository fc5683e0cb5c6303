"""One contender in a process of its own: it imports, warms up, runs and measures itself.

This file is run by path in whatever interpreter the contender lives in, where neither this package
nor anything beside NumPy need be installed; so it imports nothing of ours. Orders come as lines of
JSON on standard input, answers go as lines of JSON to what was standard output.
"""

from __future__ import annotations

import gc
import importlib
import importlib.metadata
import importlib.util
import json
import math
import os
import signal
import sys
import time
from typing import Any, TextIO

__all__ = ["Memory", "Worker", "main"]

_SHORTEST = 0.02
"""Seconds that one timed round takes at least: quicker calls are repeated within it."""


class Memory:
    """Resident memory of this process, now and at most.

    Linux keeps a mark that can be set back, and that belongs to this program alone; ``ru_maxrss``
    of a fresh process starts at what its parent held, so it is used only where there is no other.

    Examples
    --------
    >>> memory = Memory()
    >>> memory.reset()
    >>> memory.peak() > 0
    True
    """

    def __init__(self) -> None:
        self.base = 0

    def reset(self) -> None:
        """Begin to count from what is held now."""
        gc.collect()
        try:
            with open("/proc/self/clear_refs", "w", encoding="ascii") as stream:
                stream.write("5")
        except OSError:
            pass
        self.base = self.peak()

    def grown(self) -> int:
        """Bytes by which the peak is above that of the last `reset`."""
        return max(self.peak() - self.base, 0)

    def peak(self) -> int:
        """The most that was held, in bytes; since the last `reset` where the system can tell."""
        try:
            with open("/proc/self/status", encoding="ascii") as stream:
                for line in stream:
                    if line.startswith("VmHWM:"):
                        return int(line.split()[1]) * 1024
        except OSError:
            pass
        try:
            import resource
        except ImportError:
            return 0
        unit = 1 if sys.platform == "darwin" else 1024
        return int(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss) * unit


class Worker:
    """What the orders do.

    Examples
    --------
    >>> Worker().obey({"do": "import", "module": "json"})["seconds"] >= 0
    True
    """

    def __init__(self) -> None:
        self.memory = Memory()
        self.number = 0

    def obey(self, order: dict[str, Any]) -> dict[str, Any]:
        """Carry out one order; what goes wrong is an answer too."""
        try:
            found: dict[str, Any] = getattr(self, f"_{order.pop('do')}")(**order)
            return found
        except BaseException as error:
            # A peer may raise anything, even SystemExit; the reason belongs into the table.
            return {"error": f"{type(error).__name__}: {error}".splitlines()[0][:200]}

    def _import(self, module: str, package: str = "") -> dict[str, Any]:
        self.memory.reset()
        start = time.perf_counter()
        importlib.import_module(module)
        seconds = time.perf_counter() - start
        return {
            "seconds": seconds,
            "memory": self.memory.grown(),
            "version": _version(package or module),
        }

    def _load(self, file: str, function: str, small: Any, full: Any) -> dict[str, Any]:
        """Warm up on a small task, so that libraries are loaded and kernels compiled; prepare."""
        module = _module(file)
        getattr(module, "beforehand", lambda: None)()
        contender = getattr(module, function)
        start = time.perf_counter()
        run, answer = contender(_inputs(small))
        found = run()
        if answer is not None:
            answer(found)
        warm_up = time.perf_counter() - start
        del run, found, answer
        self.run, self.answer = contender(_inputs(full))
        self.number = 0
        return {"warm_up": warm_up}

    def _run(self) -> dict[str, Any]:
        """One round. The first also measures memory and sets how often later ones repeat."""
        first = self.number == 0
        if first:
            self.memory.reset()
        start = time.perf_counter()
        for _ in range(self.number or 1):
            found = self.run()
        seconds = (time.perf_counter() - start) / (self.number or 1)
        if not first:
            return {"seconds": seconds}
        self.number = max(1, math.ceil(_SHORTEST / max(seconds, 1e-7)))
        self.found = found
        details = found if self.answer is None else None
        return {"seconds": seconds, "memory": self.memory.grown(), "details": details}

    def _answer(self, file: str) -> dict[str, Any]:
        """Write what the first round found, in the form in which answers are compared."""
        import numpy as np

        np.save(file, np.asarray(self.answer(self.found), dtype=np.float64), allow_pickle=False)
        self.found = None
        return {}


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return ""


def _module(file: str) -> Any:
    # Contenders find what stands beside them by its bare name, after all that is installed.
    if (folder := os.path.dirname(file)) not in sys.path:
        sys.path.append(folder)
    spec = importlib.util.spec_from_file_location("contender", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _inputs(given: Any) -> Any:
    """Arrays of a file, or the sizes of a task that makes its own."""
    if not isinstance(given, str):
        return given
    import numpy as np

    with np.load(given, allow_pickle=False) as arrays:
        return {name: arrays[name] for name in arrays.files}


def _limit(memory: int) -> None:
    """Refuse more memory than that, so that a contender fails rather than the machine."""
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    except (ImportError, ValueError, OSError):
        pass


def main(orders: TextIO, memory: int) -> None:
    """Obey until the orders end."""
    # Peers print what they like: our answers keep the pipe to themselves.
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    # Ctrl-C reaches the whole group; the parent decides what becomes of us.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if memory:
        _limit(memory)
    worker = Worker()
    for line in orders:
        replies.write(json.dumps(worker.obey(json.loads(line))) + "\n")
        replies.flush()


if __name__ == "__main__":
    # Our folder must not stand before the peers' packages.
    sys.path[:] = sys.path[1:]
    main(sys.stdin, int(sys.argv[1]))
