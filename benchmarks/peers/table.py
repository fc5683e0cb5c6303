"""The table of contenders, and the environment in which the peers live."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from benchmarks.peers.works import WORKS
from choquet.errors import FileError
from choquet.files import write_whole

__all__ = ["PEERS", "Peer", "install_peers", "peers_python", "reasons"]

_REASONS = "choquet-peers.json"
_SECONDS = 900


@dataclass(frozen=True)
class Peer:
    """One row of the table.

    Attributes
    ----------
    module, package : str
        What is imported, and what is installed.
    file : str
        The module of `benchmarks.peers.contenders` that uses it.
    works : tuple of str
        Those of `WORKS` that it does.
    steps : tuple of tuple of str
        Arguments of pip, call after call; those of the package alone by default.
    environment : mapping
        Variables that its build needs.
    ours : bool
        Whether it is measured in our own interpreter.
    note : str
        What a reader of the table must know.

    Examples
    --------
    >>> PEERS["shapiq"].works, PEERS["shapiq"].installing
    (('mobius', 'shapley', 'interaction'), (('shapiq',),))
    """

    module: str
    package: str
    file: str
    works: tuple[str, ...]
    steps: tuple[tuple[str, ...], ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    ours: bool = False
    note: str = ""

    @property
    def path(self) -> Path:
        """The file that uses the package."""
        return Path(__file__).with_name("contenders") / f"{self.file}.py"

    @property
    def installing(self) -> tuple[tuple[str, ...], ...]:
        """Arguments of pip."""
        return self.steps or ((self.package,),)


PEERS: Mapping[str, Peer] = MappingProxyType(
    {
        "choquet": Peer("choquet", "choquet", "ours", tuple(WORKS), ours=True),
        "NumPy or plain Python": Peer(
            "numpy", "numpy", "plain",
            ("choquet", "mobius", "walks", "graph", "random", "statistics"), ours=True,
            note="what one writes without a library",
        ),
        "choquet, averaged": Peer("choquet", "choquet", "averaged", ("fit_table",), ours=True),
        "choquet, contexts": Peer(
            "choquet", "choquet", "contexts", ("fit_classes", "fit_table"), ours=True
        ),
        "SciPy": Peer("scipy", "scipy", "with_scipy", ("learn", "absolute", "ivat", "mst")),
        "scikit-learn": Peer(
            "sklearn", "scikit-learn", "with_sklearn",
            ("fit_classes", "fit_table", "mst"),
        ),
        "cvxpy": Peer("cvxpy", "cvxpy", "with_cvxpy", ("learn", "learn_2_additive", "absolute")),
        "pyfmtools": Peer(
            "pyfmtools", "pyfmtools", "with_pyfmtools",
            ("choquet", "mobius", "shapley", "interaction", "walks", "random", "absolute"),
            environment={"CXXFLAGS": "-include cstring"},
            note="its source needs `<cstring>` forced in",
        ),
        "mcda": Peer(
            "mcda", "mcda", "with_mcda", ("choquet", "mobius", "shapley", "interaction")
        ),
        "shapiq": Peer("shapiq", "shapiq", "with_shapiq", ("mobius", "shapley", "interaction")),
        "tucoopy": Peer("tucoopy", "tucoopy", "with_tucoopy", ("mobius", "shapley")),
        "pytorch-lattice": Peer(
            "pytorch_lattice", "pytorch-lattice", "with_pytorch_lattice", ("choquet",),
            # It asks for NumPy 1 but works with 2; a build of torch without CUDA, or none.
            steps=(
                ("torch==2.13.0+cpu",),
                ("pandas", "pydantic", "tqdm", "matplotlib"),
                ("--no-deps", "pytorch-lattice"),
            ),
            note="needs torch, of which only a build without CUDA is tried",
        ),
        "pyclustertend": Peer(
            "pyclustertend", "pyclustertend", "with_pyclustertend", ("vat", "ivat")
        ),
        "interpret": Peer(
            "interpret", "interpret-core", "with_interpret", ("fit_classes", "fit_table"),
            note="explainable boosting machines",
        ),
        "quitefastmst": Peer("quitefastmst", "quitefastmst", "with_quitefastmst", ("mst",)),
    }
)  # fmt: skip
"""Contenders by name. The first is the one that the others are compared with."""


def peers_python(folder: Path) -> Path:
    """The interpreter of an environment.

    Examples
    --------
    >>> peers_python(Path("env")).parts[0]
    'env'
    """
    return folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def install_peers(folder: Path, *, tell: Callable[[str], None] = lambda _: None) -> Path:
    """Make an environment of the peers' own, or complete it, and return its interpreter.

    What cannot be installed is no error: the reason is kept in the environment, for the table.

    Raises
    ------
    FileError
        If there can be no environment at all.

    Examples
    --------
    >>> install_peers(Path("peers"))  # doctest: +SKIP
    PosixPath('peers/bin/python')
    """
    python = peers_python(folder)
    if not _has_pip(python):
        tell("environment")
        made = subprocess.run(
            [sys.executable, "-m", "venv", str(folder)], capture_output=True, text=True, check=False
        )
        if made.returncode:
            why = _reason(made.stdout + made.stderr)
            raise FileError(f"cannot make the environment {folder}: {why}")
    failed: dict[str, str] = {}
    for name, peer in PEERS.items():
        if peer.ours:
            continue
        tell(name)
        reason = _install(python, peer)
        if reason:
            failed[name] = reason
    write_whole(folder / _REASONS, json.dumps(failed, indent=1).encode() + b"\n", overwrite=True)
    return python


def _has_pip(python: Path) -> bool:
    """Whether the environment is there and whole: making it may have been stopped half-way."""
    if not python.exists():
        return False
    command = [str(python), "-m", "pip", "--version"]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def _install(python: Path, peer: Peer) -> str:
    for step in peer.installing:
        command = [str(python), "-m", "pip", "--disable-pip-version-check", "install", *step]
        try:
            done = subprocess.run(
                command,
                capture_output=True,
                text=True,
                check=False,
                timeout=_SECONDS,
                env=dict(os.environ, **peer.environment),
            )
        except subprocess.TimeoutExpired:
            return f"pip install {' '.join(step)}: took more than {_SECONDS} s"
        if done.returncode:
            return f"pip install {' '.join(step)}: {_reason(done.stderr)}"
    return ""


def _reason(text: str) -> str:
    r"""The line of a long complaint that says why: the last error, else the last line.

    Examples
    --------
    >>> _reason("trying\nERROR: No matching distribution found for nothing\nnote: sorry")
    'No matching distribution found for nothing'
    """
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    errors = [line for line in lines if "error" in line.lower()] or lines
    return errors[-1].removeprefix("ERROR: ")[:200] if errors else "no reason given"


def reasons(python: str) -> dict[str, str]:
    """Why peers are absent from the environment of an interpreter, as `install_peers` left it.

    Examples
    --------
    >>> reasons("no/such/environment/bin/python")
    {}
    """
    try:
        kept = json.loads((Path(python).parent.parent / _REASONS).read_bytes())
    except (OSError, ValueError):
        return {}
    return {str(name): str(why) for name, why in kept.items()} if isinstance(kept, dict) else {}
