"""Files are replaced whole; what is no file is written to and stays what it is, also for root."""

from __future__ import annotations

import os
import stat
import threading

import pytest

from opdev.atomic import write_bytes


def test_a_file_is_replaced_with_its_mode(tmp_path):
    path = tmp_path / "a"
    path.write_text("old")
    path.chmod(0o640)
    before = path.stat().st_ino

    write_bytes(str(path), b"new")

    assert (path.read_bytes(), stat.S_IMODE(path.stat().st_mode), path.stat().st_ino != before) == (b"new", 0o640, True)
    assert os.listdir(tmp_path) == ["a"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names")
@pytest.mark.parametrize("linked", [False, True])
def test_a_pipe_stays_a_pipe(tmp_path, linked):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    (tmp_path / "link").symlink_to(path)
    found = []
    reader = threading.Thread(target=lambda: found.append(path.read_bytes()))
    reader.start()

    write_bytes(str(tmp_path / "link" if linked else path), b"one")
    reader.join(60)

    assert found == [b"one"]
    assert stat.S_ISFIFO(path.stat().st_mode)


@pytest.mark.skipif(os.name != "posix", reason="no such device")
def test_a_device_stays_a_device():
    write_bytes(os.devnull, b"x")

    assert stat.S_ISCHR(os.stat(os.devnull).st_mode)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no such device")
def test_a_device_that_takes_nothing_is_an_error():
    with pytest.raises(OSError, match="No space"):
        write_bytes("/dev/full", b"x")
    assert stat.S_ISCHR(os.stat("/dev/full").st_mode)


def test_a_folder_is_an_error_and_stays(tmp_path):
    (tmp_path / "f").mkdir()
    with pytest.raises(OSError, match="directory"):
        write_bytes(str(tmp_path / "f"), b"x")
    assert os.listdir(tmp_path) == ["f"]
