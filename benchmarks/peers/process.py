"""The other end of `worker`: a contender's process, asked with a limit on the time it may take."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import subprocess
import sys
import threading
from pathlib import Path
from types import TracebackType
from typing import Any

from choquet.errors import ChoquetError

__all__ = ["ContenderError", "Process"]

_WORKER = Path(__file__).with_name("worker.py")


class ContenderError(ChoquetError):
    """A contender that failed or took too long; the message is the reason for the table.

    Attributes
    ----------
    status : str
        "error" or "limit".
    """

    def __init__(self, status: str, reason: str) -> None:
        super().__init__(reason)
        self.status = status


class Process:
    """A contender's process; closed, it is gone.

    Examples
    --------
    >>> with Process(sys.executable) as contender:
    ...     contender.ask(60, do="import", module="json")["version"]
    ''
    """

    def __init__(self, python: str, *, memory: int = 0) -> None:
        environment = dict(os.environ, PYTHONWARNINGS="ignore", MPLBACKEND="Agg")
        environment.pop("PYTHONPATH", None)
        if python == sys.executable:
            # What this process can import, its children can; a peer's environment is its own.
            environment["PYTHONPATH"] = os.pathsep.join(sys.path)
        try:
            self._process = subprocess.Popen(
                [python, str(_WORKER), str(memory)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                encoding="utf-8",
                env=environment,
            )
        except OSError as error:
            raise ContenderError("error", f"cannot start: {error.strerror or error}") from None
        self._lines: queue.Queue[str] = queue.Queue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._lines.put(line)
        self._lines.put("")

    def ask(self, limit: float, **order: Any) -> dict[str, Any]:
        """The answer to one order.

        Raises
        ------
        ContenderError
            If it fails, dies, or is not done within `limit` seconds: then its process is ended.
        """
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(order) + "\n")
            self._process.stdin.flush()
            line = self._lines.get(timeout=limit)
        except queue.Empty:
            self.close()
            raise ContenderError("limit", f"takes more than {limit:g} s") from None
        except OSError:
            line = ""
        if not line:
            self.close()
            code = self._process.returncode
            raise ContenderError("error", f"the process ended with code {code}")
        reply: dict[str, Any] = json.loads(line)
        if "error" in reply:
            self.close()
            raise ContenderError("error", reply["error"])
        return reply

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.wait()
        self._reader.join()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()

    def __enter__(self) -> Process:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
