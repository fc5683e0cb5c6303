"""How far long work has come, told to whoever listens.

    with choquet.watch():               # a line on the terminal or below the cell
        model.fit(X, y)

    with choquet.watch(tell):           # tell(title, done, total), to draw what you like
        choquet.decompose(model)

Work that may take long says so by `steps` or `each`. Where nobody listens that costs nothing, and
no library for terminals is loaded here. What is done in other processes is told when it comes back.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sized
from contextlib import contextmanager
from contextvars import ContextVar, Token
from typing import TextIO, TypeVar

__all__ = ["Line", "Tell", "each", "steps", "watch"]

Tell = Callable[[str, float, float | None], object]
"""Called with what is done, how much of it is, and of how much (None where nobody knows)."""

One = TypeVar("One")

_AFTER = 2.0
"""Seconds of silence: shorter work needs no line."""
_BETWEEN = 0.1
"""Seconds between two pictures of one line."""

_here: ContextVar[Tell | None] = ContextVar("choquet-watch", default=None)
_always: list[Tell] = []


class watch:
    """Tell how far long work has come.

    Parameters
    ----------
    tell : callable, optional
        Called as ``tell(title, done, total)`` when a piece of work begins, at its steps, and at its
        end, when ``done == total``; before, ``total`` is None where the number of steps is not
        known. Pieces may lie inside of others. An error that it raises stops the work. By default a
        line is drawn on the terminal, or below the cell of a notebook, from the third second on;
        elsewhere nothing is.

    See Also
    --------
    choquet.watching.Line : What draws the line.

    Examples
    --------
    >>> import numpy as np
    >>> from choquet.learning import statistics_of_chunks
    >>> X = np.random.default_rng(0).random((40, 3))
    >>> told = []
    >>> with watch(lambda *step: told.append(step)):
    ...     sums = statistics_of_chunks([(X[:20], X[:20, 0]), (X[20:], X[20:, 0])])
    >>> told[0], told[-1]
    (('adding up rows', 0, None), ('adding up rows', 40, 40))

    At the top of a notebook, for all that follows:

    >>> always = watch().start()
    >>> always.stop()
    """

    def __init__(self, tell: Tell | None = None) -> None:
        self._tell: Tell = Line() if tell is None else tell
        self._token: Token[Tell | None] | None = None

    def __enter__(self) -> watch:
        self._token = _here.set(self._tell)
        return self

    def __exit__(self, *_: object) -> None:
        if self._token is not None:
            _here.reset(self._token)
            self._token = None
        self._close()

    def start(self) -> watch:
        """Listen from now on, in all threads, until `stop`; a ``with`` goes first."""
        _always.append(self._tell)
        return self

    def stop(self) -> None:
        """Listen no more."""
        if self._tell in _always:
            _always.remove(self._tell)
        self._close()

    def _close(self) -> None:
        if isinstance(self._tell, Line):
            self._tell.close()


def _listener() -> Tell | None:
    own = _here.get()
    return own if own is not None or not _always else _always[-1]


def _silent(_: float = 1) -> None:
    """Nobody listens."""


@contextmanager
def steps(title: str, total: float | None = None) -> Iterator[Callable[..., None]]:
    """A piece of work: yields ``advance(amount=1)``, to be called after each of its steps.

    Examples
    --------
    >>> with watch(print), steps("counting", 2) as advance:
    ...     advance()
    ...     advance()
    counting 0 2
    counting 1 2
    counting 2 2
    """
    listener = _listener()
    if listener is None:
        yield _silent
        return
    done, heard = 0.0, True

    def tell(done: float, total: float | None) -> None:
        nonlocal heard
        heard = False  # an error of the listener stops the work, and it is told no more
        listener(title, _short(done), total)
        heard = True

    def advance(amount: float = 1) -> None:
        nonlocal done
        done += amount
        if total is None or done < total:  # the end is told once, at the end
            tell(done, total)

    tell(done, total)
    try:
        yield advance
    finally:
        if heard:
            whole = done if total is None else total
            tell(whole, _short(whole))


def _short(number: float) -> float:
    return int(number) if float(number).is_integer() else number


def each(title: str, items: Iterable[One], total: int | None = None) -> Iterator[One]:
    """The items one by one, each a step of a piece of work.

    Examples
    --------
    >>> with watch(print):
    ...     sum(each("adding", [3, 4]))
    adding 0 2
    adding 1 2
    adding 2 2
    7
    """
    if total is None and isinstance(items, Sized):
        total = len(items)
    with steps(title, total) as advance:
        for item in items:
            yield item
            advance()


class Line:
    r"""One line that says how far the work is, drawn over itself and wiped away at the end.

    Parameters
    ----------
    stream : file, optional
        Where to; by default standard error if it is a terminal, standard output in a notebook, and
        nowhere else.
    after, between : float
        Seconds before the first picture, and between two.

    Examples
    --------
    >>> import io
    >>> out = io.StringIO()
    >>> line = Line(out, after=0.0, between=0.0)
    >>> line("folds", 1, 4)
    >>> line.close()
    >>> out.getvalue().split("\r")[1].strip()
    'folds █████··············· 1 of 4'
    """

    def __init__(
        self, stream: TextIO | None = None, *, after: float = _AFTER, between: float = _BETWEEN
    ) -> None:
        self._given, self._after, self._between = stream, after, between
        self._open: dict[str, tuple[float, float, float | None]] = {}
        self._since = self._drawn = 0.0
        self._width = 0
        self._lock = threading.Lock()
        self._timer: threading.Timer | None = None

    def __call__(self, title: str, done: float, total: float | None) -> None:
        """Take note of a step, and draw it if it is time."""
        stream = self._given if self._given is not None else _seen()
        if stream is None:
            return
        now = time.monotonic()
        with self._lock:
            if not self._open:
                self._since = now
                self._wait(stream)
            begun = self._open.get(title, (now, 0.0, None))[0]
            self._open[title] = (begun, done, total)
            if done == total:
                del self._open[title]
            if not self._open:
                self._wipe(stream)
            elif now - self._since >= self._after and now - self._drawn >= self._between:
                self._draw(stream, now)

    def close(self) -> None:
        """Wipe the line away."""
        with self._lock:
            self._open.clear()
            stream = self._given if self._given is not None else _seen()
            if stream is not None:
                self._wipe(stream)

    def _wait(self, stream: TextIO) -> None:
        """Draw the line when it is time, even if the first step is not done by then."""

        def late() -> None:
            with self._lock:
                if self._open:
                    self._draw(stream, time.monotonic())

        self._timer = threading.Timer(self._after, late)
        self._timer.daemon = True
        self._timer.start()

    def _draw(self, stream: TextIO, now: float) -> None:
        self._drawn = now
        parts = [
            _words(title, now - begun, done, total)
            for title, (begun, done, total) in self._open.items()
        ]
        text = " · ".join(parts)[:78]
        stream.write("\r" + text.ljust(self._width))
        stream.flush()
        self._width = len(text)

    def _wipe(self, stream: TextIO) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._width:
            stream.write("\r" + " " * self._width + "\r")
            stream.flush()
            self._width = 0


def _words(title: str, seconds: float, done: float, total: float | None) -> str:
    """One piece of work: its title, how far it is, and how long the rest may take."""
    if total is None or not total > 0:
        return f"{title} {done:,.0f}" if done else title
    share = min(done / total, 1.0)
    whole = float(total).is_integer() and float(done).is_integer() and total < 1e6
    count = f"{done:,.0f} of {total:,.0f}" if whole else f"{share:.0%}"
    left = f", {seconds * (1 / share - 1):,.0f} s left" if share > 0 and seconds >= 1 else ""
    return f"{title} {'█' * int(20 * share):·<20} {count}{left}"


def _seen() -> TextIO | None:
    """Where a person would see a line: a terminal, or a notebook; None where nobody looks on."""
    shell = sys.modules.get("IPython")
    if shell is not None:
        running = shell.get_ipython()
        if running is not None and hasattr(running, "kernel"):
            return sys.stdout
    stream = sys.stderr
    try:
        return stream if stream is not None and stream.isatty() else None
    except ValueError:  # closed
        return None
