"""One work done by all who can, in one run: the same answer first, then times, in turn."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.peers.process import ContenderError, Process
from benchmarks.peers.table import PEERS, Peer, reasons
from benchmarks.peers.works import WORKS, Work, agreement

__all__ = ["Setting", "measure_imports", "measure_point", "measure_work"]

_PATIENCE = 120.0
"""Seconds for what is not timed: starting, compiling, putting inputs into a contender's form."""


@dataclass(frozen=True)
class Setting:
    """How everything is measured.

    Attributes
    ----------
    python : str
        The interpreter of the peers.
    limit : float
        Seconds that one run may take.
    rounds : int
        Runs, of which the best counts; fewer where they would take more than `limit` together.
    memory : int
        Bytes that a process may ask for; 0 for no limit.

    Examples
    --------
    >>> Setting().limit, Setting().rounds
    (10.0, 5)
    """

    python: str = sys.executable
    limit: float = 10.0
    rounds: int = 5
    memory: int = 0

    def start(self, peer: Peer | None = None) -> Process:
        """A process of the peer's interpreter, or of ours."""
        ours = peer is None or peer.ours
        return Process(sys.executable if ours else self.python, memory=self.memory)


def measure_imports(setting: Setting, names: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Version, time and memory of importing contenders; the reason where one is absent.

    Examples
    --------
    >>> measure_imports(Setting(rounds=1), ["choquet"])["choquet"]["status"]
    'ok'
    """
    known = reasons(setting.python)
    found: dict[str, dict[str, Any]] = {}
    asked = {name: PEERS[name] for name in names}
    for turn in range(setting.rounds):
        for name, peer in asked.items():
            if turn and found[name]["status"] != "ok":
                continue
            try:
                with setting.start(peer) as process:
                    reply = process.ask(
                        _PATIENCE, do="import", module=peer.module, package=peer.package
                    )
            except ContenderError as error:
                why = known.get(name) or _absence(str(error))
                found[name] = {"status": "absent", "reason": why, "version": ""}
                continue
            before = found.get(name, reply)
            found[name] = {
                "status": "ok",
                "version": reply["version"],
                "seconds": min(reply["seconds"], before["seconds"]),
                "memory": reply["memory"],
            }
    return found


def _absence(reason: str) -> str:
    missing = reason.startswith("ModuleNotFoundError")
    return "not installed in the peers' environment" if missing else reason


def measure_work(
    name: str, size: tuple[int, ...], peers: Mapping[str, Mapping[str, Any]], setting: Setting
) -> dict[str, Any]:
    """One work of one size by everyone who does it.

    Parameters
    ----------
    name, size
        Of `WORKS`.
    peers : mapping
        What `measure_imports` found.
    setting : Setting

    Returns
    -------
    dict
        "title", "note", and "rows": for each contender "status" (ok, differs, limit, error or
        absent), "seconds", "ratio", "memory", "difference", "warm_up", "rounds", "reason".

    Examples
    --------
    >>> peers = dict.fromkeys(PEERS, {"status": "absent", "reason": "not asked", "version": ""})
    >>> peers["choquet"] = {"status": "ok", "version": ""}
    >>> rows = measure_work("shapley", (4,), peers, Setting(rounds=1))["rows"]
    >>> rows[0]["ratio"], rows[1]["reason"]
    (1.0, 'not asked')
    """
    work = WORKS[name]
    doing = {who: peer for who, peer in PEERS.items() if name in peer.works}
    rows: dict[str, dict[str, Any]] = {}
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        place = Path(folder)
        for label, which in (("small", work.small), ("full", size)):
            np.savez(place / f"{label}.npz", allow_pickle=False, **work.inputs(*which))
        running: dict[str, Process] = {}
        for who, peer in doing.items():
            if peers[who]["status"] != "ok":
                rows[who] = {"status": "absent", "reason": peers[who]["reason"]}
                continue
            try:
                process = stack.enter_context(setting.start(peer))
                rows[who] = _first(process, name, peer, place, setting.limit)
                running[who] = process
            except ContenderError as error:
                rows[who] = {"status": error.status, "reason": str(error)}
        _compare(work, rows, place, doing)
        _take_turns(running, rows, setting)
    _set_ratios(rows)
    for who, row in rows.items():
        row["contender"], row["version"] = who, peers[who]["version"]
    return {"title": work.titled(size), "note": work.note, "rows": list(rows.values())}


def _first(process: Process, name: str, peer: Peer, place: Path, limit: float) -> dict[str, Any]:
    loaded = process.ask(
        _PATIENCE,
        do="load",
        file=str(peer.path),
        function=name,
        small=str(place / "small.npz"),
        full=str(place / "full.npz"),
    )
    first = process.ask(limit, do="run")
    process.ask(_PATIENCE, do="answer", file=str(place / f"{peer.file}.npy"))
    return {
        "status": "ok",
        "warm_up": loaded["warm_up"],
        "memory": first["memory"],
        "rounds": [first["seconds"]],
    }


def _compare(
    work: Work, rows: dict[str, dict[str, Any]], place: Path, doing: Mapping[str, Peer]
) -> None:
    """Times are believed only of those whose answer is that of the first who gave one."""
    reference = None
    for who, row in rows.items():
        if row["status"] != "ok":
            continue
        answer = np.load(place / f"{doing[who].file}.npy", allow_pickle=False)
        if reference is None:
            reference = answer
        row["difference"] = agreement(work, reference, answer)
        if not row["difference"] <= work.tolerance:
            row["status"] = "differs"
            row["reason"] = f"another answer: differs by {row['difference']:.2g}"


def _take_turns(
    running: Mapping[str, Process], rows: dict[str, dict[str, Any]], setting: Setting
) -> None:
    """Round after round everyone once, so that a busy moment of the machine hits all alike."""
    for _ in range(1, setting.rounds):
        for who, process in running.items():
            times = rows[who]["rounds"]
            if rows[who]["status"] not in ("ok", "differs") or sum(times) > setting.limit:
                continue
            try:
                times.append(process.ask(2 * setting.limit + _PATIENCE, do="run")["seconds"])
            except ContenderError as error:
                rows[who] |= {"status": error.status, "reason": str(error)}


def _set_ratios(rows: dict[str, dict[str, Any]]) -> None:
    for row in rows.values():
        if row.get("rounds"):
            row["seconds"] = min(row["rounds"])
    ours = rows[next(iter(PEERS))].get("seconds")
    for row in rows.values():
        if ours and row["status"] == "ok":
            row["ratio"] = row["seconds"] / ours


def measure_point(
    function: str, size: Mapping[str, int], small: Mapping[str, int], setting: Setting
) -> dict[str, Any]:
    """Time and memory of one of our tasks at one size, in a process of its own.

    Examples
    --------
    >>> point = measure_point("shapley", {"n_sources": 4}, {"n_sources": 3}, Setting(rounds=1))
    >>> point["status"], point["seconds"] > 0
    ('ok', True)
    """
    file = str(PEERS["choquet"].path.with_name("growth.py"))
    try:
        with setting.start() as process:
            loaded = process.ask(
                _PATIENCE, do="load", file=file, function=function, small=small, full=size
            )
            first = process.ask(setting.limit, do="run")
            times = [first["seconds"]]
            while len(times) < setting.rounds and sum(times) < 1.0:
                times.append(process.ask(setting.limit + _PATIENCE, do="run")["seconds"])
    except ContenderError as error:
        return {"status": error.status, "reason": str(error), "size": dict(size)}
    return {
        "status": "ok",
        "size": dict(size),
        "seconds": min(times),
        "rounds": times,
        "memory": first["memory"],
        "warm_up": loaded["warm_up"],
        "details": first["details"],
    }
