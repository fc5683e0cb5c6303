"""`choquet export`: a model that runs without Python."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from choquet.cli.output import say, say_json


def export(
    model: Annotated[
        Path,
        typer.Argument(
            help="File of a model, measure or decomposition; - for standard input.",
            show_default=False,
        ),
    ],
    to: Annotated[str, typer.Option(help="onnx, sql, js or c.", show_default=False)],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="File to write; - for standard output."),
    ] = None,
    table: Annotated[str, typer.Option(help="Table to select from (SQL only).")] = "data",
    dtype: Annotated[str, typer.Option(help="float64 or float32 (ONNX only).")] = "float64",
    label: Annotated[
        str | None, typer.Option("--class", help="Class whose probability is the output.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that exists.")] = False,
    json: Annotated[
        bool, typer.Option("--json", help="Print one JSON document instead of text.")
    ] = False,
) -> None:
    """Write a model as a file that runs without Python: ONNX, SQL, JavaScript or C."""
    run_export(model, to, output, table=table, dtype=dtype, label=label, force=force, as_json=json)


def run_export(
    model: Path,
    to: str,
    output: Path | None,
    *,
    table: str,
    dtype: str,
    label: str | None,
    force: bool,
    as_json: bool,
) -> None:
    """Write the model beside its file, or where it is wanted."""
    from choquet.arrays import check_option
    from choquet.cli.subjects import check_output, load_any, write_content
    from choquet.exports import TARGETS
    from choquet.exports.export import exported

    suffix = TARGETS[check_option("to", to, TARGETS)].suffix
    if output is None:
        output = Path("model" if str(model) == "-" else model.stem).with_suffix(suffix)
    check_output(output, force=force)
    content = exported(load_any(model), to, label=label, table=table, dtype=dtype)
    size = write_content(content, output, force=force)
    if str(output) == "-":
        return
    if as_json:
        say_json({"output": str(output), "to": to, "bytes": size})
    else:
        say(f"Written to {output} ({size / 1024:.0f} KiB).")
