"""Fixed run scripts, really run: what the examples of a page cannot show.

A stand-in for the operator's binary prints its endpoint and lets PE 1 crash.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from opdev.project.operators import kind_of
from opdev.project.places import Places
from opdev.rules import store
from opdev.rules.engine import Linter
from opdev.rules.fixes import fix_to_the_end
from opdev.rules.selection import Selection
from opdev.source import Source
from opdev.syntax.file import File

BINARY = """#!/bin/bash
echo "pe=$2 at=$3 session=$SHMEM_UID_SESSION_ID"
[ "$2" = "${CRASHES:-none}" ] && exit 139
exit 0
"""
CHECKER = 'import sys\nprint("checked")\nsys.exit(3)\n'

BARE_WAIT = """#!/bin/bash
IPPORT="tcp://127.0.0.1:27010"
export SHMEM_UID_SESSION_ID=127.0.0.1:8899
for ((pe = 0; pe < 3; pe++)); do
    ./build/bin/demo 3 $pe $IPPORT &
done
wait
echo PASS
"""
LATE_READ = """pids=()
for pe in 0 1 2; do
    ./build/bin/demo 3 "$pe" "${IPPORT:-}" &
    pids+=("$!")
done
ret=0
for pid in "${pids[@]}"; do
    wait "$pid"
    echo "PE of process $pid is done"
    rc=$?
    if [ $rc -ne 0 ]; then ret=$rc; fi
done
exit $ret
"""
UNREAD = LATE_READ.replace("ret=0\n", "").split("for pid in", maxsplit=1)[0] + (
    'for pid in "${pids[@]}"; do\n    wait "$pid"\ndone\necho PASS\n'
)
PIPED = "#!/bin/bash\n# checks\npython3 scripts/check_result.py | tee check.log\n"
UNREAD_CHECK = "python3 scripts/check_result.py\ncd - > /dev/null 2>&1\necho done\n"
IN_A_PIPE = """ret=0
printf '%s\\n' a b | while read -r case; do
    ./build/bin/demo 1 "$case" "${IPPORT:-}" || ret=1
done
exit $ret
"""


@pytest.fixture
def operator(tmp_path: Path) -> Path:
    root = tmp_path / "custom-ops" / "demo"
    (root / "build" / "bin").mkdir(parents=True)
    (root / "scripts").mkdir()
    binary = root / "build" / "bin" / "demo"
    binary.write_text(BINARY)
    binary.chmod(0o755)
    (root / "scripts" / "check_result.py").write_text(CHECKER)
    return root


def fixed(root: Path, text: str) -> str:
    """The script after every fix of the two rules, unsafe ones too."""
    rules = tuple(r for r in store.load() if r.name in ("hardcoded-endpoint", "lost-exit-status"))
    linter, places = Linter(known=rules), Places()
    path = str(root / "scripts" / "run.sh")

    def parse(source: Source) -> File:
        return File(source, kind_of(path, source.data, in_operator=True), places.of(path))

    result = fix_to_the_end(
        Source(path, text.encode()),
        lambda source: linter.lint(parse(source), Selection(rules)).findings,
        parse,
        ("safe", "unsafe"),
    )
    assert not result.broke
    assert not result.fighting
    return result.data.decode()


def run(root: Path, text: str, **env: str) -> tuple[int, list[str]]:
    script = root / "scripts" / "run.sh"
    script.write_text(text)
    kept = {k: v for k, v in os.environ.items() if k not in ("IPPORT", "SHMEM_UID_SESSION_ID")}
    done = subprocess.run(
        ["bash", str(script)], cwd=root, env={**kept, **env}, capture_output=True, text=True, timeout=30, check=False
    )
    return done.returncode, done.stdout.splitlines()


@pytest.mark.parametrize(
    ("text", "crashes"),
    [(BARE_WAIT, "1"), (LATE_READ, "1"), (UNREAD, "1"), (PIPED, ""), (UNREAD_CHECK, ""), (IN_A_PIPE, "a")],
    ids=["bare-wait", "late-read", "unread-wait", "piped-checker", "unread-checker", "loop-in-a-pipe"],
)
def test_a_failure_is_lost_before_the_fix_and_told_after_it(operator: Path, text: str, crashes: str) -> None:
    assert run(operator, text, CRASHES=crashes)[0] == 0
    mended = fixed(operator, text)
    assert run(operator, mended, CRASHES=crashes)[0] != 0
    if crashes:
        assert run(operator, mended)[0] == 0


def test_all_pes_of_a_fixed_script_share_one_endpoint(operator: Path) -> None:
    mended = fixed(operator, BARE_WAIT)
    _, lines = run(operator, mended)
    places = {line.split(" ", 1)[1] for line in lines if line.startswith("pe=")}
    assert len(places) == 1
    assert "RANDOM" in mended


def test_an_exported_endpoint_wins_in_a_fixed_script(operator: Path) -> None:
    mended = fixed(operator, BARE_WAIT)
    _, lines = run(operator, mended, IPPORT="tcp://10.0.0.7:9000", SHMEM_UID_SESSION_ID="10.0.0.7:9001")
    assert {line.split(" ", 1)[1] for line in lines if line.startswith("pe=")} == {
        "at=tcp://10.0.0.7:9000 session=10.0.0.7:9001"
    }
