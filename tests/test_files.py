"""Files are written whole, where links lead, and nothing that is no file is touched."""

from __future__ import annotations

import errno
import os
import signal
import socket
import stat
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

import choquet
from choquet import Measure, load, save
from choquet.errors import FileError, TooLargeError
from choquet.files import append_whole, check_target, open_file, read_whole, write_whole, writing

posix = pytest.mark.skipif(os.name != "posix", reason="links, pipes and modes are POSIX's")


@pytest.fixture
def special(tmp_path):
    """A FIFO and a socket of our own, and a folder."""
    os.mkfifo(tmp_path / "fifo")
    # The names of sockets are short: made by a relative one.
    here = os.getcwd()
    os.chdir(tmp_path)
    try:
        with socket.socket(socket.AF_UNIX) as made:
            made.bind("socket")
    finally:
        os.chdir(here)
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "fifo")
    return tmp_path


SPECIAL = {"fifo": "a pipe", "socket": "a socket", "folder": "a folder", "link": "a pipe"}


@posix
@pytest.mark.parametrize(("name", "kind"), SPECIAL.items())
def test_what_is_no_file_is_neither_written_nor_read(special, name, kind):
    path = special / name
    before = os.lstat(path)
    for overwrite in (False, True):
        with pytest.raises(FileError, match=f"is {kind}"):
            write_whole(path, b"x", overwrite=overwrite)
        with pytest.raises(FileError, match=f"is {kind}"):
            save(Measure([0, 1]), path, overwrite=overwrite)
    for read in (load, read_whole, lambda p: append_whole(p, b"x")):
        with pytest.raises(FileError, match=f"is {kind}"):
            read(path)
    after = os.lstat(path)
    assert (before.st_ino, before.st_mode) == (after.st_ino, after.st_mode)
    assert len(list(special.iterdir())) == 4


@posix
def test_a_pipe_that_takes_the_place_of_a_file_is_not_waited_for(tmp_path, monkeypatch):
    regular = write_whole(tmp_path / "a", b"x")
    os.mkfifo(tmp_path / "b")
    looked = os.stat
    monkeypatch.setattr(os, "stat", lambda path, **options: looked(regular, **options))
    with pytest.raises(FileError, match="is a pipe"), open_file(tmp_path / "b"):
        pass


@posix
def test_links_stay_and_lead_to_the_file(tmp_path):
    (tmp_path / "there").mkdir()
    target, link = tmp_path / "there" / "g.json", tmp_path / "link.json"
    link.symlink_to("there/g.json")
    save(Measure([0, 1], ["first"]), link)  # it led nowhere: the file is made
    assert link.is_symlink()
    assert not target.is_symlink()
    with pytest.raises(FileError, match="exists"):
        save(Measure([0, 1], ["second"]), link)
    save(Measure([0, 1], ["second"]), link, overwrite=True)
    assert link.is_symlink()
    assert load(target).sources == ("second",)
    assert os.listdir(tmp_path / "there") == ["g.json"]
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    with pytest.raises(FileError, match="cannot write"):
        write_whole(loop, b"x", overwrite=True)


@posix
def test_modes_are_kept_and_new_files_get_the_usual_one(tmp_path):
    def mode(path):
        return stat.S_IMODE(path.stat().st_mode)

    path = write_whole(tmp_path / "a", b"1")
    usual = tmp_path / "usual"
    usual.touch()
    assert mode(path) == mode(usual)
    for wanted in (0o600, 0o640, 0o444, 0o777):
        path.chmod(wanted)
        write_whole(path, b"2", overwrite=True)
        assert mode(path) == wanted


@posix
def test_the_umask_is_not_touched(tmp_path, monkeypatch):
    # It belongs to the whole process: another thread would make files that anyone may write.
    monkeypatch.setattr(os, "umask", lambda mask: pytest.fail("umask was set"))
    write_whole(tmp_path / "a", b"1")


def winners(folder, n):
    """How many of n writers of a new file, all ready to put it there, say that they did."""
    ready = threading.Barrier(n)

    def one(k):
        try:
            with writing(folder / "new") as stream:
                stream.write(b"%d" % k)
                ready.wait()
        except FileError as error:
            return str(error)
        return k

    with ThreadPoolExecutor(n) as pool:
        told = list(pool.map(one, range(n)))
    lost = [text for text in told if isinstance(text, str)]
    assert all("exists; choose another name" in text for text in lost)
    return [k for k in told if isinstance(k, int)]


@posix
@pytest.mark.parametrize("links", [True, False])
def test_of_several_writers_of_a_new_file_one_wins(tmp_path, monkeypatch, links):
    if not links:

        def no_links(*_, **__):
            raise OSError(errno.EPERM, "no links here")

        monkeypatch.setattr(os, "link", no_links)
    for k in range(10):
        folder = tmp_path / str(k)
        folder.mkdir()
        won = winners(folder, 4)
        assert len(won) == 1
        assert (folder / "new").read_bytes() == b"%d" % won[0]
        assert os.listdir(folder) == ["new"]


WRITER = """
import sys, time
from choquet.files import writing
with writing(sys.argv[1]) as stream:
    stream.write(b"half of it")
    stream.flush()
    print("here", flush=True)
    time.sleep(60)
"""


@posix
def test_what_killed_writers_left_goes_with_the_next_write(tmp_path):
    path = tmp_path / ("n" * 255)  # as long as names may be
    command = [sys.executable, "-c", WRITER, str(path)]
    with (
        subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as killed,
        subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as alive,
    ):
        try:
            assert killed.stdout.readline() == alive.stdout.readline() == "here\n"
            killed.send_signal(signal.SIGKILL)
            killed.wait()
            assert len(os.listdir(tmp_path)) == 2
            (tmp_path / ".choquet-notes.tmp").write_text("somebody's own")
            write_whole(tmp_path / "other", b"x")
            assert len(os.listdir(tmp_path)) == 4  # of another target
            write_whole(path, b"x")
            # The dead writer's file is gone, that of the living one and foreign ones are not.
            assert len(os.listdir(tmp_path)) == 4
        finally:
            alive.kill()
            alive.wait()
    write_whole(path, b"y", overwrite=True)
    assert sorted(os.listdir(tmp_path)) == [".choquet-notes.tmp", path.name, "other"]


@posix
def test_where_locks_do_not_work_age_decides(tmp_path, monkeypatch):
    import choquet.files as room

    def no_locks(*_, **__):
        raise OSError(errno.ENOLCK, "no locks here")

    monkeypatch.setattr(room, "_lock", no_locks)
    prefix = room._prefix(str(tmp_path / "a"))
    fresh, old = tmp_path / f"{prefix}1.tmp", tmp_path / f"{prefix}2.tmp"
    for left in (fresh, old):
        left.touch()
    os.utime(old, (1, 1))
    write_whole(tmp_path / "a", b"x")
    assert sorted(os.listdir(tmp_path)) == sorted([fresh.name, "a"])


def test_what_is_too_large_is_not_read(tmp_path):
    path = write_whole(tmp_path / "a", b"12345")
    assert read_whole(path, limit=5) == b"12345"
    with pytest.raises(TooLargeError, match="has 5 bytes; at most 4 are read"):
        read_whole(path, limit=4)
    with pytest.raises(FileError, match="cannot read"):
        read_whole("nul\0")
    with pytest.raises(FileError, match="cannot write"):
        check_target("nul\0")


def test_every_writer_of_the_package_goes_through_one_place():
    import ast
    from pathlib import Path

    # bench/ hands arrays to processes of its own, in a folder that is gone afterwards.
    scratch = {"bench/measure.py", "bench/worker.py"}
    calls = {"write_text", "write_bytes", "savez", "savez_compressed", "save", "tofile", "to_csv"}
    top, found = Path(choquet.__file__).parent, []
    for file in sorted(top.rglob("*.py")):
        name = file.relative_to(top).as_posix()
        if name == "files.py" or name in scratch:
            continue
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call):
                continue
            called = getattr(node.func, "attr", getattr(node.func, "id", ""))
            texts = [one.value for one in node.args if isinstance(one, ast.Constant)]
            opens = called in ("open", "fdopen") and any(
                isinstance(t, str) and set(t) & set("wax+") and set(t) <= set("rwabtx+")
                for t in texts
            )
            where = getattr(node.args[0], "id", "") if node.args else ""
            owner = getattr(getattr(node.func, "value", None), "id", "")
            # Our own `save` is such a place: it writes through files.py.
            ours = called == "save" and owner == ""
            memory = (
                ours or owner == "archive" or (called.startswith("savez") and where == "content")
            )
            if (opens or called in calls) and not memory:
                found.append(f"{name}:{node.lineno}: {called}")
    assert found == []


@pytest.mark.parametrize("ending", [".pdf", ".PDF", ".xlsx", ".docx"])
def test_formats_that_are_not_written_are_refused_by_name(tmp_path, ending):
    path = tmp_path / f"model{ending}"
    for write in (
        lambda: write_whole(path, b"{}"),
        lambda: choquet.save(choquet.OrderStatistic([1, 0]), path),
        lambda: choquet.export(choquet.Measure([0, 0.2, 0.3, 1]), path, to="sql"),
    ):
        with pytest.raises(FileError, match="files are not written"):
            write()
    assert not path.exists()


def test_no_file_is_left_where_writing_fails(tmp_path):
    def fails():
        with writing(tmp_path / "a") as stream:
            stream.write(b"half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fails()
    assert os.listdir(tmp_path) == []
