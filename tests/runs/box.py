"""A real container without a network and without a download: this machine's programs, read-only, around an empty root.

OPDEV_TEST_ENGINE names another engine (an argv prefix); its images and containers are then that engine's own.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from needed import lacking

import opdev

INNER = "/mnt/repo"
NO_CONTAINERS = "OPDEV_NO_CONTAINERS"
"""Names the environment's word for leaving containers out: its value is the reason, and stands in the summary."""
_FOLDERS = ("usr", "etc", "proc", "sys", "dev", "tmp", "run", "var/tmp", "root", "opt", "mnt")


@dataclass(frozen=True)
class Box:
    """A container that runs: ``folder`` of this machine is INNER inside."""

    engine: tuple[str, ...]
    name: str
    folder: Path

    @property
    def mounts(self):
        return ((str(self.folder), INNER),)

    def inside(self, *words):
        return subprocess.run([*self.engine, "exec", self.name, *words], capture_output=True, text=True, check=False)

    def processes(self):
        """The command lines of all that runs inside, the container's own first process and this look apart."""
        said = self.inside("bash", "-c", "for p in /proc/[0-9]*; do tr '\\0' ' ' <$p/cmdline; echo; done").stdout
        return [line for line in said.splitlines() if line.strip() and "for p in /proc" not in line and line.split() != ["sleep", "3600"] and not line.startswith("tr ")]  # fmt: skip


def _engine(store: Path, state: str) -> tuple[str, ...]:
    given = os.environ.get("OPDEV_TEST_ENGINE")
    if given:
        return tuple(given.split())
    if shutil.which("podman") is None:
        lacking("podman", "apt-get install podman runc, or name an engine in OPDEV_TEST_ENGINE")
    runtime = ["--runtime", "runc"] if shutil.which("runc") else []
    return ("podman", "--root", f"{store}/storage", "--runroot", state, *runtime, "--storage-driver=vfs", "--cgroup-manager=cgroupfs", "--events-backend=file")  # fmt: skip


def _root(folder: Path) -> None:
    for name in _FOLDERS:
        (folder / name).mkdir(parents=True)
    for name in ("bin", "sbin", "lib", "lib64"):
        here = Path("/", name)
        if here.is_symlink():
            (folder / name).symlink_to(os.readlink(here))
    for name in ("passwd", "group", "ld.so.cache", "ld.so.conf", "profile"):
        if Path("/etc", name).is_file():
            shutil.copy(Path("/etc", name), folder / "etc" / name)
    if Path("/etc/alternatives").is_dir():
        shutil.copytree("/etc/alternatives", folder / "etc" / "alternatives", symlinks=True)


def _no_namespaces() -> str:
    """What the kernel says to a process that wants namespaces of its own; empty where it gives them."""
    flags = "0x20000 | 0x20000000 | 0x40000000"  # mount, pid, net; and user where one is not root
    code = (
        f"import ctypes, os, sys; flags = {flags} | (0 if os.geteuid() == 0 else 0x10000000);"
        "libc = ctypes.CDLL(None, use_errno=True);"
        "sys.exit(libc.unshare(flags) and 'unshare: ' + os.strerror(ctypes.get_errno()))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    return done.stderr.strip()[-200:] if done.returncode else ""


@contextmanager
def box(work: Path, cache: str) -> Iterator[Box]:
    """A container with this Python, this package and the cache at their own paths; where none can be started CI fails."""
    if reason := os.environ.get(NO_CONTAINERS):
        pytest.skip(f"{NO_CONTAINERS}: {reason}")
    if not Path("/bin").is_symlink():
        lacking("a system whose programs all lie in /usr", f"the test's image is made of it; {NO_CONTAINERS}=REASON leaves containers out")  # fmt: skip
    # Podman takes no longer path than 50 characters for its state.
    state = tempfile.mkdtemp(prefix="opdev-")
    engine, name = _engine(work / "store", state), f"opdev-test-{uuid.uuid4().hex[:12]}"
    _root(work / "root")
    folder = work / "mounted"
    folder.mkdir()
    same = {
        sys.prefix,
        sys.base_prefix,
        str(Path(opdev.__file__).parents[1]),
        str(Path(sys.executable).resolve().parents[1]),
    }
    mounts = [f"{path}:{path}:ro" for path in sorted(same) if not path.startswith("/usr/")]
    # What is compiled stands in a folder that the workers of a session share.
    places = {cache, os.path.realpath(f"{cache}/sim")}
    mounts += ["/usr:/usr:ro", *[f"{place}:{place}" for place in sorted(places)], f"{folder}:{INNER}"]
    Path(cache).mkdir(parents=True, exist_ok=True)
    with subprocess.Popen(["tar", "-C", str(work / "root"), "-c", "."], stdout=subprocess.PIPE) as tar:
        made = subprocess.run(
            [*engine, "import", "-", name], stdin=tar.stdout, capture_output=True, text=True, check=False
        )
    limits = ["--ulimit", "nofile=1024:1024", "--ulimit", "nproc=4096:4096"]
    up = [*engine, "run", "-d", "--name", name, "--network=none", "-e", f"PYTHONPATH={Path(opdev.__file__).parents[1]}", *limits, *[word for one in mounts for word in ("-v", one)], name, "sleep", "3600"]  # fmt: skip
    done = subprocess.run(up, capture_output=True, text=True, check=False) if made.returncode == 0 else made
    try:
        if done.returncode:
            refused = _no_namespaces()
            why = f"this kernel lets no container be started ({refused})" if refused else done.stderr.strip()[-300:]
            lacking(
                f"a container that starts ({why})", f"mend it, or say {NO_CONTAINERS}=REASON to leave containers out"
            )
        yield Box(engine, name, folder)
    finally:
        subprocess.run([*engine, "rm", "-f", "-t", "0", name], capture_output=True, check=False)
        subprocess.run([*engine, "rmi", "-f", name], capture_output=True, check=False)
        shutil.rmtree(state, ignore_errors=True)
