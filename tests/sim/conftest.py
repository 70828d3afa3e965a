"""The runtime's own programs, built once: tests run PEs of them as the operating system would."""

from __future__ import annotations

import fcntl
import os
import re
import subprocess
import uuid
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from needed import lacking

from opdev.sim.root import digest, sim_cache
from opdev.sim.root import root as make_root
from opdev.sim.tools import MissingToolError, find_tools

NATIVE = Path(__file__).parent / "native"
FLAGS = ("-std=c++17", "-O0", "-Wall", "-Wextra", "-Werror", "-pthread")
FIELD = re.compile(r"(\w+)=(\S+)")


@dataclass
class Outcome:
    """What the PEs of one run ended with: status and output by PE."""

    status: list[int]
    out: list[str]
    err: list[str]

    @property
    def said(self) -> str:
        return "".join(self.err)

    def lines(self, word: str) -> list[dict[str, str]]:
        """The machine lines that begin with ``word``, as fields."""
        found = [line for line in self.said.splitlines() if line.startswith(f"[SIM] {word}")]
        return [{**dict(FIELD.findall(line.split(" text=")[0])), "text": line.partition(" text=")[2]} for line in found]

    @property
    def faults(self) -> list[dict[str, str]]:
        return self.lines("fault=")


class Native:
    """The built program; ``environment`` are the variables all runs get."""

    def __init__(self, program: Path, environment: dict[str, str]) -> None:
        self.program = program
        self.environment = environment

    def start(self, case, how, pes=2, run=None, **environment):
        """The PEs as running processes."""
        given = {
            **os.environ, **self.environment, "OPDEV_SIM_RUN": run or uuid.uuid4().hex, "OPDEV_SIM_QUIET": "1",
            "OPDEV_SIM_NBI": "now", "OPDEV_SIM_TIMEOUT": "20", "OPDEV_SIM_LANG": "en", **environment,
        }  # fmt: skip
        return [
            subprocess.Popen(
                [str(self.program), case, how, str(pes), str(pe)], env=given, text=True, stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8",
            )
            for pe in range(pes)
        ]  # fmt: skip

    def run(self, case, how="clean", pes=2, **environment) -> Outcome:
        return self.end(self.start(case, how, pes, **environment))

    @staticmethod
    def end(processes, seconds=40) -> Outcome:
        """Waits for the PEs; those that do not end in time are ended and fail the test."""
        try:
            with ThreadPoolExecutor(len(processes)) as pool:
                said = list(pool.map(lambda p: p.communicate(timeout=seconds), processes))
        finally:
            for process in processes:
                if process.poll() is None:
                    process.kill()
                    process.wait()
        return Outcome([p.returncode for p in processes], [o for o, _ in said], [e for _, e in said])


@contextmanager
def alone():
    """One worker compiles, the others wait for what it made."""
    sim_cache().mkdir(parents=True, exist_ok=True)
    with (sim_cache() / "tests.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@pytest.fixture(scope="session")
def one_at_a_time():
    """``with one_at_a_time():`` what is compiled there comes from the cache in all workers but one."""
    return alone


@pytest.fixture(scope="session")
def sim_root():
    """The stand-in, built for the tools of this machine."""
    try:
        tools = find_tools()
    except MissingToolError as error:
        lacking(f"the stand-in cannot be built here ({error}): something", "apt-get install g++ cmake")
    with alone():
        return make_root(tools)


@pytest.fixture(scope="session")
def native(sim_root) -> Native:
    """tests/sim/native as one program, kept in the cache by the contents of all it is made from."""
    compiler = find_tools().compiler
    headers = [p for p in sorted(sim_root.include.rglob("*")) if p.is_file()]
    name = digest([*sorted(NATIVE.iterdir()), *headers], find_tools().version, *FLAGS)
    program = sim_cache() / "native" / name
    with alone():
        _compiled(compiler, sim_root, program)
    return Native(program, {"LD_LIBRARY_PATH": str(sim_root.library)})


def _compiled(compiler, sim_root, program: Path) -> None:
    if not program.exists():
        program.parent.mkdir(parents=True, exist_ok=True)
        for old in program.parent.iterdir():
            old.unlink()
        sources = sorted(NATIVE.glob("*.cpp"))
        draft = program.with_name(f"{program.name}.{os.getpid()}")

        def compile_one(source: Path) -> Path:
            made = draft.with_name(f"{draft.name}.{source.stem}.o")
            subprocess.run(
                [compiler, *FLAGS, "-I", str(sim_root.include), "-c", str(source), "-o", str(made)], check=True
            )
            return made

        with ThreadPoolExecutor(2) as pool:
            objects = list(pool.map(compile_one, sources))
        linked = [
            compiler,
            "-pthread",
            "-o",
            str(draft),
            *map(str, objects),
            "-L",
            str(sim_root.library),
            "-lopdev_sim",
        ]
        subprocess.run(linked, check=True)
        for made in objects:
            made.unlink()
        draft.replace(program)
