"""`choquet decide`: from a table and statements to a verdict, in the terminal and as a report."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import click

from choquet.cli.options import Json, argument, option
from choquet.cli.output import printable, say, say_json, say_table
from choquet.cli.subjects import check_output
from choquet.errors import (
    ChoquetError,
    DataError,
    FileError,
    InconsistentError,
    OptionError,
    StatementError,
)

CONFLICT = 3
"""Exit code when statements exclude each other; the report is written all the same."""

_RANKS = ("best rank", "worst rank")

_COLUMNS = "--criteria price,space"
"""How the columns that count are named on the command line."""


def decide(
    table: Annotated[Path, argument("CSV file: rows are alternatives, columns criteria.")],
    statements: Annotated[
        list[Path] | None,
        argument("Files of statements and scales, one a line."),
    ] = None,
    output: Annotated[Path | None, option("File for the report (HTML).", "--output", "-o")] = None,
    names: Annotated[str | None, option("Column with the names; detected by default.")] = None,
    criteria: Annotated[
        str | None, option("Columns to use, a,b,c; all with numbers by default.")
    ] = None,
    lower_is_better: Annotated[
        str | None, option("Columns for which lower is better: price,weight.")
    ] = None,
    models: Annotated[str, option("Kinds of models to draw from.")] = "weights,pairs,all",
    samples: Annotated[int, option("Models drawn of each kind.")] = 2000,
    seed: Annotated[int, option("The same seed gives the same shares.")] = 0,
    ask: Annotated[bool, option("Ask, and add the answers to the last file.", "--ask")] = False,
    sure: Annotated[str, option("Share of models at which it is settled.")] = "95%",
    force: Annotated[bool, option("Replace a report that exists.", "--force")] = False,
    json: Json = False,
) -> None:
    """Decide from a table and what people say: who is first, how firmly, what to ask next.

    Exit codes: 0 done, 1 wrong input, 3 statements that exclude each other.
    """
    try:
        code = run_decide(
            table, statements or [], output=output, names=names, criteria=criteria,
            lower_is_better=lower_is_better, models=models, samples=samples, seed=seed,
            ask=ask, sure=sure, force=force, as_json=json,
        )  # fmt: skip
        if output is not None and not json:
            say(f"The report is in {output}.")
    except ChoquetError as error:
        if "\n" not in str(error):
            raise
        # Lines to correct or to paste are worth a line each.
        sys.stderr.write(f"choquet: {printable(error)}\n")
        code = 1
    if code:
        raise click.exceptions.Exit(code)


def run_decide(
    table: Path,
    statements: Sequence[Path],
    *,
    output: Path | None,
    names: str | None,
    criteria: str | None,
    lower_is_better: str | None,
    models: str,
    samples: int,
    seed: int,
    ask: bool,
    sure: str,
    force: bool,
    as_json: bool,
) -> int:
    """Decide, say what was found, and write the report; returns the exit code."""
    from choquet.decide import Decision
    from choquet.decide.decision import MAX_COMPARED

    level = _share(sure)
    if output is not None:
        check_output(output, force=force, suffixes=(".html", ".htm"))
    columns = None if criteria is None else [name.strip() for name in criteria.split(",")]
    try:
        problem = Decision(table, names, criteria=columns)
    except DataError as error:
        text = str(error).replace("criteria=['price', 'space']", _COLUMNS)
        raise DataError(text.replace("names='car'", "--names car")) from None
    for path in statements:
        try:
            problem.read(path)
        except StatementError as error:
            if len(statements) == 1:
                raise
            raise StatementError(*(f"{path}, {one}" for one in error.problems)) from None
    if lower_is_better is not None:
        _directions(problem, lower_is_better)
    noted = problem.notes
    if problem.open_columns and not (noted.said or noted.scales or noted.common):
        _nothing_said(problem, output, force, as_json)
        return 0
    if len(problem.alternatives) > MAX_COMPARED:
        problem = problem.shortlist()
    families = [name.strip() for name in models.split(",") if name.strip()]
    options: dict[str, Any] = {"samples": samples, "rng": seed}
    try:
        answer = problem.solve(families, **options)
    except InconsistentError as error:
        if not error.conflicts:
            raise
        return _conflict(problem, problem.check(), output, force, as_json)
    if ask:
        answer = _ask(answer, statements, families, options, level)
    _told(answer, output, level, force, as_json)
    return 0


def _directions(problem: Any, lower_is_better: str) -> None:
    """Which way each column is better, where no scale says so."""
    known = problem.notes.names
    lower = {known.criterion(name) for name in lower_is_better.split(",") if name.strip()}
    for name in problem.criteria:
        if name in lower or name not in problem.notes.scales:
            problem.notes.set_better(name, -1 if name in lower else 1)


def _nothing_said(problem: Any, output: Path | None, force: bool, as_json: bool) -> None:
    """What can be said of a table without scales: who is behind everywhere, and what to fill in."""
    from choquet.decide.summary import summarise_start

    data = summarise_start(problem)
    if _written(data, output, force, as_json):
        return
    for line in [*data["sentences"], data["asked"], data["fill_in"]]:
        say(line)
    for line in data["lines"]:
        say(f"    {line}")
    say("Put them into a file and run: choquet decide TABLE FILE -o report.html")


def _share(text: str) -> float:
    plain = text.strip()
    try:
        value = float(plain[:-1]) / 100 if plain.endswith("%") else float(plain)
    except ValueError:
        value = -1.0
    if not 0.5 <= value <= 1:
        raise OptionError(f"--sure {text} must be a share between 50% and 100%")
    return value


def _conflict(problem: Any, found: Any, output: Path | None, force: bool, as_json: bool) -> int:
    from choquet.decide.summary import summarise_conflict

    data = summarise_conflict(problem, found)
    if not _written(data, output, force, as_json):
        for sentence in found.sentences:
            say(sentence)
    return CONFLICT


def _told(answer: Any, output: Path | None, sure: float, force: bool, as_json: bool) -> None:
    from choquet.decide.summary import summarise
    from choquet.decide.words import brief

    data = summarise(answer, sure=sure)
    if _written(data, output, force, as_json):
        return
    for line in filter(None, [data["left_out"], *data["verdict"].values()]):
        say(line)
    held, ranks = [family.name for family in answer.held], answer.shown_ranks
    say_table(
        ["name", *held, "lowest", *([] if ranks is None else _RANKS), "behind by"],
        [
            [
                answer.alternatives[k],
                *(brief(data["shares"][name][k]) for name in held),
                brief(data["lowest"][k]),
                *([] if ranks is None else ranks[k].tolist()),
                f"{answer.regrets[k]:.2g}",
            ]
            for k in answer.order
        ],
        title="How often each comes first, by kind of model",
    )


def _written(data: dict[str, Any], output: Path | None, force: bool, as_json: bool) -> bool:
    """Write the page, and begin to say what is on it; true if JSON has said all."""
    if output is not None:
        from choquet.report.deciding import write_page

        write_page(data, output, overwrite=force)
    if as_json:
        say_json({key: value for key, value in data.items() if key != "explorer"})
        return True
    say(data["headline"], style="bold")
    return False


def _ask(
    answer: Any,
    statements: Sequence[Path],
    families: list[str],
    options: dict[str, Any],
    sure: float,
) -> Any:
    """Ask in the terminal; answers are appended to the last file of statements."""
    from choquet.decide.words import percent

    if not statements:
        raise OptionError("--ask needs a file of statements, to which answers are added")
    target = statements[-1]
    while answer.certainty < sure and answer.question is not None:
        asked = answer.question
        say(f"{answer.leader} is first in at least {percent(answer.certainty)} of the models.")
        reply = _reply(asked)
        if reply == "stop":
            break
        choice = {"1": asked.first, "2": asked.second}.get(reply)
        _append(target, asked.line(choice))
        problem = answer.answered(choice)
        found = problem.check()
        if not found.ok:
            for sentence in found.sentences:
                say(sentence)
            break
        answer = problem.solve(families, **options)
    return answer


def _reply(asked: Any) -> str:
    while True:
        say(f"{asked.text}  1 {asked.first}   2 {asked.second}   3 cannot say   Enter to stop")
        line = sys.stdin.readline().strip()
        if not line:
            return "stop"
        if line in ("1", "2", "3"):
            return line
        if line in (asked.first, asked.second):
            return "1" if line == asked.first else "2"
        say("Type 1, 2 or 3, or press Enter to stop.")


def _append(path: Path, line: str) -> None:
    from choquet.files import write_whole

    text = path.read_text(encoding="utf-8-sig")
    head = text.split("\n", 1)[0].casefold()
    if "statement" in head and any(mark in head for mark in ",;\t"):
        raise FileError(f"answers cannot be added to the table {path}; use a file of plain lines")
    day = datetime.now(UTC).date().isoformat()
    end = "" if not text or text.endswith("\n") else "\n"
    write_whole(path, f"{text}{end}{line}    # {day}\n".encode(), overwrite=True)
