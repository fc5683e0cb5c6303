"""The commands and their options; what they do is imported when one is called."""

from __future__ import annotations

import contextlib
import os
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal

import click

from choquet._version import __version__
from choquet.cli.deciding import decide
from choquet.cli.exporting import export
from choquet.cli.options import (
    NUMBER,
    WHOLE,
    Command,
    Data,
    Delimiter,
    Force,
    Json,
    Label,
    MissingValues,
    Model,
    argument,
    option,
)
from choquet.cli.output import say, say_warnings, warn
from choquet.errors import ChoquetError
from choquet.watching import watch


class _Commands(click.Group):
    """All commands, in the order in which people meet them."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(self.commands)


def _say_version(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted:
        say(f"choquet {__version__}")
        ctx.exit()


app = _Commands(
    name="choquet",
    help="Learn how to combine inputs, and say in plain words how they are combined.",
    epilog="Begin with: choquet demo",
    context_settings={"help_option_names": ["-h", "--help"]},
    params=[
        click.Option(
            ["--version"], is_flag=True, is_eager=True, expose_value=False,
            callback=_say_version, help="Show the version.",
        ),
        click.Option(
            ["--debug"], is_flag=True, expose_value=False, help="Show where an error comes from."
        ),
    ],
)  # fmt: skip


def command(function: Callable[..., None]) -> Callable[..., None]:
    """Let a function be a command; its parameters say what its options are."""
    app.add_command(Command(function))
    return function


_STOPPED = 130
"""Exit code after Ctrl-C, as shells have it."""


def run(arguments: list[str]) -> int:
    """Run one command; errors become one line, and an exit code."""
    debug = "--debug" in arguments
    if sys.stdout is None:
        warn("standard output is closed; send it to a file or to another program")
        return 1
    for stream in (sys.stdout, sys.stderr):
        # A terminal that cannot show a name must not stop the work.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    try:
        with contextlib.nullcontext() if debug else say_warnings(), watch():
            _invoke([word for word in arguments if word != "--debug"] or ["--help"])
        sys.stdout.flush()
        return 0
    except BrokenPipeError:
        return _seen_enough()
    except SystemExit as exit_:
        # What rich makes of a broken pipe.
        return _seen_enough() if isinstance(exit_.__context__, BrokenPipeError) else 1
    except (KeyboardInterrupt, click.Abort):
        return _told(_STOPPED)
    except click.exceptions.Exit as exit_:
        return _told(exit_.exit_code)
    except Exception as error:
        if debug:
            traceback.print_exc()
        return _tell(error)


def _invoke(arguments: list[str]) -> None:
    """Run one command; what goes wrong is raised as it is, and told by `run`."""
    if "_CHOQUET_COMPLETE" in os.environ:  # the shell asks for words that it could complete
        app.main(arguments, prog_name="choquet")
    with app.make_context("choquet", arguments) as context:
        app.invoke(context)


def _seen_enough() -> int:
    """The reader of our output is gone, as `head` is after some lines: nothing went wrong."""
    # The interpreter must not complain when it flushes at the end.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def _told(code: int) -> int:
    if code == _STOPPED:
        warn("stopped; no file was written or changed")
    return code


def _tell(error: Exception) -> int:
    """Say on one line what went wrong; 2 if the command was called wrongly, else 1."""
    if isinstance(error, click.ClickException):
        text = error.format_message()
        context = getattr(error, "ctx", None)
        path = context.command_path if context is not None else "choquet"
        warn(f"{text.rstrip('.')}; see {path} --help")
        return 2 if isinstance(error, click.UsageError) else 1
    if isinstance(error, ChoquetError):
        warn(str(error).replace("pass overwrite=True", "pass --force"))
        return 1
    if isinstance(error, OSError | MemoryError):
        name = getattr(error, "filename", None)
        reason = getattr(error, "strerror", None) or str(error) or "not enough memory"
        warn(f"{name}: {reason}" if name else reason)
        return 1
    warn(f"unexpected {type(error).__name__}: {error}; run again with --debug and report it")
    return 1


@command
def demo(
    output: Annotated[Path, option("Folder for pictures and report.", "--output", "-o")] = Path(
        "choquet-demo"
    ),
    show: Annotated[
        bool, option("Open the report where there is a display.", "--open/--no-open")
    ] = True,
    force: Force = False,
    json: Json = False,
) -> None:
    """Run an example from start to finish."""
    from choquet.cli.demo import run_demo

    run_demo(output, show=show, force=force, as_json=json)


@command
def fit(
    data: Data,
    output: Annotated[
        Path, option("File for the model; - for standard output.", "--output", "-o")
    ] = Path("model.json"),
    target: Annotated[
        str | None, option("Column to learn; the last by default.", "--target", "-t")
    ] = None,
    sources: Annotated[
        list[str] | None,
        option("Columns to combine, a,b,c; all others by default.", "--sources", "-s"),
    ] = None,
    scaling: Annotated[
        str,
        option(
            "none, common, minmax, quantiles, standard, or auto: none or common for columns in one "
            "unit, else minmax."
        ),
    ] = "auto",
    directions: Annotated[
        str, option("Is more of a source better? auto (from the data), higher or lower.")
    ] = "auto",
    lower_is_better: Annotated[
        list[str] | None, option("Sources for which lower is better: price,weight.")
    ] = None,
    folds: Annotated[
        int, option("Parts of the data, each held out in turn to try the model; or 0.")
    ] = 5,
    learner: Annotated[
        str,
        option(
            "auto, additive, choquet, cv, classifier, owa, linear, lambda, gradient, "
            "contextual, contextual-classifier or additive-classifier."
        ),
    ] = "choquet",
    monotone: Annotated[
        bool | None, option("Require that more input never gives less output.")
    ] = None,
    ordinal: Annotated[bool | None, option("Treat classes as ordered levels.", "--ordinal")] = None,
    normal: Annotated[
        bool | None, option("Require that all sources together have value 1.")
    ] = None,
    fit_intercept: Annotated[bool | None, option("Learn an intercept.")] = None,
    penalty: Annotated[str | None, option("Keep values small: l1, l2, elasticnet or lp.")] = None,
    alpha: Annotated[float | None, option("Strength of the penalty.", **NUMBER)] = None,
    prior: Annotated[
        str | None, option("Shrink towards additive, symmetric or 2-additive.")
    ] = None,
    prior_alpha: Annotated[float | None, option("How much to shrink.", **NUMBER)] = None,
    k_additive: Annotated[int | None, option("Restrict to k-additive measures.", **WHOLE)] = None,
    fill: Annotated[
        str | None, option("Values without data: lower, upper, midpoint or similar.")
    ] = None,
    max_leaves: Annotated[
        int | None, option("Largest number of contexts; 16 by default.", **WHOLE)
    ] = None,
    l2: Annotated[
        float | None,
        option("Penalty on weights (contextual models); 3 by default.", "--l2", **NUMBER),
    ] = None,
    prune: Annotated[
        str | None, option("How to choose the number of contexts: cv, bic or none.")
    ] = None,
    merge: Annotated[bool | None, option("Let contexts share operators.")] = None,
    convex: Annotated[
        bool | None, option("Require weights that are shares, without intercept.")
    ] = None,
    max_terms: Annotated[
        int | None, option("Largest number of terms; 6 gives a compact model.", **WHOLE)
    ] = None,
    max_order: Annotated[
        int | None, option("Largest number of sources in a term, 1 to 4.", **WHOLE)
    ] = None,
    categories: Annotated[
        list[str] | None,
        option("Sources that are categories although they look like numbers (additive): a,b,c."),
    ] = None,
    levels: Annotated[
        list[str] | None,
        option("A source and its levels from low to high (additive): 'size=small<medium<large'."),
    ] = None,
    missing: MissingValues = "error",
    delimiter: Delimiter = None,
    force: Force = False,
    json: Json = False,
) -> None:
    """Learn a model from a table."""
    from choquet.cli.fitting import levels_of, run_fit
    from choquet.cli.learners import FitOptions

    given = {
        "monotone": monotone, "ordinal": ordinal, "normal": normal, "fit_intercept": fit_intercept,
        "penalty": penalty, "alpha": alpha, "prior": prior, "prior_alpha": prior_alpha,
        "k_additive": k_additive, "fill": fill, "max_leaves": max_leaves, "l2": l2,
        "prune": prune, "merge": merge, "convex": convex, "max_terms": max_terms,
        "max_order": max_order,
    }  # fmt: skip
    options = FitOptions(
        target=target,
        sources=sources or [],
        scaling=scaling,
        directions=directions,
        lower=lower_is_better or [],
        folds=folds,
        learner=learner,
        missing=_missing(missing),
        delimiter=delimiter,
        learning={name: value for name, value in given.items() if value is not None},
        categories=categories or [],
        levels=levels_of(levels or []),
    )
    run_fit(data, output, options, force=force, as_json=json)


@command
def fuse(
    data: Data,
    truth: Annotated[str, option("Column with the true class.", "--truth", "-t")],
    sample: Annotated[str | None, option("Column that tells samples apart.", "--id")] = None,
    label: Annotated[
        str | None, option("Column with the class that a score is for.", "--class")
    ] = None,
    score: Annotated[
        str | None, option("Column of scores, if each row holds one.", "--score")
    ] = None,
    source: Annotated[
        str | None, option("Column with the classifier, if each row has one.", "--source")
    ] = None,
    output: Annotated[
        Path, option("File for the model; - for standard output.", "--output", "-o")
    ] = Path("model.json"),
    shared: Annotated[
        bool, option("One model for all classes, or one each.", "--shared/--per-class")
    ] = True,
    folds: Annotated[
        int, option("Parts of the data, each held out in turn to try the model; or 0.")
    ] = 5,
    delimiter: Delimiter = None,
    force: Force = False,
    json: Json = False,
) -> None:
    """Fuse the scores of several classifiers.

    The table may be long (one score in each row: --id, --class, --source, --score), half long (one
    row for each sample and class, one column for each classifier: --id, --class), or wide (one row
    for each sample, columns named classifier:class).
    """
    from choquet.cli.fusing import run_fuse

    roles = {"id": sample, "label": label, "score": score, "source": source, "truth": truth}
    run_fuse(
        data, output, roles,
        shared=shared, folds=folds, delimiter=delimiter, force=force, as_json=json,
    )  # fmt: skip


@command
def predict(
    model: Model,
    data: Data,
    output: Annotated[
        Path, option("File for the answers; - for standard output.", "--output", "-o")
    ] = Path("-"),
    level: Annotated[float, option("Share of the intervals that contain the truth.")] = 0.95,
    intervals: Annotated[
        bool | None,
        option(
            "Add the columns low and high, limits of the output without noise; by default if it "
            "is quick."
        ),
    ] = None,
    noise: Annotated[
        bool, option("Let low and high be limits of a new target, which has noise.", "--noise")
    ] = False,
    missing: MissingValues = "error",
    delimiter: Delimiter = None,
    force: Force = False,
    json: Json = False,
) -> None:
    """Predict each row of a table."""
    from choquet.cli.using import run_predict

    run_predict(
        model,
        data,
        output,
        delimiter=delimiter,
        missing=_missing(missing),
        force=force,
        as_json=json,
        level=None if intervals is False else level,
        noise=noise,
        insist=bool(intervals),
    )


@command
def explain(
    model: Model,
    data: Annotated[
        Path | None, argument("Table with samples to explain; without it, the model.")
    ] = None,
    row: Annotated[
        list[int] | None, option("Which row, from 1; may be given several times.", **WHOLE)
    ] = None,
    label: Label = None,
    delimiter: Delimiter = None,
    json: Json = False,
) -> None:
    """Explain a model, or one of its answers, in words."""
    from choquet.cli.using import run_explain

    run_explain(model, data, row or [1], label=label, delimiter=delimiter, as_json=json)


@command
def decompose(
    model: Model,
    data: Annotated[
        Path | None, argument("Table with typical samples, and the target if known.")
    ] = None,
    output: Annotated[
        Path | None, option("Keep the decomposition in this file.", "--output", "-o")
    ] = None,
    metric: Annotated[str | None, option("How to compare operators: rms, emd, and others.")] = None,
    method: Annotated[
        str | None, option("clodd, single_linkage, fuzzy_c_means or distinct.")
    ] = None,
    k: Annotated[
        int | None, option("How many operators, where the method asks.", "-k", **WHOLE)
    ] = None,
    all_walks: Annotated[bool, option("Also describe cases without data.", "--all-walks")] = False,
    epsilon: Annotated[
        float | None, option("Share without data that a case may have.", **NUMBER)
    ] = None,
    max_error: Annotated[
        float | None, option("Largest difference from the model that is allowed.", **NUMBER)
    ] = None,
    label: Label = None,
    delimiter: Delimiter = None,
    force: Force = False,
    json: Json = False,
) -> None:
    """Split a model into operators and their contexts."""
    from choquet.cli.looking import run_decompose

    given = {"metric": metric, "method": method, "k": k, "epsilon": epsilon}
    options: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    if all_walks:
        options["support"] = None
    run_decompose(
        model, data, output,
        max_error=max_error, label=label, delimiter=delimiter, force=force, as_json=json, **options,
    )  # fmt: skip


@command
def report(
    model: Model,
    data: Annotated[
        Path | None, argument("Table with samples to show, and the target if known.")
    ] = None,
    output: Annotated[
        Path, option(".html, .md or .json; - for standard output.", "--output", "-o")
    ] = Path("report.html"),
    title: Annotated[str | None, option("Heading.")] = None,
    label: Label = None,
    delimiter: Delimiter = None,
    force: Force = False,
    json: Json = False,
) -> None:
    """Write a report: one page that works offline."""
    from choquet.cli.using import run_report

    run_report(
        model, data, output,
        title=title, label=label, delimiter=delimiter, force=force, as_json=json,
    )  # fmt: skip


@command
def compare(
    models: Annotated[list[Path], argument("Two files or more.")],
    metric: Annotated[str, option("Dissimilarity of operators.")] = "rms",
    json: Json = False,
) -> None:
    """Compare models of the same sources."""
    from choquet.cli.looking import run_compare

    run_compare(models, metric=metric, as_json=json)


@command
def inspect(
    file: Annotated[Path, argument("A file of choquet, or a table.")],
    delimiter: Delimiter = None,
    json: Json = False,
) -> None:
    """Show what a file contains."""
    from choquet.cli.looking import run_inspect

    run_inspect(file, delimiter=delimiter, as_json=json)


@command
def reproduce(
    which: Annotated[
        list[str] | None,
        argument("all, or names of experiments; a wrong name prints the list."),
    ] = None,
    output: Annotated[
        Path, option("Folder for pages, pictures and numbers.", "--output", "-o")
    ] = Path("choquet-paper"),
    data: Annotated[
        Path | None, option("Folder of the data that the package does not carry.")
    ] = None,
    seeds: Annotated[int, option("Repetitions of the random experiments.", **WHOLE)] = 100,
    fresh: Annotated[bool, option("Run again what is there already.", "--fresh")] = False,
    jobs: Annotated[
        int | None, option("Repetitions at a time; -1 for all cores.", **WHOLE, show_default=False)
    ] = None,
    json: Json = False,
) -> None:
    """Run the paper's experiments again."""
    from choquet.cli.reproducing import run_reproduce

    run_reproduce(
        which or ["all"], output, data=data, seeds=seeds, fresh=fresh, jobs=jobs, as_json=json
    )


app.add_command(Command(decide, short_help="Rank alternatives by what people say about them."))
app.add_command(Command(export, short_help="Write a model as ONNX, SQL, JavaScript or C."))


def _missing(word: str) -> Literal["error", "drop", "keep"]:
    known: dict[str, Literal["error", "drop", "keep"]] = {
        "error": "error", "drop": "drop", "keep": "keep"
    }  # fmt: skip
    if word not in known:
        raise click.BadParameter(f"{word!r} is not known; choose {', '.join(known)}")
    return known[word]
