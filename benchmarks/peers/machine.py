"""What a table of times must say of the machine, and nothing that tells whose it is."""

from __future__ import annotations

import os
import platform

__all__ = ["describe_machine", "load_of_machine", "memory_of_machine"]


def memory_of_machine() -> int:
    """Bytes of memory; 0 where the system does not tell.

    Examples
    --------
    >>> memory_of_machine() >= 0
    True
    """
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return 0


def load_of_machine() -> float | None:
    """How many programs wanted to run in the last minute; None where the system does not tell.

    Examples
    --------
    >>> load = load_of_machine()
    >>> load is None or load >= 0
    True
    """
    try:
        return round(os.getloadavg()[0], 1)
    except (AttributeError, OSError):
        return None


def _processor() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as stream:
            for line in stream:
                if line.startswith("model name"):
                    return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def describe_machine() -> dict[str, str]:
    """Processor, cores, memory, system and Python.

    Examples
    --------
    >>> sorted(describe_machine())
    ['Python', 'cores', 'memory', 'processor', 'system']
    """
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    memory = memory_of_machine()
    return {
        "processor": _processor(),
        "cores": str(cores or "unknown"),
        "memory": f"{memory / 2**30:.0f} GiB" if memory else "unknown",
        "system": f"{platform.system()} {platform.machine()}",
        "Python": platform.python_version(),
    }
