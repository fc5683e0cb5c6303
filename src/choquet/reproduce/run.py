"""Run experiments, write what they found, and skip what is there already."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

from choquet._version import __version__
from choquet.errors import FileError, MissingDependencyError, OptionError
from choquet.explanation.phrases import plain
from choquet.files import write_whole
from choquet.reproduce.erratum import erratum_page
from choquet.reproduce.experiments import (
    aid,
    authors,
    examples,
    noise,
    regression,
    sampling,
    solvers,
)
from choquet.reproduce.html_page import environment, html_page
from choquet.reproduce.page import experiment_page, index_page
from choquet.reproduce.result import ExperimentResult, Picture, check_seeds
from choquet.reproduce.where import data_folder
from choquet.reproduce.work import Kept, Work

_KIND = "choquet reproduction"
"""What marks a file as ours, so that it may be written again."""
_DPI = 80


EXPERIMENTS: Mapping[str, Callable[..., ExperimentResult]] = MappingProxyType(
    {
        "examples": examples.run,
        "noise": noise.run,
        "sampling": sampling.run,
        "solvers": solvers.run,
        "aid": aid.run,
        "yacht": partial(regression.run, dataset="yacht"),
        "airfoil": partial(regression.run, dataset="airfoil"),
        "authors": authors.run,
    }
)
"""The paper's experiments by name, in its order; options are `data`, `seeds`, `rng` and `work`."""


def reproduce(
    which: str | Sequence[str] = "all",
    *,
    data: str | os.PathLike[str] | None = None,
    out: str | os.PathLike[str] | None = None,
    seeds: int = 100,
    resume: bool = True,
    rng: int = 0,
    n_jobs: int | None = None,
    progress: Callable[[str, int, int], None] | None = None,
) -> dict[str, dict[str, Any]]:
    """Run the paper's experiments and compare what comes out with what it says.

    Parameters
    ----------
    which : "all", a name or several, default "all"
        Of `EXPERIMENTS`.
    data : path, optional
        Folder of the data that the package does not carry. By default the folder named by the
        variable CHOQUET_DATA, or ``shared/data`` beside the project. Without it, the experiment on
        AID says that it was skipped.
    out : path, optional
        Folder for ``index.html``, one page of all results with the pictures inside, and
        ``results.json``; beside them pictures, a JSON file and a Markdown page for each
        experiment. Nothing is written by default.
    seeds : int, default 100
        Repetitions of what is random. Experiments that are heavier per repetition use fewer and
        say so.
    resume : bool, default True
        Take what an earlier run with the same options left in `out` instead of running again;
        of an experiment that was stopped, the repetitions that were finished.
    rng : int, default 0
        The same number gives the same files.
    n_jobs : int, optional
        Repetitions (seeds, measures, folds) at a time, through joblib; -1 takes all cores. The
        results are the same.
    progress : callable, optional
        Called with (name of the experiment, done, total).

    Returns
    -------
    dict from name to document
        As in the JSON files: "name", "title", "rows", "numbers", "figures", "notes", "options",
        "tables", "complete".

    Raises
    ------
    OptionError
        For an unknown experiment or a number of seeds below one.
    FileError
        If a folder of data was named that is not there, or files of others stand in the way.

    References
    ----------
    Anderson et al. Fuzzy Integral = Contextual Linear Order Statistic.

    Examples
    --------
    >>> found = reproduce("examples")
    >>> [row["verdict"] for row in found["examples"]["rows"]][:4]
    ['holds', 'holds', 'holds', 'holds']
    """
    names = _names(which)
    check_seeds(seeds)
    folder = data_folder(data)
    target = None if out is None else _folder(out)
    Work(n_jobs)  # refused before anything runs
    if target is not None:
        environment()
    options = {"seeds": seeds, "rng": rng, "version": __version__}
    documents: dict[str, dict[str, Any]] = {}
    for name in names:
        told = None if progress is None else partial(progress, name)
        kept = _kept(target, name, options) if resume and target is not None else None
        if kept is not None and told is not None:
            told(1, 1)
        documents[name] = kept or _run(name, target, folder, options, Work(n_jobs, told), resume)
    if target is not None:
        _write_all(target)
    return documents


def _write_all(target: Path) -> None:
    """The pages and the file of all results in a folder, of this run and of earlier ones."""
    everything = {
        name: document
        for name in EXPERIMENTS
        if (document := _read(target, name)) and _whole(target, document)
    }
    _write(target / "index.md", index_page(everything).encode())
    if "authors" in everything and everything["authors"]["complete"]:
        _write(target / "erratum.md", erratum_page(everything["authors"]).encode())
    names = [key for document in everything.values() for key in document["figures"]]
    pictures = {key: (target / f"{key}.png").read_bytes() for key in names}
    _write(target / "index.html", html_page(everything, pictures, kind=_KIND).encode())
    _write(target / "results.json", _json({"kind": _KIND, "experiments": everything}))


def _json(document: Mapping[str, Any]) -> bytes:
    return json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False).encode() + b"\n"


def _names(which: str | Sequence[str]) -> list[str]:
    wanted = [which] if isinstance(which, str) else list(which)
    known = ["all", *EXPERIMENTS]
    for name in wanted:
        if name not in known:
            raise OptionError(f"which={name!r} is unknown; choose among {', '.join(known)}")
    if not wanted:
        raise OptionError(f"which={which!r} names nothing; choose among {', '.join(known)}")
    return [name for name in EXPERIMENTS if name in wanted or "all" in wanted]


def _folder(out: str | os.PathLike[str]) -> Path:
    folder = Path(out)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"cannot make the folder {folder}: {error.strerror}") from None
    return folder


def _run(
    name: str,
    target: Path | None,
    data: Path | None,
    options: dict[str, Any],
    work: Work,
    resume: bool,
) -> dict[str, Any]:
    if target is not None:
        # Each repetition has a seed of its own, so their number does not matter.
        head = {"kind": _KIND, "rng": options["rng"], "version": options["version"]}
        work = replace(work, kept=Kept(target / f"{name}.part", head, fresh=not resume))
    result = EXPERIMENTS[name](data=data, seeds=options["seeds"], rng=options["rng"], work=work)
    document = {
        "kind": _KIND,
        "name": name,
        "title": result.title,
        "complete": result.complete,
        "options": options,
        "rows": [asdict(row) for row in result.rows],
        "notes": list(result.notes),
        "tables": plain([asdict(table) for table in result.tables]),
        "figures": {key: picture.caption for key, picture in result.figures.items()},
        "numbers": plain(result.numbers),
    }
    if target is not None:
        # The page first: its mark lets a later run replace pictures of one that was stopped.
        _write(target / f"{name}.md", experiment_page(document).encode())
        for key, picture in result.figures.items():
            _write(target / f"{key}.png", _png(picture))
        # Last, so that its being there means that all the rest is.
        _write(target / f"{name}.json", _json(document))
    if work.kept is not None:
        work.kept.forget()
    return document


def _png(picture: Picture) -> bytes:
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingDependencyError(
            "Pictures need matplotlib: pip install 'choquet[plot]', or pass out=None"
        ) from None
    figure = Figure(figsize=picture.size, layout="constrained")
    picture(figure)
    stream = io.BytesIO()
    # Without the program's name and version in it, the same picture is the same file.
    figure.savefig(stream, format="png", dpi=_DPI, metadata={"Software": None})
    return stream.getvalue()


def _write(path: Path, content: bytes) -> None:
    """Write one of our files; what others put under its name stays."""
    if path.exists() and not _ours(path):
        raise FileError(f"{path} exists and is not of this command; choose another folder")
    write_whole(path, content, overwrite=True)


def _ours(path: Path) -> bool:
    """Whether a file bears the mark; pictures do if a document beside them names them."""
    try:
        if path.suffix != ".png":
            return _KIND.encode() in path.read_bytes()[:400]
        if not path.read_bytes().startswith(b"\x89PNG"):
            return False
    except OSError:
        return False
    # A run may have been stopped before its document, but not before its page.
    documents = (_read(path.parent, name) for name in EXPERIMENTS)
    return any(documents) or any(_ours(page) for page in path.parent.glob("*.md"))


def _read(folder: Path, name: str) -> dict[str, Any] | None:
    """The document of an experiment, or None if it is absent, damaged or of others."""
    try:
        document = json.loads((folder / f"{name}.json").read_bytes())
    except (OSError, ValueError):
        return None
    known = isinstance(document, dict) and document.get("kind") == _KIND
    return document if known and document.get("name") == name else None


def _kept(folder: Path, name: str, options: dict[str, Any]) -> dict[str, Any] | None:
    """What an earlier run with the same options left, if all of it is there."""
    document = _read(folder, name)
    if document is None or not document.get("complete") or document.get("options") != options:
        return None
    return document if _whole(folder, document) else None


def _whole(folder: Path, document: dict[str, Any]) -> bool:
    """Whether the page and the pictures of a document are there, and it has what pages need."""
    files = [f"{document['name']}.md", *(f"{key}.png" for key in document["figures"])]
    return "tables" in document and all((folder / file).is_file() for file in files)
