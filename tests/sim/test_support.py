"""The table `opdev sim api` prints is held to the code it speaks of."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import opdev.sim
from opdev.api import table as interface
from opdev.sim import aliases
from opdev.sim.names import public_names
from opdev.sim.support import rows, support, table

SIM = Path(opdev.sim.__file__).parent
SOURCES = [*(SIM / "src").glob("*.*"), *(SIM / "include").rglob("*.h")]


def text_of_all():
    return "".join(file.read_text(encoding="utf-8") for file in SOURCES)


def test_the_faults_are_those_of_the_header():
    header = (SIM / "include" / "opdev_sim" / "report.h").read_text(encoding="utf-8")
    kinds = re.findall(r'constexpr const char \*\w+ = "([\w-]+)";', header)

    assert kinds == list(support().faults)


def test_the_switches_are_those_the_runtime_reads():
    read = set(re.findall(r'"(OPDEV_SIM_\w+)"', text_of_all()))

    assert read == support().switches.keys()


def test_families_are_counted_by_the_names_there(sim_root):
    counted = {row.family.en.title: (row.there, row.public) for row in rows(sim_root.names, public_names())}

    assert counted["SIMT"][0] == 0 < counted["SIMT"][1]
    for title in (
        "MTE",
        "UDMA",
        "atomics",
        "teams",
        "symmetric heap",
        "high-level put and get",
        "completion and barriers",
    ):
        there, public = counted[title]
        assert 0 < there == public, title


def test_the_table_is_written_in_both_languages(sim_root):
    zh = "\n".join(table(sim_root.names, public_names(), "zh"))
    en = "\n".join(table(sim_root.names, public_names(), "en"))

    assert "对称堆" in zh
    assert "symmetric heap" in en
    assert len(zh.splitlines()) == len(en.splitlines())


def test_old_names_are_those_of_the_interface(sim_root):
    written = (SIM / "include" / "opdev_sim" / "shmem" / "alias.h").read_text(encoding="utf-8")
    found = dict(aliases.aliases())

    assert written == aliases.header(), "python -m opdev.sim.aliases > alias.h"
    assert found.keys() == interface.aliases().keys()
    assert {new for new in found.values() if new not in sim_root.names} == set()


def test_a_list_is_read_as_far_as_one_wants(sim_root):
    code = "import sys, opdev.entry; sys.argv = ['opdev', 'sim', 'api', 'a']; sys.exit(opdev.entry.opdev())"
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    process.stdout.readline()
    process.stdout.close()
    assert process.stderr is not None
    said = process.stderr.read()
    process.stderr.close()

    assert said == ""
    # More than a pipe holds may not have been left to write.
    assert process.wait(30) in (0, 141)
