"""Cases, generators and hosts that batches of tests run: small real programs.

A host is a server in a session of its own that runs what a client hands it, as sshd does: nothing it starts belongs to
whoever runs the client, and what it starts has the client's input until that ends.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from opdev.bench.model import Case, CaseSpec, GeneratorSettings, Host, Slot

CASE = """\
import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return torch.relu(x)


def get_inputs():
    return [torch.randn(2, 3)]


def get_init_inputs():
    return []
"""
# Mode, operator, folder.  Modes may be several with + between them.
GENERATOR = """\
import json, os, pathlib, signal, subprocess, sys, time
modes, op, folder = sys.argv[1].split("+"), sys.argv[2], pathlib.Path(sys.argv[3])
here = pathlib.Path(__file__).parent
print("生成", op, os.environ["TILE_FWK_DEVICE_ID"], flush=True)
with open(here / "started", "a") as stream:
    stream.write(f"{op} {os.getpid()} {os.environ['TILE_FWK_DEVICE_ID']}\\n")
count = (here / "started").read_text().splitlines()
mine = sum(line.split()[0] == op for line in count)

def write(stages=7, status="completed"):
    for name in (f"{op}_impl.py", f"{op}_golden.py", f"test_{op}.py", f"{op}_pypto_impl.py", "SPEC.md"):
        (folder / name).write_text(f"# {op}\\n")
    state = {"current_stage": stages, "stage_status": {str(n): "completed" for n in range(1, stages + 1)}}
    if stages != 7:
        state["max_stage"] = stages
    state["stage_status"][str(stages)] = status
    (folder / ".orchestrator_state.json").write_text(json.dumps(state))

if "say" in modes:
    print(" ".join(sys.argv[4:]), flush=True)
if "orphan" in modes:
    child = subprocess.Popen(["sleep", "300"], start_new_session=True)
    (here / f"orphan-{op}").write_text(str(child.pid))
if "flood" in modes:
    block = b"x" * 999_999 + b"\\n"
    for _ in range(200):
        os.write(1, block)
    print("the end", flush=True)
if "stubborn" in modes:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
if "hang" in modes or ("once" in modes and mine == 1) or (here / f"hang-{op}").exists():
    (here / f"in-{op}").write_text(str(os.getpid()))
    time.sleep(300)
if "alone" in modes:
    # Whoever finds another one on its device fails.
    mark = here / f"device-{os.environ['TILE_FWK_DEVICE_ID']}"
    os.close(os.open(mark, os.O_CREAT | os.O_EXCL))
    time.sleep(0.1)
    mark.unlink()
if "gate" in modes:
    (here / f"at-{op}").touch()
    while not (here / f"go-{op}").exists():
        time.sleep(0.01)
if "eat" in modes:
    held = b"x" * 700_000_000
    (here / f"ate-{op}").touch()
    time.sleep(300)
if "write" in modes or "once" in modes:
    write()
if "pro" in modes:
    write(4)
if "failed" in modes:
    write(status="failed")
if "second" in modes:
    write(status="completed" if mine > 1 else "in_progress")
if "partly" in modes:
    (folder / f"{op}_impl.py").write_text("# half\\n")
sys.exit(3 if "bad" in modes else 0)
"""
_SERVER = """\
import socket, subprocess, sys, threading
listening = socket.socket(socket.AF_UNIX)
listening.bind(sys.argv[1])
listening.listen()

def serve(link):
    with link, link.makefile("rb") as words:
        size = int(words.readline())
        word = words.read(size).decode()
        child = subprocess.Popen(["sh", "-c", word], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd="/")
        def feed():
            try:
                while data := words.read1(65536):
                    child.stdin.write(data)
            except OSError:
                pass
            child.stdin.close()
        threading.Thread(target=feed, daemon=True).start()
        try:
            while data := child.stdout.read1(65536):
                link.sendall(b"O%d\\n" % len(data) + data)
        except OSError:
            pass
        try:
            link.sendall(b"X%d\\n" % child.wait())
        except OSError:
            pass

while True:
    link, _ = listening.accept()
    threading.Thread(target=serve, args=(link,), daemon=True).start()
"""
_CLIENT = """\
import os, socket, sys, threading
link = socket.socket(socket.AF_UNIX)
link.connect(sys.argv[1])
word = sys.argv[2].encode()
link.sendall(b"%d\\n" % len(word) + word)
def feed():
    while data := os.read(0, 65536):
        link.sendall(data)
    link.shutdown(socket.SHUT_WR)
threading.Thread(target=feed, daemon=True).start()
said = link.makefile("rb")
while True:
    head = said.readline()
    if head[:1] == b"O":
        sys.stdout.buffer.write(said.read(int(head[1:])))
        sys.stdout.flush()
    else:
        os._exit(int(head[1:] or b"255") & 255)
"""


def bench(folder: Path, count: int = 1, level: str = "level1") -> Path:
    """A folder of cases: ``level1/1_op1.py`` and so on."""
    (folder / level).mkdir(parents=True, exist_ok=True)
    for number in range(1, count + 1):
        (folder / level / f"{number}_op{number}.py").write_text(CASE, encoding="utf-8")
    return folder


def generator(folder: Path) -> str:
    """The program of ``GENERATOR`` in a folder of its own, where it notes whom it was started for."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "generate.py").write_text(GENERATOR, encoding="utf-8")
    return str(folder / "generate.py")


def command(program: str, mode: str, *more: str) -> tuple[str, ...]:
    return (sys.executable, program, mode, "{op}", "{folder}", *more)


def one_case(folder: Path) -> tuple[Case, CaseSpec]:
    path = bench(folder / "bench") / "level1" / "1_op1.py"
    case = Case("level1", "1_op1", "op1", str(path))
    return case, CaseSpec(case, CASE)


def settings(program: str, mode: str, *more: str, **values: object) -> GeneratorSettings:
    return GeneratorSettings(**{"command": command(program, mode, *more), "retry": 0, "timeout": 60.0, **values})  # type: ignore[arg-type]


def until(condition: Callable[[], object], seconds: float = 120.0) -> None:
    """Wait for something that must come."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not come"
        time.sleep(0.01)


def gone(pid: int) -> bool:
    """Whether a process has ended (nobody may have waited for it yet)."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[0]
    except OSError:
        return True
    return state == "Z"


@contextmanager
def host(folder: Path, *devices: int) -> Iterator[Host]:
    """Another host, reached by a client."""
    # The path of a socket is short.
    place = f"{tempfile.gettempdir()}/opdev-host-{os.getpid()}-{time.monotonic_ns()}"
    (folder / "server.py").write_text(_SERVER, encoding="utf-8")
    (folder / "client.py").write_text(_CLIENT, encoding="utf-8")
    plain = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8"}
    server = subprocess.Popen([sys.executable, str(folder / "server.py"), place], start_new_session=True, env=plain)
    try:
        until(lambda: os.path.exists(place))
        yield Host("node1", (sys.executable, str(folder / "client.py"), place), devices or (0,))
    finally:
        server.kill()
        server.wait()
        if os.path.exists(place):
            os.unlink(place)


HERE = Slot(Host(), 3)
