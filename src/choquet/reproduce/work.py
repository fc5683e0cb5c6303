"""Repetitions: several at a time, told as they end, and kept so that a stopped run goes on."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from choquet.errors import FileError, OptionError
from choquet.files import append_whole, write_whole
from choquet.lattice.threads import one_blas_thread

Progress: TypeAlias = Callable[[int, int], None]
"""Called with (done, total)."""


class Kept:
    r"""Results that were finished, one line of JSON each; a line cut short counts as none.

    The head is what they depend on beside their key. A file that another head begins is written
    anew, and if it is to be `fresh`, any.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "noise.part"
    >>> Kept(path, {"rng": 0}).add("k = 1", [0.5, float("nan")])
    >>> Kept(path, {"rng": 0}).get("k = 1")
    [0.5, nan]
    >>> Kept(path, {"rng": 1}).get("k = 1") is None
    True
    """

    def __init__(self, path: Path, head: dict[str, Any], *, fresh: bool = False) -> None:
        self.path, self._found = path, dict[str, Any]()
        lines = list(_lines(path))
        if lines and lines[0] == head and not fresh:
            self._found = {line[0]: line[1] for line in lines[1:] if isinstance(line, list)}
        elif path.exists() and not (lines and _kind(lines[0]) == _kind(head)):
            raise FileError(f"{path} exists and is not of this command; choose another folder")
        self._begin = [json.dumps(head), *(json.dumps(item) for item in self._found.items())]

    def get(self, key: str) -> Any:
        """The result of a key, or None."""
        return self._found.get(key)

    def add(self, key: str, result: Any) -> None:
        """Keep a result; the file is made with the first."""
        self._found[key] = result
        line = json.dumps([key, result])
        if self._begin:
            text, self._begin = "\n".join([*self._begin, line]), []
            write_whole(self.path, f"{text}\n".encode(), overwrite=True)
        else:
            append_whole(self.path, f"{line}\n".encode())

    def forget(self) -> None:
        """Remove the file: the experiment is complete."""
        self.path.unlink(missing_ok=True)


def _kind(head: Any) -> Any:
    return head.get("kind") if isinstance(head, dict) else None


def _lines(path: Path) -> Iterator[Any]:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, ValueError):
        return
    for line in text.splitlines():
        try:
            yield json.loads(line)
        except ValueError:
            return


@dataclass(frozen=True)
class Work:
    """How repetitions are done.

    Examples
    --------
    >>> told = []
    >>> Work(progress=lambda *at: told.append(at)).map(pow, {"a": (2, 3), "b": (3, 2)})
    [8, 9]
    >>> told
    [(1, 2), (2, 2)]
    """

    n_jobs: int | None = None
    """How many at a time, through joblib: -1 takes all cores, None what joblib's context says (one,
    where there is none). Results do not depend on it."""
    progress: Progress | None = None
    kept: Kept | None = None
    """Where finished repetitions are kept."""

    def __post_init__(self) -> None:
        if self.n_jobs is not None and (
            isinstance(self.n_jobs, bool) or not isinstance(self.n_jobs, int) or self.n_jobs == 0
        ):
            raise OptionError(f"n_jobs={self.n_jobs!r} must be a whole number, -1 for all cores")

    def map(self, task: Callable[..., Any], arguments: dict[str, tuple[Any, ...]]) -> list[Any]:
        """Results of a task for each of the named arguments, in their order.

        Results are to be plain (numbers, strings, lists, dicts by strings), as they may be kept in
        a file. Keys name them there, so they must say all that a result depends on.
        """
        from joblib import Parallel, delayed, effective_n_jobs

        known = {} if self.kept is None else {k: self.kept.get(k) for k in arguments}
        found = {key: result for key, result in known.items() if result is not None}
        todo = [key for key in arguments if key not in found]
        self._tell(len(found), len(arguments))
        # A few for each worker: results come in, are told and kept between batches.
        workers = int(effective_n_jobs(self.n_jobs))
        size = 1 if workers == 1 else 4 * workers
        for batch in (todo[k : k + size] for k in range(0, len(todo), size)):
            results = Parallel(self.n_jobs)(delayed(_alone)(task, arguments[k]) for k in batch)
            for key, result in zip(batch, results, strict=True):
                found[key] = result
                if self.kept is not None:
                    self.kept.add(key, result)
            self._tell(len(found), len(arguments))
        return [found[key] for key in arguments]

    def _tell(self, done: int, total: int) -> None:
        if self.progress is not None and done:
            self.progress(done, total)


ALONE = Work()
"""One repetition after the other, neither told nor kept."""


@one_blas_thread()
def _alone(task: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    """Run with one thread of linear algebra: the order of sums, and so the result, is the same."""
    return task(*arguments)
