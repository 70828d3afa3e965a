"""Suppressions: exactly as wide as written, in every comment syntax, and right about being unused."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opdev.kinds import Place, classify
from opdev.rules import store
from opdev.rules.engine import Linter
from opdev.rules.selection import Selection
from opdev.source import Source
from opdev.syntax.file import File

RULES = store.load()
PLACE = Place("custom-ops", "demo", "/w/custom-ops/demo", None, "scripts/run.sh")
BAD = 'IPPORT="tcp://127.0.0.1:27010"'
NAME = "hardcoded-endpoint"


def names(text, path="/w/custom-ops/demo/scripts/run.sh", select=None):
    source = Source(path, text.encode())
    file = File(source, classify(path, source.data, in_operator=True), PLACE)
    directives = {"unused-suppression", "unknown-suppression", "malformed-suppression"}
    wanted = {NAME, *directives, *(select or ())} if select is not False else directives
    rules = tuple(r for r in RULES if r.name in wanted)
    return [(f.rule.name, f.span()[0]) for f in Linter(known=RULES).lint(file, Selection(rules)).findings]


@pytest.mark.parametrize(
    "text",
    [
        f"{BAD}  # opdev: ignore[{NAME}] why",
        f"# opdev: ignore[{NAME}]\n{BAD}",
        f"# opdev: ignore[{NAME}]\n\n# more\n{BAD}",
        f"# opdev: ignore-file[{NAME}]\necho\n{BAD}\n{BAD}",
        f"# opdev: off[{NAME}]\n{BAD}\n# opdev: on[{NAME}]",
        f"{BAD}  # opdev: ignore[SH700]",
        f"{BAD}  # opdev: ignore[sh700]",
        f"{BAD}  # opdev:ignore[ {NAME} ]",
    ],
)
def test_forms_that_silence(text):
    assert names(text) == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (f"# opdev: ignore[{NAME}]\necho\n{BAD}", [("unused-suppression", 0), (NAME, 2)]),
        (f"# opdev: off[{NAME}]\n{BAD}\n# opdev: on[{NAME}]\n{BAD}", [(NAME, 3)]),
        (f"{BAD}  # opdev: ignore", [(NAME, 0), ("malformed-suppression", 0)]),
        (f"{BAD}  # opdev: ignore[]", [(NAME, 0), ("malformed-suppression", 0)]),
        (f"{BAD}  # opdev: ignore [*]", [(NAME, 0), ("unknown-suppression", 0)]),
        (f"{BAD}  # opdev: ignore[*]", [(NAME, 0), ("unknown-suppression", 0)]),
        (f"{BAD}  # opdev: noqa[{NAME}]", [(NAME, 0), ("malformed-suppression", 0)]),
        (f"{BAD}  # opdev: ignore[hardcoded-endpont]", [(NAME, 0), ("unknown-suppression", 0)]),
        (f"echo 'opdev: ignore[{NAME}]'\n{BAD}", [(NAME, 1)]),
        (f"echo ok # opdev: ignore[{NAME}]", [("unused-suppression", 0)]),
        (f"echo ok # opdev: ignore[{NAME}, unused-suppression]", []),
    ],
)
def test_forms_that_do_not(text, found):
    assert names(text) == found


def test_unused_only_when_the_rule_ran():
    text = f"echo ok  # opdev: ignore[{NAME}]"

    assert names(text) == [("unused-suppression", 0)]
    assert names(text, select=False) == []


def test_in_markdown_with_the_fence_it_speaks_of():
    path = "/w/custom-ops/demo/docs/notes.md"
    fence = "```bash\npkill -f shmem\n```\n"

    loud = names(fence, path, select={"unscoped-process-kill"})
    off = names(f"<!-- opdev: off[unscoped-process-kill] -->\n{fence}<!-- opdev: on[unscoped-process-kill] -->\n", path,
                select={"unscoped-process-kill"})  # fmt: skip

    assert [name for name, _ in loud] == ["unscoped-process-kill"]
    assert off == []


@given(st.text(st.sampled_from("opdev: ignre[]-fl*,SH70\t#"), max_size=30))
def test_no_spelling_is_ever_wider_than_written(noise):
    found = [n for n, _ in names(f"{BAD}  # opdev: {noise}".replace(NAME, ""))]

    if "SH70" not in noise.upper():
        assert NAME in found


def test_a_finding_over_several_lines_is_silenced_at_its_last():
    rule = next(r for r in RULES if r.name == NAME)
    assert replace(rule, name="x").name == "x"
    text = 'export IPPORT="tcp://127.0.0.1:27010" \\\n  OTHER=1  # opdev: ignore[hardcoded-endpoint]'

    assert ("malformed-suppression", 1) not in names(text)
