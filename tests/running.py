"""Exported files run where they are meant to run: databases, Node, a C compiler, onnxruntime."""

from __future__ import annotations

import csv
import ctypes
import io
import json
import math
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from contextlib import closing, contextmanager
from functools import cache
from pathlib import Path

import numpy as np
import pytest

NAMES = ("output", "operator", "supported")


def quoted(name):
    return '"' + str(name).replace('"', '""') + '"'


def cells(rows):
    """Rows as a database takes them: what is missing is None."""
    return [
        tuple(None if v is None or v != v else v for v in row)
        for row in (rows.tolist() if hasattr(rows, "tolist") else rows)
    ]


def types_of(rows):
    return [
        "TEXT" if any(isinstance(row[i], str) for row in rows) else "DOUBLE PRECISION"
        for i in range(len(rows[0]))
    ]


def create(names, rows, table="data"):
    columns = ", ".join(f"{quoted(n)} {t}" for n, t in zip(names, types_of(rows), strict=True))
    return f"CREATE TABLE {quoted(table)} ({columns})"


def as_columns(names, rows):
    """Answers by column, NaN where there is none."""
    found = {}
    for k, name in enumerate(names):
        column = [row[k] for row in rows]
        found[name] = np.array([math.nan if v is None else float(v) for v in column])
    return found


def in_sqlite(sql, names, rows, table="data"):
    with closing(sqlite3.connect(":memory:")) as base:
        base.execute(create(names, rows, table))
        marks = ", ".join("?" * len(names))
        base.executemany(f"INSERT INTO {quoted(table)} VALUES ({marks})", rows)
        found = base.execute(sql)
        return as_columns([one[0] for one in found.description], found.fetchall())


def in_duckdb(sql, names, rows, table="data"):
    duckdb = pytest.importorskip("duckdb")
    with closing(duckdb.connect(":memory:")) as base:
        base.execute("SET threads = 1")
        base.execute(create(names, rows, table))
        marks = ", ".join("?" * len(names))
        base.executemany(f"INSERT INTO {quoted(table)} VALUES ({marks})", rows)
        found = base.execute(sql)
        return as_columns([one[0] for one in found.description], found.fetchall())


def postgres_programs():
    """Folder of the programs of a PostgreSQL server, or None."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), reverse=True)
    beside = shutil.which("initdb")
    return found[0].parent if found else None if beside is None else Path(beside).parent


def unprivileged():
    """Options that start a process as nobody, because no PostgreSQL server runs as root."""
    if os.name != "posix" or os.getuid() != 0:
        return {}
    import pwd

    user = pwd.getpwnam("postgres" if _known("postgres") else "nobody")
    return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}


def _known(name):
    import pwd

    try:
        return bool(pwd.getpwnam(name))
    except KeyError:
        return False


@contextmanager
def postgres_server():
    """A server of this machine alone, in a temporary folder, without a port."""
    programs = postgres_programs()
    if programs is None:
        pytest.skip("no PostgreSQL server is installed: apt-get install postgresql")
    options = {**unprivileged(), "cwd": "/", "capture_output": True, "text": True}
    with tempfile.TemporaryDirectory(prefix="choquet-pg-") as folder:
        if options.get("user") is not None:
            os.chown(folder, options["user"], options["group"])
        data = f"{folder}/data"
        made = subprocess.run(
            [programs / "initdb", "-D", data, "-U", "tester", "-A", "trust", "--no-sync",
             "-E", "UTF8", "--locale=C"],
            **options,
        )  # fmt: skip
        if made.returncode:
            pytest.skip(f"no PostgreSQL server could be made: {made.stderr.strip()[-300:]}")
        settings = (
            f"-c listen_addresses='' -c unix_socket_directories={folder} -c fsync=off "
            "-c shared_buffers=16MB -c max_connections=8"
        )
        control = [programs / "pg_ctl", "-D", data, "-w", "-t", "60", "-l", f"{folder}/log"]
        started = subprocess.run([*control, "-o", settings, "start"], **options)
        if started.returncode:
            pytest.skip(f"no PostgreSQL server could be started: {started.stdout[-300:]}")
        try:
            yield f"host={folder} user=tester dbname=postgres"
        finally:
            subprocess.run([*control, "-m", "immediate", "stop"], **options)


def in_postgres(server, sql, names, rows, table="data"):
    """The server's own client: it needs no driver, and speaks CSV both ways."""
    given = io.StringIO()
    writer = csv.writer(given, lineterminator="\n")
    writer.writerows(["null" if cell is None else cell for cell in row] for row in rows)
    lines = (
        create(names, rows, table).replace("CREATE TABLE", "CREATE TEMP TABLE") + ";",
        f"COPY {quoted(table)} FROM STDIN WITH (FORMAT csv, NULL 'null');",
        given.getvalue() + "\\.",
        sql.rstrip().rstrip(";") + ";",
    )
    done = subprocess.run(
        [postgres_programs() / "psql", "-X", "-q", "--csv", "-v", "ON_ERROR_STOP=1", server],
        input="\n".join(lines), capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    head, *found = csv.reader(io.StringIO(done.stdout))
    return as_columns(head, [[_number(cell) for cell in row] for row in found])


def _number(cell):
    return {"": None, "t": 1.0, "f": 0.0}.get(cell, cell)


def in_node(path, rows):
    """What each function of a module gives for rows."""
    if shutil.which("node") is None:
        pytest.skip("node is not installed")
    script = """
        import { readFileSync } from "node:fs";
        const model = await import(process.argv[1]);
        const rows = JSON.parse(readFileSync(0, "utf8"));
        const shown = (v) => (Array.isArray(v) ? v.map(shown) : Number.isNaN(v) ? null : v);
        const found = {};
        for (const [name, work] of Object.entries(model))
          found[name] = typeof work === "function" ? rows.map((row) => shown(work(row))) : work;
        console.log(JSON.stringify(found));
    """
    done = subprocess.run(
        ["node", "--input-type=module", "-e", script, Path(path).absolute().as_uri()],
        input=json.dumps(rows).replace("Infinity", "1e999"),
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        raise RuntimeError(done.stderr)
    found = json.loads(done.stdout)
    names = {"predict": "output", "operator": "operator", "supported": "supported"}
    answers = {
        names[key]: np.array([math.nan if v is None else float(v) for v in found[key]])
        for key in names
    }
    if "interval" in found:
        ends = np.array(found["interval"], dtype=float)
        answers |= {"low": ends[:, 0], "high": ends[:, 1]}
    if "probabilities" in found:
        shares = np.array(found["probabilities"], dtype=float)
        answers |= {f"p{k}": shares[:, k] for k in range(shares.shape[1])}
    return answers


def compiled(path):
    """A C file as a library of this process; warnings are errors."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("no C compiler is installed")
    library = Path(path).with_suffix(".so")
    words = ["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", "-O1", "-shared", "-fPIC"]
    done = subprocess.run(
        [compiler, *words, str(path), "-o", str(library), "-lm"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return ctypes.CDLL(str(library))


def in_c(path, X, n_classes=0):
    library = compiled(path)
    pointer = ctypes.POINTER(ctypes.c_double)
    X = np.ascontiguousarray(X, dtype=np.float64)
    rows = [row.ctypes.data_as(pointer) for row in X]
    found = {}
    for name, symbol, kind in (
        ("output", "choquet_predict", ctypes.c_double),
        ("operator", "choquet_operator", ctypes.c_int),
        ("supported", "choquet_supported", ctypes.c_int),
    ):
        work = getattr(library, symbol)
        work.restype, work.argtypes = kind, [pointer]
        found[name] = np.array([float(work(row)) for row in rows])
    if hasattr(library, "choquet_interval"):
        low, high, ends = ctypes.c_double(), ctypes.c_double(), []
        for row in rows:
            library.choquet_interval(row, ctypes.byref(low), ctypes.byref(high))
            ends.append((low.value, high.value))
        found |= {"low": np.array(ends)[:, 0], "high": np.array(ends)[:, 1]}
    if n_classes:
        shares = np.empty((len(X), n_classes))
        for row, share in zip(rows, shares, strict=True):
            library.choquet_probabilities(row, share.ctypes.data_as(pointer))
        found |= {f"p{k}": shares[:, k] for k in range(n_classes)}
    return found


def in_onnx(path, X, dtype=np.float64):
    runtime = pytest.importorskip("onnxruntime")
    options = runtime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = runtime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    names = [one.name for one in session.get_outputs()]
    answers = session.run(names, {"X": np.asarray(X, dtype=dtype)})
    return dict(zip(names, (a.astype(np.float64) for a in answers), strict=True))


@cache
def has_java():
    """Whether Spark can run here: Java 17 or newer, and pyspark."""
    if shutil.which("java") is None:
        return False
    done = subprocess.run(["java", "-version"], capture_output=True, text=True, check=False)
    return done.returncode == 0 and sys.platform != "win32"
