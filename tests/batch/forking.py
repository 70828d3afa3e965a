"""A Python that has imported torch and pypto before it is started: what takes seconds is done once for many short tests.

``serve SOCKET`` runs in the Python with the wheels and forks for every command it is sent; ``ask SOCKET -c CODE WORD…`` is
what is started in its place: it hands over its words, folder, environment and outputs, and ends as the fork does.  The fork
has run no code of any case or implementation.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import traceback
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path


def _serve(path: str) -> None:
    os.environ["TORCH_DEVICE_BACKEND_AUTOLOAD"] = "0"
    for name in ("numpy", "pypto.frontend.parser.entry", "torch.overrides", "torch.utils._python_dispatch"):
        import_module(name)
    server = socket.socket(socket.AF_UNIX)
    server.bind(path)
    server.listen(8)
    while True:
        link, _ = server.accept()
        data, ends, _, _ = socket.recv_fds(link, 1 << 20, 2)
        if not data:
            return
        child = os.fork()
        if not child:
            server.close()
            link.close()
            _become(json.loads(data), ends)
        for end in ends:
            os.close(end)
        # Whoever asked may be ended; then so is what it asked for.
        link.sendall(b"%d\n" % child)
        _, status = os.waitpid(child, 0)
        with suppress(OSError):
            link.sendall(b"%d\n" % os.waitstatus_to_exitcode(status))
        link.close()


def _become(asked: dict, ends: list[int]) -> None:
    status = 1
    try:
        os.dup2(ends[0], 1)
        os.dup2(ends[1], 2)
        os.chdir(asked["cwd"])
        os.environ.clear()
        os.environ.update(asked["env"])
        sys.path[0] = ""
        _, code, *words = asked["words"]
        sys.argv[:] = ["-c", *words]
        exec(compile(code, "<string>", "exec"), {"__name__": "__main__"})
        status = 0
    except SystemExit as error:
        status = error.code if isinstance(error.code, int) else 0 if error.code is None else 1
    except BaseException:  # noqa: BLE001 - a fork never comes back
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def _ask(path: str, words: list[str]) -> int:
    link = socket.socket(socket.AF_UNIX)
    link.connect(path)
    asked = {"words": words, "cwd": os.getcwd(), "env": dict(os.environ)}
    socket.send_fds(link, [json.dumps(asked).encode()], [1, 2])
    lines = link.makefile("r")
    child = int(lines.readline())
    signal.signal(signal.SIGTERM, lambda *_: os.kill(child, signal.SIGKILL))
    status = int(lines.readline())
    if status < 0:
        signal.signal(-status, signal.SIG_DFL)
        os.kill(os.getpid(), -status)
    return status


@contextmanager
def forking(python: str, folder: Path):
    """The path of a Python that forks from one with the wheels of ``python`` imported."""
    path = folder / "socket"
    serving = subprocess.Popen([python, __file__, "serve", str(path)])
    try:
        while not path.exists():
            assert serving.poll() is None, "the Python with the wheels does not import them"
            try:
                serving.wait(0.05)
            except subprocess.TimeoutExpired:
                continue
        script = folder / "python"
        script.write_text(f'#!/bin/sh\nexec {sys.executable} -I -S {__file__} ask {path} "$@"\n')
        script.chmod(0o755)
        yield str(script)
    finally:
        serving.kill()
        serving.wait()


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        _serve(sys.argv[2])
    else:
        sys.exit(_ask(sys.argv[2], sys.argv[3:]))
