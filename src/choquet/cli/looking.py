"""`choquet decompose`, `compare` and `inspect`: looking at what is in a file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from choquet import explanation
from choquet.cli.columns import open_binary
from choquet.cli.output import many, say, say_json, say_table, warn
from choquet.cli.subjects import (
    Subject,
    check_output,
    load_any,
    load_subject,
    refuse_two_inputs,
    write_object,
)
from choquet.cli.tables import Table, name_of, numeric, table_of
from choquet.decomposition import Decomposition, compare
from choquet.decomposition.outcome import outcome_of
from choquet.errors import DataError, OptionError
from choquet.explanation import explain_model
from choquet.files import MAX_BYTES
from choquet.indices import shapley
from choquet.measures import AbstractMeasure
from choquet.scales import unwrapped
from choquet.storage import from_bytes

if TYPE_CHECKING:
    from choquet.explanation import AdditiveView
from choquet.watching import steps

_ROWS = 5000
"""Rows that contexts are found on: seconds, up to ten sources."""

_LISTED = 60
"""Contexts of an additive model that are printed."""


def run_decompose(
    path: Path,
    data: Path | None,
    output: Path | None,
    *,
    max_error: float | None,
    label: str | None,
    delimiter: str | None,
    force: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Take a model or measure apart, say what was found, and keep it if asked to."""
    refuse_two_inputs(path, data)
    subject = load_subject(path, label)
    if output is not None:
        check_output(output, force=force)
    if subject.additive:
        if data is not None:
            raise OptionError(
                f"{path} is a sum of terms, whose contexts are known; leave out {data}"
            )
        _decompose_sum(subject, output, as_json=as_json)
        return
    if data is not None:
        from choquet.cli.using import read_rows

        table = read_rows(data, subject, delimiter=delimiter, limit=_ROWS, target=True)
        if table.n_read == _ROWS:
            warn(f"note: contexts are found on the first {_ROWS:,} rows")
        options |= {"X": table.X, "y": table.y}
    with steps("taking the model apart"):
        # What data determine is written to files, and not printed: it takes longer than the rest.
        found = subject.parts(identify=output is not None or as_json, **options)
    if max_error is not None:
        if found.measure is None:
            raise OptionError(f"{path} learned its operators directly: leave out --max-error")
        found = found.clusters.compress(max_error=max_error)
    if output is not None:
        write_object(found, output, force=force)
        if str(output) == "-":
            return
    if as_json:
        say_json(summary(found))
        return
    if found.outcome is not None:
        say(found.outcome.text())
    say(str(found))
    if found.measure is not None:
        say("A walk is one order of the inputs, from the largest to the smallest.")
    if found.units is not None:
        say(found.units.text(found.sources))
        if found.measure is not None and found.units.width != 1.0:
            worst = found.error.worst * found.units.width
            say(f"The largest error above, in units of {found.units.target_name}: {worst:.3g}.")
    if output is not None:
        say(f"Written to {output}.")


def _decompose_sum(subject: Subject, output: Path | None, *, as_json: bool) -> None:
    """The operators of each term of an additive model, and the contexts they are used in."""
    if output is not None:
        raise OptionError(f"{subject.name} is a sum of terms, which hold their operators; no -o")
    parts = subject.terms
    rows = [
        {
            "term": one.name, "context": one.context.words, "bias": one.bias,
            "weights": one.rank_weights.tolist(), "share": one.share, "samples": one.count,
        }
        for one in parts.operators
    ]  # fmt: skip
    if as_json:
        adds = parts.origin is None and subject.seen.outcome is None
        scale = "target" if adds else "score"
        say_json({"sources": list(subject.sources), "scale": scale, "operators": rows})
        return
    say(subject.seen.story().opening())
    shown = rows[:_LISTED]
    say_table(
        ["term", "context", "at its start", "adds, largest position first", "samples"],
        [
            [
                one["term"], one["context"], f"{one['bias']:.4g}",
                ", ".join(f"{w:.4g}" for w in one["weights"]), str(one["samples"]),
            ]
            for one in shown
        ],
        title="Contexts that rows met, by term",
    )  # fmt: skip
    if parts.origin is not None:
        say("These numbers are on the scale of the sum, before effects multiply.")
    if len(rows) > len(shown):
        say(f"{len(rows) - len(shown):,} more contexts; --json lists them all.")


def summary(found: Decomposition) -> dict[str, Any]:
    """A decomposition in plain data, as explanations have it."""
    story = explain_model(found, n_requests=0).to_dict()
    kept = ("sources", "operators", "units", "outcome", "bias", "rules_fidelity", "n_contexts")
    rules = found.rules.text(found.sources, found.operator_names)
    error = {"worst": found.error.worst, "rms": found.error.rms, "exact": found.exact}
    data = {**{key: story[key] for key in kept}, "rules": rules, "error": error}
    if found.cost is not None:
        data["cost"] = found.cost.to_dict()
    if found.tree is None:
        graph = found.clusters.sample.graph
        data |= {"metric": found.clusters.metric.name, "n_walks": graph.n_walks}
        data["n_distinct_operators"] = graph.n_operators
    return data


def run_compare(paths: Sequence[Path], *, metric: str, as_json: bool) -> None:
    """Set decompositions side by side, the first being what others are matched with."""
    if len(paths) < 2:
        raise DataError("a comparison needs two files or more; name another")
    subjects = [load_subject(path) for path in paths]
    decompositions = [subject.decomposition() for subject in subjects]
    names = [path.stem for path in paths]
    found = compare(decompositions, names=names, metric=metric)  # type: ignore[arg-type]
    if as_json:
        say_json(
            {
                "names": names,
                "metric": found.metric,
                "measures": found.measures,
                "matches": list(found.matches),
                "distances": list(found.distances),
                "decompositions": [summary(one) for one in decompositions],
            }
        )
        return
    rows: list[list[Any]] = []
    units = {"walks": "orders", "samples": "samples"}
    for k, one in enumerate(decompositions):
        for number, operator in enumerate(one.operator_names):
            partner = int(found.matches[k][number])
            rows.append(
                [
                    names[k],
                    operator,
                    f"{100 * one.operators[number].share:.1f} % of {units[one.unit]}",
                    "–" if partner < 0 else decompositions[0].operator_names[partner],
                    float(found.distances[k][number]),
                ]
            )
    heads = ["file", "operator", "used in", f"matched in {names[0]}", "distance"]
    title = "Operators, with the share of all orders of the inputs, or of the samples"
    say_table(heads, rows, title=title)
    table = [[name, *map(float, row)] for name, row in zip(names, found.measures, strict=True)]
    title = "Mean distance of the measures that they come from, not of their operators, over all "
    say_table(["", *names], table, title=f"{title}orders of the inputs ({found.metric})")


def run_inspect(path: Path, *, delimiter: str | None, as_json: bool) -> None:
    """Say what a file, or standard input, holds: one of ours, or a table of data."""
    with open_binary(path) as stream:
        # JSON begins with a brace, an archive with its mark; all else is a table.
        ours = stream.read(64).lstrip().startswith((b"{", b"PK"))
        stream.seek(0)
        if not ours:
            table = table_of(stream, name_of(path), delimiter=delimiter)
            _inspect_table(table, as_json=as_json)
            return
        obj = (
            from_bytes(stream.read(MAX_BYTES + 1), name=name_of(path))
            if str(path) == "-"
            else load_any(path)
        )
    _inspect_object(obj, name_of(path), as_json=as_json)


def _inspect_sum(obj: Any, view: AdditiveView, *, as_json: bool) -> None:
    """Say what an additive model holds."""
    story = view.story()
    if as_json:
        say_json({"kind": type(obj).__name__, "target": view.target, **story.to_dict()})
        return
    say(f"{type(obj).__name__} of {', '.join(view.sources)}.")
    say(story.head)
    say_table(
        ["term", "share of the variance", "numbers", "decided by data", "trust"],
        [
            [
                one["term"], f"{100 * one['share']:.1f} %", str(one["numbers"]),
                f"{one['decided']:.1f}", f"{100 * one['trust']:.0f} %",
            ]
            for one in story.table
        ],
    )  # fmt: skip


def _inspect_object(obj: Any, name: str, *, as_json: bool) -> None:
    inner, units, _, target = unwrapped(obj)
    if hasattr(inner, "terms_"):
        _inspect_sum(obj, explanation.AdditiveView(inner), as_json=as_json)
        return
    head: dict[str, Any] = {"kind": type(obj).__name__}
    held = getattr(inner, "decomposition_", inner)
    parts: Any = held if isinstance(held, Decomposition) else None
    measure = getattr(inner, "measure_", inner) if parts is None else parts.measure
    measure = measure if isinstance(measure, AbstractMeasure) else None
    if parts is not None or measure is not None:
        head |= {"sources": list(Subject(obj, name).sources), "target": target}
    if inner is not obj:
        head["learner"] = type(inner).__name__
        head["scaling"] = "none" if units is None else units.text(head["sources"])
    if measure is not None and measure.known_words is None:
        found = shapley(measure).round(12).tolist()
        head["shapley"] = dict(zip(head["sources"], found, strict=True))
    if parts is not None and parts.measure is None:
        head |= {"operators": parts.n_operators, "contexts": len(parts.leaves)}
        head["samples"] = f"{parts.tree.weight[0]:g}"
    outcome = outcome_of(inner)
    if outcome is not None:
        head |= {"classes": list(outcome.labels), "output": outcome.text()}
    support = getattr(inner, "support_", None)
    if support is not None:
        head |= {"samples": support.n_samples, "subsets_supported": support.n_supported}
    if as_json:
        say_json(head)
        return
    say_table(
        ["what", "is"],
        [
            [key, ", ".join(map(str, value)) if isinstance(value, list) else str(value)]
            for key, value in head.items()
            if key != "shapley" and value is not None
        ],
    )
    if measure is not None and measure.is_dense:
        say(str(measure.summary()))
    elif "shapley" in head:
        say_table(["source", "Shapley"], [[name, value] for name, value in head["shapley"].items()])
    if parts is not None and parts.measure is None:
        say(str(parts))


def _inspect_table(table: Table, *, as_json: bool) -> None:
    names = table.names
    if len(names) > 1000:
        raise DataError(f"{table.name} has {len(names):,} columns; at most 1000 are looked at")
    rows: list[dict[str, Any]] = []
    texts = [name for name in names if not numeric(table, name)]
    numbers = [name for name in names if name not in texts]
    low, high = np.full(len(numbers), np.inf), np.full(len(numbers), -np.inf)
    total, n_rows, n_dropped = np.zeros(len(numbers)), 0, 0
    if numbers:
        with steps("reading", table.n_bytes) as advance:
            for chunk in table.chunks(numbers, missing="drop"):
                n_dropped += chunk.n_dropped
                advance(chunk.n_bytes)
                if len(chunk.X):
                    n_rows += len(chunk.X)
                    total += chunk.X.sum(axis=0)
                    low = np.minimum(low, chunk.X.min(axis=0))
                    high = np.maximum(high, chunk.X.max(axis=0))
    for note in table.notes:
        warn(f"note: {note}")
    for k, name in enumerate(numbers):
        mean = total[k] / n_rows if n_rows else float("nan")
        rows.append({"column": name, "low": low[k], "mean": mean, "high": high[k]})
    rows += [{"column": name, "low": None, "mean": None, "high": None} for name in texts]
    if as_json:
        say_json({"kind": "table", "rows": n_rows, "rows_incomplete": n_dropped, "columns": rows})
        return
    incomplete = f", {n_dropped:,} more with missing values" if n_dropped else ""
    say(f"{table.name}: {many(len(names), 'column')}, {many(n_rows, 'complete row')}{incomplete}")
    say_table(
        ["column", "low", "mean", "high"],
        [[one["column"], *(("text",) * 3 if one["low"] is None else _three(one))] for one in rows],
    )


def _three(one: dict[str, Any]) -> tuple[str, ...]:
    return tuple(f"{float(one[key]):.4g}" for key in ("low", "mean", "high"))
