"""`choquet fit`: from a table to a model in a file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from choquet.cli.auto import AUTO, AUTO_CLASSES, BY_CLASS, chosen
from choquet.cli.learners import LEARNERS, FitOptions, Job
from choquet.cli.marks import WrittenNumberError, advice, kind_of
from choquet.cli.output import many, say, say_json, say_reliability, say_table, warn
from choquet.cli.subjects import check_output, write_object
from choquet.cli.tables import Table, numeric, open_table, words_of
from choquet.errors import DataError, OptionError, TooLargeError
from choquet.scales import METHODS, unwrapped

MAX_SOURCES = 128

_RARE = 0.2
"""Share of all classes but the most frequent one below which the rarest is told of."""

_LOOSE = 1.25
"""Times the errors on rows learned from above which those on rows held out are told of: least
squares then uses a number for every fifth row, (1 + p/M) / (1 - p/M) = 1.25²."""
_LISTED = 20
"""Columns that a hint names."""


def run_fit(path: Path, output: Path, options: FitOptions, *, force: bool, as_json: bool) -> None:
    """Read, scale, learn, write."""
    ordered = bool(options.learning.get("ordinal"))
    if options.learner == "additive" and ordered:
        options = replace(options, learner=BY_CLASS["additive"])
    _check(options)
    check_output(output, force=force)
    with open_table(path, delimiter=options.delimiter) as table:
        target, sources = _columns(table, options)
        lower = _named(table, options.lower)
        if strange := [name for name in lower if name not in sources]:
            raise OptionError(f"--lower-is-better {strange[0]}: that is no source; name sources")
        options = replace(options, lower=lower)
        if options.learner in (AUTO, "additive") and (ordered or not numeric(table, target)):
            if not ordered:
                _refuse_amounts(table, target)
            options = replace(options, learner=BY_CLASS[options.learner])
        options, sources = _with_categories(table, sources, options)
        tried = None
        try:
            if options.learner in (AUTO, AUTO_CLASSES):
                job, tried = chosen(table, sources, target, options)
                options = job.options
            else:
                job = Job(table, sources, target, options)
                job.fit()
        except DataError as error:
            raise _with_hint(error, table, target, sources, named=options.target) from None
        model = job.model
        for note in (*table.notes, *job.notes()):
            warn(f"note: {note}")
        if not job.classify and set(job.kept()[1].tolist()) == {0.0, 1.0}:
            own = f"{options.learner}-classifier"
            other = own if own in LEARNERS else "classifier"
            warn(
                f"note: {target!r} is learned as a number, and holds only 0 and 1; for classes and "
                f"their probabilities use --learner {other}"
            )
    n_bytes = write_object(model, output, force=force)
    if str(output) == "-":
        return
    inner = unwrapped(model).model
    summary = {
        "output": str(output), "bytes": n_bytes, "learner": options.learner,
        "target": target, "sources": list(sources), "scaling": job.scaling,
        "categories": dict(options.kinds),
        "directions": dict(job.directions), "note": job.note,
        "rows": job.n_rows, "rows_dropped": job.n_dropped, **job.quality(),
        "tried": None if tried is None else [dict(vars(one)) for one in tried],
    }  # fmt: skip
    if job.classify:
        summary["classes"] = [str(label) for label in inner.classes_]
        summary["ordinal"] = bool(options.learning.get("ordinal"))
    if job.learner.raw:
        summary["terms"], summary["numbers"] = len(inner.terms_), inner.n_numbers_
    elif hasattr(inner, "decomposition_"):
        parts = getattr(inner, "decompositions_", [inner.decomposition_])
        summary["operators"] = sum(part.n_operators for part in parts)
        summary["contexts"] = sum(len(part.leaves) for part in parts)
    else:
        summary["subsets_supported"] = inner.support_.n_supported
    if as_json:
        say_json(summary)
    else:
        _tell(summary)


def _with_hint(
    error: DataError, table: Table, target: str, sources: Sequence[str], *, named: str | None
) -> DataError:
    """What to do about a column of texts: learn it as classes, or leave it out."""
    text = str(error)
    if ("not a number" not in text and "not numbers" not in text) or "--categories" in text:
        return error
    if isinstance(error, WrittenNumberError):
        return error
    if f"column {target!r}" in text:
        last = "" if named else " The last column is the target: name another with --target."
        return DataError(f"{text}; to predict classes, use --learner classifier.{last}")
    numbers = [name for name in sources if numeric(table, name)]
    listed = ",".join(numbers) if 0 < len(numbers) <= _LISTED else "a,b,c"
    return DataError(
        f"{text}; choose the columns to combine with --sources {listed}, or learn with --learner "
        "additive, which takes categories"
    )


def _refuse_amounts(table: Table, target: str) -> None:
    """Refuse to learn as classes what are numbers for people."""
    chunk = next(table.chunks([], text=target, missing="drop"), None)
    cells = [] if chunk is None or chunk.labels is None else chunk.labels.tolist()
    amounts = [cell for cell in cells if kind_of(cell) is not None]
    if 2 * len(amounts) > len(cells):
        raise DataError(
            f"{table.name}, column {target!r}: the target holds numbers that are written as text, "
            f"such as {amounts[0]!r}; {advice(amounts[0])}, or learn them as classes with "
            "--learner additive-classifier"
        )


def _with_categories(
    table: Table, sources: tuple[str, ...], options: FitOptions
) -> tuple[FitOptions, tuple[str, ...]]:
    """Options that know which sources hold categories, and the sources without mere names."""
    said: dict[str, Any] = dict.fromkeys(_named(table, options.categories), "nominal")
    said |= options.levels
    if strange := [name for name in said if name not in sources]:
        raise OptionError(f"{strange[0]!r} is given as a category, and is no source; name sources")
    learner = LEARNERS.get(options.learner)
    if learner is not None and not learner.raw:
        if said:
            raise OptionError(
                f"--learner {options.learner} takes numbers; categories need --learner additive"
            )
        return options, sources
    found = words_of(table, sources, said)
    labels = [name for name, cells in found.items() if name not in said and _only_names(cells)]
    if labels and len(labels) < len(sources):
        named, one = ", ".join(map(repr, labels)), len(labels) == 1
        does, left = ("differs", "is left out") if one else ("differ", "are left out")
        warn(
            f"note: {named} {does} in most rows, as names do, and {left}; "
            f"--categories {','.join(labels)} keeps {'it' if one else 'them'}"
        )
        sources = tuple(name for name in sources if name not in labels)
    words = frozenset(name for name in found if name in sources)
    spelled = frozenset(name for name, levels in said.items() if levels != "nominal")
    kinds = dict.fromkeys((name for name in sources if name in words), "nominal") | said
    return replace(options, kinds=kinds, words=words | spelled), sources


def _only_names(cells: Sequence[str]) -> bool:
    """Whether more than half of the texts of a column are met but once."""
    counts = Counter(cells)
    return 2 * sum(count == 1 for count in counts.values()) > len(cells)


def levels_of(words: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Levels by column from options like size=small<medium<large.

    Examples
    --------
    >>> levels_of(["size = small < medium < large"])
    {'size': ('small', 'medium', 'large')}
    """
    found = {}
    for word in words:
        name, _, rest = word.partition("=")
        levels = tuple(level.strip() for level in rest.split("<"))
        if not name.strip() or len(levels) < 2 or not all(levels) or len(set(levels)) < len(levels):
            raise OptionError(
                f"--levels {word!r} is not understood; write a column and its levels from low to "
                "high: 'size=small<medium<large'"
            )
        found[name.strip()] = levels
    return found


def _tell(summary: dict[str, Any]) -> None:
    n = len(summary["sources"])
    dropped = f" ({summary['rows_dropped']:,} dropped)" if summary["rows_dropped"] else ""
    say(
        f"Learned {summary['target']!r} from {many(n, 'source')} and "
        f"{many(summary['rows'], 'row')}{dropped}, scaling {summary['scaling']}."
    )
    if summary["categories"]:
        kinds = [
            name if levels == "nominal" else f"{name} ({' < '.join(levels)})"
            for name, levels in summary["categories"].items()
        ]
        say(f"Categories: {', '.join(kinds)}.")
    if summary["tried"]:
        _tell_tried(summary)
    if summary["note"]:
        say(f"{summary['note']} If that is wrong, pass --directions higher, or --lower-is-better.")
    _tell_errors(summary)
    classes = summary.get("classes", ())
    if summary.get("ordinal"):
        say(f"Levels, lowest first: {', '.join(classes)}.")
    if "terms" in summary:
        say(f"The model has {many(summary['terms'], 'term')} and {summary['numbers']} numbers.")
        say(f"Written to {summary['output']}; see: choquet explain {summary['output']}")
        return
    if "contexts" in summary:
        total = f" in all, for {len(classes)} classes" if len(classes) > 2 else ""
        say(
            f"Found {many(summary['operators'], 'operator')} in "
            f"{many(summary['contexts'], 'context')}{total}."
        )
    else:
        subsets = f"{2**n - 2:,}" if n <= 60 else f"2**{n} - 2"
        seen = f"{summary['subsets_supported']:,}"
        say(f"The rows show {seen} of {subsets} possible sets of larger inputs.")
    say(f"Written to {summary['output']}; see: choquet decompose {summary['output']}")


def _tell_tried(summary: dict[str, Any]) -> None:
    """What was tried, the simplest first."""
    classes = "accuracy" in summary
    heads = ["learner", "wrong" if classes else "root mean square error", "numbers", "seconds", ""]
    rows = [
        [
            one["name"],
            f"{100 * one['error']:.1f} %" if classes else f"{one['error']:.4g}",
            f"{one['numbers']:,}",
            f"{one['seconds']:.1f}",
            "kept" if one["kept"] else ("within one standard error" if one["near"] else ""),
        ]
        for one in summary["tried"]
    ]
    say_table(heads, rows, title="Tried on rows held out; the simplest that is near the best")


def _tell_errors(summary: dict[str, Any]) -> None:
    """On rows held out, beside what anyone could answer; then on the rows learned from."""
    tried = summary["held_out"]
    if "accuracy" in summary:
        if tried is not None:
            right = [f"{100 * (1 - tried[key]):.1f} %" for key in ("model", "linear", "mean")]
            say(
                f"On rows held out ({tried['folds']} folds): {right[0]} right; a logistic "
                f"regression {right[1]}, always the most frequent class {right[2]}."
            )
            loss = [tried["scores"][key]["log_loss"] for key in ("model", "linear", "mean")]
            say(
                f"Log-loss there, less is better: {loss[0]:.3f}; a logistic regression "
                f"{loss[1]:.3f}, the shares of the classes {loss[2]:.3f}."
            )
            if tried["mean"] < _RARE:
                share = 100 * tried["scores"]["model"]["rarest_right"]
                say(f"Of the rows of the rarest class, {tried['rarest']}, {share:.1f} % are found.")
            if tried["reliability"]:
                say_reliability(tried["reliability"])
            _tell_better(summary, tried)
        say(f"On the rows learned from: {100 * summary['accuracy']:.1f} % right.")
        return
    if summary["r2"] is None:
        say(f"{summary['target']!r} is the same in all rows: there is no R².")
    elif tried is not None:
        say(
            f"On rows held out ({tried['folds']} folds): root mean square error "
            f"{tried['model']:.4g} (R² {tried['r2']:.3f}); a linear model {tried['linear']:.4g} "
            f"(R² {tried['linear_r2']:.3f}), always the mean {tried['mean']:.4g}."
        )
        if tried["mean"] > 0 and tried["r2"] < -1e-3:
            warn("note: on rows held out the model is worse than always answering the mean")
        _tell_better(summary, tried)
        times = tried["model"] / max(summary["rmse"], 1e-12 * tried["mean"], 1e-300)
        loose = times > _LOOSE and tried["model"] - summary["rmse"] > _clearly(tried)
        if summary["learner"] == "choquet" and tried["mean"] > 0 and loose:
            warn(
                f"note: errors on rows held out are {times:.2g} times those on the rows learned "
                "from, so these rows are few for a whole measure; --learner cv reckons with "
                "simpler kinds of measure, --learner auto tries other learners"
            )
    if summary["r2"] is not None:
        # One of the learners says so itself.
        if tried is None and summary["r2"] < -1e-3 and summary["learner"] != "cv":
            warn(
                "note: on the rows learned from the model is worse than always answering the mean: "
                "rows are few, or these sources do not tell the target"
            )
        say(
            f"On the rows learned from: root mean square error {summary['rmse']:.4g}, "
            f"R² {summary['r2']:.4f}."
        )


def _tell_better(summary: dict[str, Any], tried: dict[str, Any]) -> None:
    """Where a linear model is clearly better, what to try: one integral is not for every table."""
    away = tried["model"] - tried["linear"]
    if tried["mean"] > 0 and away > _clearly(tried) and not summary["tried"]:
        better = "logistic regression" if "accuracy" in summary else "a linear model"
        warn(f"note: {better} is more accurate here; --learner auto tries other learners")


def _clearly(tried: dict[str, Any]) -> float:
    """Errors that differ by more differ clearly: a standard error, and 1 % of that of the mean."""
    return float(max(tried["scores"]["model"]["error_half"] / 2, 0.01 * tried["mean"]))


def _check(options: FitOptions) -> None:
    learner = LEARNERS.get(options.learner)
    if learner is None and options.learner != AUTO:
        names = ", ".join((AUTO, *LEARNERS))
        raise OptionError(f"--learner {options.learner} is unknown; choose {names}")
    tables = {
        "scaling": (options.scaling, ("auto", "none", *(m for m in METHODS if m != "none"))),
        "directions": (options.directions, ("auto", "higher", "lower")),
        "missing": (options.missing, ("error", "drop", "keep")),
    }
    for name, (value, known) in tables.items():
        if value not in known:
            raise OptionError(f"--{name} {value} is unknown; choose {', '.join(known)}")
    if options.folds < 0 or options.folds == 1:
        raise OptionError(f"--folds {options.folds}: give 2 or more, or 0 to hold no rows out")
    if options.scaling == "none" and (options.lower or options.directions == "lower"):
        raise OptionError("--scaling none takes columns as they are; turn them with minmax")
    if learner is None:
        if options.folds == 0 or options.missing == "keep":
            raise OptionError("--learner auto needs --folds of 2 or more, and complete rows")
        return
    if learner.raw and options.scaling not in ("auto", "none"):
        raise OptionError(f"--learner {options.learner} takes columns as they are; no --scaling")
    if options.missing == "keep" and not learner.raw:
        raise OptionError("--missing keep needs --learner additive; others drop such rows")
    unused = [name for name in options.learning if name not in learner.options]
    if unused:
        words = ", ".join(f"--{name.replace('_', '-')}" for name in unused)
        raise OptionError(f"the learner {options.learner} does not take {words}; leave it out")


def _named(table: Table, words: Any) -> list[str]:
    """Names of columns from options like a,b,c."""
    found: list[str] = []
    for word in words:
        # A name may hold a comma itself.
        found += [word] if word in table.names else [name.strip() for name in word.split(",")]
    return found


def _columns(table: Table, options: FitOptions) -> tuple[str, tuple[str, ...]]:
    target = table.names[-1] if options.target is None else options.target
    table.places([target])
    sources = _named(table, options.sources)
    if not sources:
        sources = [name for name in table.names if name != target]
    if target in sources:
        raise OptionError(f"{target!r} is the target and cannot be a source too; leave it out")
    if len(set(sources)) != len(sources):
        raise OptionError("a source is named twice in --sources; name each once")
    if not sources:
        raise DataError(f"{table.name} has no column besides the target {target!r}")
    table.places(sources)
    if len(sources) > MAX_SOURCES:
        raise TooLargeError(
            f"{table.name} has {len(sources):,} sources; at most {MAX_SOURCES} can be learned "
            "from: choose with --sources a,b,c"
        )
    return target, tuple(sources)
