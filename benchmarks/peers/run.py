"""Everything in one run: what is done is kept at once, and not done again."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.peers.growth import CURVES, key_of, summarise
from benchmarks.peers.machine import describe_machine, load_of_machine, memory_of_machine
from benchmarks.peers.measure import Setting, measure_imports, measure_point, measure_work
from benchmarks.peers.table import PEERS
from benchmarks.peers.works import WORKS
from choquet._version import __version__
from choquet.errors import FileError, OptionError
from choquet.files import write_whole

__all__ = ["FILE", "KIND", "bench"]

KIND = "choquet benchmark"
"""What marks a file as ours, so that it may be written again."""
FILE = "bench.json"
CURVE_LIMIT = 9
"""How many times longer a point of a curve may take: it is for us to wait for ourselves."""

Progress = Callable[[str, int, int], None]


def bench(
    which: str | Sequence[str] = "all",
    *,
    quick: bool = False,
    peers: str | os.PathLike[str] | None = None,
    out: str | os.PathLike[str] | None = None,
    limit: float | None = None,
    rounds: int | None = None,
    resume: bool = True,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Measure this package beside its peers on the same work, and how it grows.

    Every contender runs in a process of its own. It warms up on a small task, so that libraries
    are loaded and kernels compiled; then its answer is compared with ours, and only then are times
    taken: round after round everyone in turn, and the best of each counts.

    Parameters
    ----------
    which : "all", "works", "growth", "import", a name of `WORKS`, or several, default "all"
    quick : bool, default False
        Tiny sizes: whether everything works, not how fast it is.
    peers : path, optional
        Interpreter of the environment in which the peers are installed. Ours by default; what it
        lacks is a row that says so.
    out : path, optional
        Folder for the numbers, as JSON. Nothing is kept by default.
    limit : float, optional
        Seconds that one run may take, 10 by default. A contender beyond it is a row that says so.
        A point of a curve may take nine times that; after one beyond it, or two where rows grow,
        larger ones are skipped.
    rounds : int, optional
        Runs of which the best counts: 5, or 2 if quick.
    resume : bool, default True
        Take what an earlier run with the same options on the same machine left in `out`.
    progress : callable, optional
        Called with (what is measured, done, total).

    Returns
    -------
    dict
        "machine", "loads" (while measuring), "peers" (versions, imports), "works" (rows by
        contender), "points" and "curves" (sizes, seconds, bytes, and the powers fitted).

    Raises
    ------
    OptionError
        For an unknown work, or a limit or a number of rounds that is not positive.
    FileError
        If `peers` is no interpreter, or a file of others stands in the way.

    Examples
    --------
    >>> found = bench("shapley", quick=True, rounds=1)
    >>> found["works"]["shapley 6"]["rows"][0]["status"]
    'ok'
    """
    chosen = _chosen(which)
    setting = _setting(quick, peers, limit, rounds)
    target = None if out is None else _file(out)
    document = _begin(target if resume else None, quick, setting)
    steps = list(_steps(chosen, quick))
    total = len(steps) + 1
    tell = progress or (lambda *_: None)
    tell("imports", 0, total)
    imports = "import" in chosen
    needed = [who for who, peer in PEERS.items() if imports or set(peer.works) & chosen]
    # An import takes long and varies little: a few are enough, one where only versions matter.
    few = min(setting.rounds, 3) if imports and not quick else 1
    found = measure_imports(replace(setting, rounds=few), needed)
    if _other_versions(document["peers"], found):
        document["works"] = {}
    document["peers"] |= found
    _keep(target, document, quick)
    for done, (kind, key, name, size) in enumerate(steps, 1):
        tell(key, done, total)
        if key in document[kind]:
            continue
        if kind == "works":
            document[kind][key] = measure_work(name, tuple(size.values()), found, setting)
        else:
            document[kind][key] = _point(name, size, document[kind], quick, setting)
        document["loads"].append(load_of_machine())
        _keep(target, document, quick)
    tell("done", total, total)
    return _keep(target, document, quick)


def _chosen(which: str | Sequence[str]) -> set[str]:
    """Names of works, with "import" and "growth" among them where they are wanted."""
    wanted = [which] if isinstance(which, str) else list(which)
    groups = {
        "all": {*WORKS, "import", "growth"},
        "works": set(WORKS),
        **{name: {name} for name in ("growth", "import", *WORKS)},
    }
    for name in wanted:
        if name not in groups:
            raise OptionError(f"which={name!r} is unknown; choose among {', '.join(groups)}")
    if not wanted:
        raise OptionError(f"which={which!r} names nothing; choose among {', '.join(groups)}")
    return set[str]().union(*(groups[name] for name in wanted))


def _steps(chosen: set[str], quick: bool) -> Iterator[tuple[str, str, str, dict[str, int]]]:
    """What is to be measured: in which part of the document, under which key, what, how large."""
    for name in (name for name in WORKS if name in chosen):
        for size in WORKS[name].quick if quick else WORKS[name].full:
            numbers = {str(k): number for k, number in enumerate(size)}
            yield "works", " ".join([name, *map(str, size)]), name, numbers
    if "growth" not in chosen:
        return
    seen = set()
    for name, curve in CURVES.items():
        for point in curve.sizes(quick):
            key = key_of(curve.function, point)
            # Curves share points: each is measured with the first that holds it.
            if key not in seen:
                seen.add(key)
                yield "points", key, name, point


def _setting(
    quick: bool, peers: str | os.PathLike[str] | None, limit: float | None, rounds: int | None
) -> Setting:
    limit = 10.0 if limit is None else float(limit)
    rounds = (2 if quick else 5) if rounds is None else rounds
    if not limit > 0:
        raise OptionError(f"limit={limit:g} must be positive: seconds that one run may take")
    if rounds < 1:
        raise OptionError(f"rounds={rounds} must be at least 1")
    memory = memory_of_machine() * 2 // 3
    if peers is None:
        return Setting(limit=limit, rounds=rounds, memory=memory)
    python = Path(peers)
    if not python.is_file() or not os.access(python, os.X_OK):
        raise FileError(f"{python} is no interpreter; give the python of the peers' environment")
    # Not resolved: the link in an environment is what makes it one.
    return Setting(str(python.absolute()), limit, rounds, memory)


def _file(out: str | os.PathLike[str]) -> Path:
    file = Path(out) / FILE
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"cannot make the folder {file.parent}: {error.strerror}") from None
    if file.exists() and KIND.encode() not in file.read_bytes()[:200]:
        raise FileError(f"{file} exists and is not of this command; choose another folder")
    return file


def _begin(file: Path | None, quick: bool, setting: Setting) -> dict[str, Any]:
    """What an earlier run left, or an empty document."""
    head = {
        "kind": KIND,
        "version": __version__,
        "machine": describe_machine(),
        "options": {"quick": quick, "limit": setting.limit, "rounds": setting.rounds},
    }
    try:
        kept = json.loads(file.read_bytes()) if file is not None else {}
    except (OSError, ValueError):
        kept = {}
    if any(kept.get(name) != value for name, value in head.items()):
        kept = {}
    parts = {name: kept.get(name, {}) for name in ("peers", "works", "points", "curves")}
    return head | parts | {"loads": kept.get("loads", [])}


def _other_versions(
    before: Mapping[str, Mapping[str, Any]], now: Mapping[str, Mapping[str, Any]]
) -> bool:
    """Whether a peer has changed since: then its rows are of the past."""
    both = before.keys() & now.keys()
    return any(before[name]["version"] != now[name]["version"] for name in both)


def _point(
    name: str,
    size: dict[str, int],
    points: Mapping[str, Mapping[str, Any]],
    quick: bool,
    setting: Setting,
) -> dict[str, Any]:
    """One point, unless smaller ones of its curve took too long."""
    curve = CURVES[name]
    over = {}
    for smaller in curve.sizes(quick):
        known = points.get(key_of(curve.function, smaller), {})
        if smaller[curve.along] < size[curve.along] and known.get("status") in ("limit", "error"):
            over[smaller[curve.along]] = known["reason"]
    # Few rows can be harder to learn from than many, so one point is no proof there.
    if len(over) >= (2 if curve.along == "n_samples" else 1):
        at, why = max(over.items())
        return {"status": "skipped", "reason": f"skipped: at {at:,} it {why}", "size": size}
    patient = replace(setting, limit=CURVE_LIMIT * setting.limit)
    return measure_point(curve.function, size, curve.small, patient)


def _keep(file: Path | None, document: dict[str, Any], quick: bool) -> dict[str, Any]:
    # In the order of the table, whatever was measured first.
    ranks = {name: rank for rank, name in enumerate(WORKS)}
    works = sorted(document["works"].items(), key=lambda item: ranks.get(item[0].split()[0], 0))
    document["works"] = dict(works)
    document["curves"] = summarise(document["points"], quick=quick)
    if file is not None:
        text = json.dumps(_finite(document), indent=1, ensure_ascii=False, allow_nan=False)
        write_whole(file, text.encode() + b"\n", overwrite=True)
    return document


def _finite(node: Any) -> Any:
    """JSON has no infinities: a difference that cannot be measured is none."""
    if isinstance(node, dict):
        return {name: _finite(value) for name, value in node.items()}
    if isinstance(node, list):
        return [_finite(value) for value in node]
    return None if isinstance(node, float) and node in (float("inf"), float("-inf")) else node
