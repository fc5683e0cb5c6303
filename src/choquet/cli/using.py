"""`choquet predict`, `explain` and `report`: a model asked."""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np
import numpy.typing as npt

from choquet.arrays import BoolArray, FloatArray, IntArray
from choquet.certainty.levels import check_level
from choquet.cli.columns import Missing, with_target
from choquet.cli.fusing import fusion_answers, read_scores
from choquet.cli.output import guarded, many, plain, say, say_json, warn
from choquet.cli.subjects import (
    Subject,
    check_output,
    load_subject,
    refuse_two_inputs,
    write_content,
)
from choquet.cli.tables import Table, naming_keep, open_table
from choquet.decomposition import Decomposition
from choquet.errors import DataError, OptionError
from choquet.explanation import (
    ModelExplanation,
    View,
    brief_of,
    explain_model,
    explain_sample,
)
from choquet.explanation.phrases import list_words
from choquet.files import writing
from choquet.watching import steps

if TYPE_CHECKING:
    from choquet.explanation import AdditiveView

_SHORT = 5
"""Sentences up to which an explanation needs no summary."""

_REPORT_ROWS = 100_000
"""Rows that a report looks at, from the first."""


def run_predict(
    model: Path,
    data: Path,
    output: Path,
    *,
    delimiter: str | None,
    missing: Missing,
    force: bool,
    as_json: bool,
    level: float | None,
    insist: bool,
    noise: bool = False,
) -> None:
    """Write one line of output for each row, chunk by chunk."""
    if level is not None:
        check_level(level)
    refuse_two_inputs(model, data)
    subject = load_subject(model)
    check_output(output, force=force)
    if noise and (level is None or not subject.has_noise):
        why = "--no-intervals asks for none" if level is None else "this model has none"
        raise OptionError(f"--noise gives limits of a new target, and {why}; leave it out")
    if missing == "error" and subject.learned_gaps:
        missing = "keep"
    if subject.fused:
        answers = fusion_answers(subject.obj, _scores(data, subject, delimiter))
        with _sink(output, force=force) as sink:
            text = f"{_json_rows(answers, True)}\n]\n" if as_json else _csv_rows(answers, True)
            sink.write(text.encode("utf-8", "backslashreplace"))
        return
    with (
        open_table(data, delimiter=delimiter) as table,
        _sink(output, force=force) as sink,
        steps("predicting", table.n_bytes) as advance,
    ):
        table.places(subject.sources)
        first, n_dropped = True, 0
        outside = _Strange(subject) if subject.additive else _Outside(subject)
        asked = level, noise, insist
        for answer, kept in _answers(table, subject, missing, advance, asked, outside.look):
            n_dropped += int((~kept).sum())
            text = _json_rows(answer, first) if as_json else _csv_rows(answer, first)
            sink.write(text.encode("utf-8", "backslashreplace"))
            first = False
        if as_json:
            sink.write(b"\n]\n")
    for note in table.notes:
        warn(f"note: {note}")
    if n_dropped:
        warn(f"note: rows that lack a value, and have no answer: {n_dropped}")
    outside.tell()
    alone = subject.obj.outcome if isinstance(subject.obj, Decomposition) else None
    if alone is not None:  # of one class, so that predictions are not the classes that one expects
        warn(f"note: {alone.text()}")


def _answers(
    table: Table,
    subject: Subject,
    missing: Missing,
    advance: Callable[[float], None],
    asked: tuple[float | None, bool, bool],
    look: Callable[[FloatArray], None],
) -> Iterator[tuple[dict[str, Any], BoolArray]]:
    """Columns of answers, chunk by chunk, and which rows of the table have one.

    If rows may lack a value, all rows are numbered, and the cells of such rows are None.
    """
    level, noise, insist = asked
    names: list[str] = []
    waiting: list[BoolArray] = []
    done = 0
    chunks = table.chunks(subject.sources, words=subject.words, missing=missing)
    for chunk in naming_keep(chunks) if subject.additive else chunks:
        if level is not None and not insist and not done:
            share = chunk.n_bytes / table.n_bytes if table.n_bytes else 0.0
            rows = len(chunk.kept) / share if share else len(chunk.kept)
            if rows > subject.interval_rows:
                warn("note: no intervals for so many rows; --intervals computes them")
                level = None
        none = dict.fromkeys(names, chunk.X[:0])
        answer = subject.answer(subject.rows(chunk.X), level, noise) if len(chunk.X) else none
        look(chunk.X)
        waiting.append(chunk.kept)
        advance(chunk.n_bytes)
        if not answer:
            continue  # which columns there will be is not known yet
        names, kept, waiting = list(answer), np.concatenate(waiting), []
        if missing == "drop":
            numbers = np.arange(done + 1, done + len(kept) + 1)
            answer = {"row": numbers, **{name: _spread(answer[name], kept) for name in names}}
        done += len(kept)
        yield answer, kept
    if waiting:
        raise DataError(f"{table.name} has no row without a missing value")
    if not done:
        raise DataError(f"{table.name} has no rows; there is nothing to predict")


class _Outside:
    """Rows with values outside of the range that inputs are rescaled from."""

    def __init__(self, subject: Subject) -> None:
        self.units, self.sources, self.n = subject.inside.units, subject.sources, 0
        self.which = np.zeros(len(self.sources), dtype=bool)

    def look(self, X: FloatArray) -> None:
        """Count those among some rows."""
        if self.units is not None and X.dtype != object:
            found = self.units.outside(X)
            self.n += int(found.any(axis=1).sum())
            self.which |= found.any(axis=0)

    def tell(self) -> None:
        """A note, if there are any."""
        if self.units is not None and self.n:
            many = "1 row holds a value" if self.n == 1 else f"{self.n:,} rows hold values"
            ranges = self.units.ranges(self.sources, self.which)
            warn(
                f"note: {many} outside of the range that inputs are rescaled from: {ranges}; "
                "intervals do not allow for that"
            )


class _Strange:
    """Rows of an additive model with words that were never seen, or numbers outside of those."""

    def __init__(self, subject: Subject) -> None:
        self.view, self.n = cast("AdditiveView", subject.seen), 0
        self.words: dict[int, Any] = {}
        self.numbers: set[int] = set()

    def look(self, X: FloatArray) -> None:
        """Count those among some rows."""
        if not len(X):
            return
        unseen, outside = self.view.strange(X)
        self.n += int((unseen | outside).any(axis=1).sum())
        self.numbers |= set(np.flatnonzero(outside.any(axis=0)).tolist())
        for i in np.flatnonzero(unseen.any(axis=0)).tolist():
            self.words.setdefault(i, X[unseen[:, i], i][0])

    def tell(self) -> None:
        """A note, if there are any."""
        if not self.n:
            return
        many = "1 row holds" if self.n == 1 else f"{self.n:,} rows hold"
        names = self.view.sources
        found = [f"{names[i]} (such as {word!r})" for i, word in self.words.items()]
        found += [f"{names[i]} (learned: {self.view.range_of(i)})" for i in sorted(self.numbers)]
        warn(f"note: {many} values unlike those learned from: {list_words(found)}; trust is lower")


def _spread(values: npt.NDArray[Any], kept: BoolArray) -> npt.NDArray[Any]:
    """Values in the rows that have one, None in the others."""
    cells = np.full(len(kept), None, dtype=object)
    cells[kept] = values.ravel()
    return cells


@contextmanager
def _sink(output: Path, *, force: bool) -> Iterator[IO[bytes]]:
    if str(output) == "-":
        sys.stdout.flush()
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
    else:
        with writing(output, overwrite=force) as stream:
            yield stream


def _csv_rows(answer: dict[str, Any], first: bool) -> str:
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    if first:
        writer.writerow(map(guarded, answer))
    # tolist() gives Python's numbers, which are written with all their digits.
    columns = ([guarded(cell) for cell in column.tolist()] for column in answer.values())
    writer.writerows(zip(*columns, strict=True))
    return stream.getvalue()


def _json_rows(answer: dict[str, Any], first: bool) -> str:
    rows = zip(*(column.tolist() for column in answer.values()), strict=True)
    lines = [json.dumps(plain(dict(zip(answer, row, strict=True)))) for row in rows]
    return ("[\n" if first else ",\n") + ",\n".join(lines)


class _Rows(NamedTuple):
    """The first rows of a table that lack nothing."""

    X: FloatArray
    y: npt.NDArray[Any] | None
    numbers: IntArray
    """Which rows of the table they are, from 1."""
    n_read: int


def read_rows(
    path: Path, subject: Subject, *, delimiter: str | None, limit: int, target: bool
) -> _Rows:
    """The first rows of a table, with the target, numbers or classes, where wanted and there."""
    with open_table(path, delimiter=delimiter) as table:
        table.places(subject.sources)
        wanted = [str(subject.target)] if target and subject.target in table.names else []
        labelled = bool(wanted) and subject.seen.outcome is not None
        columns = [*subject.sources, *([] if labelled else wanted)]
        kind = object if subject.words else np.float64
        parts, kept = [np.empty((0, len(columns)), dtype=kind)], [np.empty(0, dtype=bool)]
        labels: list[npt.NDArray[Any]] = []
        lacking: Missing = "keep" if subject.additive else "drop"
        text = wanted[0] if labelled else None
        for chunk in table.chunks(columns, words=subject.words, text=text, missing=lacking):
            if lacking == "keep" and columns[len(subject.sources) :]:
                chunk = with_target(chunk)
            parts.append(chunk.X)
            kept.append(chunk.kept)
            labels += [] if chunk.labels is None else [chunk.labels]
            if sum(map(len, kept)) >= limit:
                break
    whole = np.concatenate(kept)[:limit]
    if not len(whole):
        raise DataError(f"{path} has no rows")
    if not whole.any():
        raise DataError(f"{path} has no row without a missing value")
    numbers = np.flatnonzero(whole) + 1
    rows, n = np.concatenate(parts)[: len(numbers)], len(subject.sources)
    classes = np.concatenate(labels)[: len(numbers)] if labelled else None
    truth = rows[:, n].astype(np.float64) if columns[n:] else classes
    return _Rows(subject.rows(rows[:, :n]), truth, numbers, len(whole))


def run_explain(
    model: Path,
    data: Path | None,
    rows: Sequence[int],
    *,
    label: str | None,
    delimiter: str | None,
    as_json: bool,
) -> None:
    """Explain a model, or its answers to some rows of a table, in words."""
    refuse_two_inputs(model, data)
    subject = load_subject(model, label)
    if data is None:
        story = explain_model(subject.explained)
        if as_json:
            say_json(story.to_dict())
        else:
            _say_in_short(subject, story)
            say(story.text())
        return
    if min(rows) < 1:
        raise OptionError(f"--row {min(rows)}: rows are counted from 1")
    if subject.fused:
        _explain_fusion(subject, _scores(data, subject, delimiter), rows, as_json=as_json)
        return
    table = read_rows(data, subject, delimiter=delimiter, limit=max(rows), target=False)
    if table.n_read < max(rows):
        raise DataError(f"{data} has {many(table.n_read, 'row')}; there is no row {max(rows)}")
    lacking = sorted(set(rows) - set(table.numbers.tolist()))
    if lacking:
        raise DataError(f"{data}, row {lacking[0]}: a value is missing, so there is no answer")
    found = []
    for row in rows:
        x = table.X[table.numbers == row]
        why: Any = explain_sample(subject.explained, x)
        # A number is the model's own; which class it answers is to be asked.
        classes = why.outcome is not None and not isinstance(subject.obj, Decomposition)
        told = subject.answer(x) if classes else {"prediction": [why.output]}
        answer = told["prediction"][0]
        if getattr(why, "share", 0.0) is None and f"p({why.label})" in told:
            why = replace(why, share=float(told[f"p({why.label})"][0]))
        if as_json:
            found.append({"row": row, "prediction": answer, **why.to_dict()})
            continue
        say(f"Row {row}", style="bold")
        say(why.text())
        if classes:
            say(f"The model answers {subject.target or 'class'} = {answer}.")
    if as_json:
        say_json(found)


def _say_in_short(subject: Subject, story: ModelExplanation) -> None:
    """At most five sentences, before an explanation that is longer."""
    if not isinstance(subject.seen, View) or len(story.sentences) <= _SHORT:
        return
    brief = brief_of(subject.seen)
    say("In short", style="bold")
    say("\n".join([*brief.sentences, brief.cost()]))
    say("In full", style="bold")


def _scores(data: Path, subject: Subject, delimiter: str | None) -> Any:
    """The table of scores that fused classifiers are asked about."""
    with steps("reading scores", None):
        return read_scores(data, subject.obj, delimiter=delimiter)


def _explain_fusion(subject: Subject, given: Any, rows: Sequence[int], *, as_json: bool) -> None:
    if max(rows) > len(given.scores):
        raise DataError(f"there are {len(given.scores)} samples; there is no sample {max(rows)}")
    whys = subject.obj.explain(given.taken([row - 1 for row in rows]))
    if as_json:
        say_json([{"row": row, **why.to_dict()} for row, why in zip(rows, whys, strict=True)])
        return
    for row, why in zip(rows, whys, strict=True):
        say(f"Sample {given.ids[row - 1]}", style="bold")
        say(why.text())


def run_report(
    model: Path,
    data: Path | None,
    output: Path,
    *,
    title: str | None,
    label: str | None,
    delimiter: str | None,
    force: bool,
    as_json: bool,
) -> None:
    """Write a report: HTML, or Markdown or JSON by the name of the file."""
    from choquet.report import Report

    refuse_two_inputs(model, data)
    check_output(output, force=force, suffixes=(".html", ".htm", ".md", ".json"))
    subject = load_subject(model, label)
    X: Any = None
    y: Any = None
    if data is not None and subject.fused and label is None:
        X = _scores(data, subject, delimiter)
    elif data is not None:
        table = read_rows(data, subject, delimiter=delimiter, limit=_REPORT_ROWS, target=True)
        X, y = table.X, table.y
        if lacking := table.n_read - len(X):
            warn(f"note: rows that lack a value, and are left out: {lacking}")
    report = Report(subject.asked, X, y, title=title)
    makers = {".md": report.markdown, ".json": report.json}
    content = makers.get(output.suffix.lower(), report.html)()
    size = write_content(content.encode("utf-8", "backslashreplace"), output, force=force)
    if str(output) == "-":
        return
    if as_json:
        say_json({"output": str(output), "bytes": size})
    else:
        say(f"Written to {output} ({size / 1024:.0f} KiB).")
