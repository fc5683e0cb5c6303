"""`choquet export`: a model that runs without Python."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from choquet.cli.options import Json, Model, option
from choquet.cli.output import say, say_json


def export(
    model: Model,
    to: Annotated[str, option("onnx, sql, js or c.")],
    output: Annotated[
        Path | None, option("File to write; - for standard output.", "--output", "-o")
    ] = None,
    table: Annotated[str, option("Table to select from (SQL only).")] = "data",
    dtype: Annotated[str, option("float64 or float32 (ONNX only).")] = "float64",
    label: Annotated[
        str | None, option("Class whose probability is the output.", "--class")
    ] = None,
    force: Annotated[bool, option("Replace a file that exists.", "--force")] = False,
    json: Json = False,
) -> None:
    """Write a model as a file that runs without Python: ONNX, SQL, JavaScript or C."""
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
    if json:
        say_json({"output": str(output), "to": to, "bytes": size})
    else:
        say(f"Written to {output} ({size / 1024:.0f} KiB).")
