"""`choquet fuse`, and what other commands do with fused classifiers."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from choquet.cli.output import say, say_json, say_reliability, say_table, warn
from choquet.cli.subjects import check_output, write_object
from choquet.cli.tables import open_table
from choquet.errors import DataError, OptionError
from choquet.watching import steps

_NAMES = {
    "model": "this fusion", "average": "mean of the scores", "single": "best single source",
    "vote": "majority vote", "product": "product of the scores", "stacking": "stacking",
}  # fmt: skip


def run_fuse(
    path: Path,
    output: Path,
    roles: dict[str, str | None],
    *,
    shared: bool,
    folds: int,
    delimiter: str | None,
    force: bool,
    as_json: bool,
) -> None:
    """Learn how to fuse classifiers from a table of their scores, and write the model."""
    check_output(output, force=force)
    if folds < 0 or folds == 1:
        raise OptionError(f"--folds {folds}: give 2 or more, or 0 to hold no samples out")
    given_roles = {name: column for name, column in roles.items() if column is not None}
    if "score" in given_roles and not {"id", "label", "source"} <= set(given_roles):
        raise OptionError(
            "--score means one score in each row; name the other columns too: --id, --class and "
            "--source"
        )
    if "label" in given_roles and "id" not in given_roles:
        raise OptionError("--class needs --id: which column says what sample a row is about")
    room: Any = import_module("choquet.estimators")
    model = room.FusionClassifier(shared=shared, columns=given_roles)
    with steps("reading scores", None):
        given = read_scores(path, model, delimiter=delimiter)
    with steps("learning", None):
        model.fit(given)
    n_bytes = write_object(model, output, force=force)
    for name in given.reversed_sources():
        warn(
            f"note: {name} gives the true class lower scores than the others. A fusion cannot turn "
            "that round: check its columns, or subtract its scores from 1"
        )
    if str(output) == "-":
        return
    scores: dict[str, Any] = {}
    if folds:
        baselines: Any = import_module("choquet.estimators.fusion.baselines")
        with steps("trying it on samples held out", None):
            tried = baselines.fusion_scores(model, given, refit=True, folds=folds)
        scores = {} if tried is None else tried.to_dict()
        rival = None if tried is None else tried.scores.get("stacking")
        if rival is not None and rival.beats(tried.scores["model"]):
            warn("note: stacking is more accurate here; look at the sources before you fuse")
    summary = {
        "output": str(output), "bytes": n_bytes, "sources": list(given.sources),
        "classes": [str(one) for one in given.classes.tolist()], "samples": len(given.scores),
        "shared": shared, "power": model.power_, "held_out": scores or None,
    }  # fmt: skip
    if as_json:
        say_json(summary)
    else:
        _tell(summary)


def _tell(summary: dict[str, Any]) -> None:
    n, classes = len(summary["sources"]), len(summary["classes"])
    say(f"Learned to fuse {n} sources for {classes} classes from {summary['samples']:,} samples.")
    tried = summary["held_out"]
    if tried is not None:
        rows = []
        for key, score in tried["scores"].items():
            name = _NAMES[key] + (f" ({score['detail']})" if score["detail"] else "")
            loss = score["log_loss"]
            rows.append(
                [
                    name,
                    f"{100 * (1 - score['error']):.1f} ± {100 * score['error_half']:.1f} %",
                    "–" if loss != loss else f"{loss:.3f} ± {score['log_loss_half']:.3f}",
                ]
            )
        title = f"On samples held out ({tried['folds']} folds), with 95 % intervals"
        say_table(["", "right", "log-loss"], rows, title=title)
        say_reliability(tried["reliability"])
    output = summary["output"]
    say(f"Written to {output}; see: choquet report {output} SCORES")


def read_scores(path: Path, model: Any, *, delimiter: str | None) -> Any:
    """The scores in a table, in the form that the model's options describe."""
    from choquet.estimators.fusion.class_scores import ClassScores, Roles

    with open_table(path, delimiter=delimiter) as table:
        columns = {name: np.array(cells) for name, cells in table.texts().items()}
        name = table.name
    fitted, truth = hasattr(model, "classes_"), (model.columns or {}).get("truth")
    if not fitted and truth not in columns:
        shown = ", ".join(list(columns)[:10])
        raise DataError(f"{name} has no column {truth!r} with the true classes; it has {shown}")
    try:
        found = ClassScores.from_columns(
            columns,
            Roles(**(model.columns or {})),
            classes=[str(one) for one in model.classes_.tolist()] if fitted else None,
            sources=model.measure_.sources if fitted else None,
        )
    except DataError as error:
        raise DataError(f"{name}: {error}") from None
    return found


def fusion_answers(model: Any, given: Any) -> dict[str, Any]:
    """Columns of answers: the class, its probability, its bounds over what was not seen, and all.

    The bounds are no confidence interval, so they have other names than those of other models.
    """
    proba = model.predict_proba(given)
    low, high = model.support_interval(given).T
    found = {
        "id": given.ids,
        "prediction": model.classes_[proba.argmax(axis=1)],
        "probability": proba.max(axis=1),
        "lowest": low,
        "highest": high,
        "support": model.support_share(given),
    }
    return found | {f"p({label})": proba[:, k] for k, label in enumerate(model.classes_)}
