"""The rules on what stands around the DSL: what the examples of the pages cannot show."""

from __future__ import annotations

from pathlib import Path

import pytest

from opdev.design.frame import skeleton
from opdev.kinds import Place, classify
from opdev.rules import store
from opdev.rules.engine import Linter
from opdev.rules.fixes import fix_to_the_end
from opdev.rules.selection import Selection
from opdev.source import Source
from opdev.syntax.file import File

PATH = "/repo/custom-ops/demo/docs/design.md"
META = {"op_name": "demo", "shmem_repo": "/opt/shmem", "skills_root": "/opt/shmem/.agents/skills"}
CLEAN = Path(__file__).parents[1] / "corpus" / "clean" / "custom-ops"


class Kernels:
    """An operator that has a kernel already, or none."""

    root, name = "/repo/custom-ops/demo", "demo"

    def __init__(self, *, kernel):
        self.kernel = kernel

    def files(self, *kinds):
        return ["src/demo_kernel.cpp"] if self.kernel and "kernel" in kinds else []

    def exists(self, _relative):
        return False


@pytest.fixture(scope="module")
def frame():
    return Selection(tuple(r for r in store.load() if (r.check or "").startswith("design_frame.")))


def parse(source):
    relative = source.path.removeprefix("/repo/custom-ops/demo/")
    place = Place("custom-ops", "demo", "/repo/custom-ops/demo", "/repo", relative)
    return File(source, classify(source.path, source.data, in_operator=True), place)


def lint(text, selection, path=PATH, *, kernel=False):
    data = text if isinstance(text, bytes) else text.encode()
    return Linter().lint(parse(Source(path, data)), selection, Kernels(kernel=kernel)).findings


def names(findings):
    return sorted({f.rule.name for f in findings})


def fixed(data, selection):
    return fix_to_the_end(
        Source(PATH, data), lambda s: lint(s.data, selection), parse, ("safe", "unsafe", "suggestion")
    )


@pytest.mark.parametrize("operator", sorted(p.parts[-3] for p in CLEAN.glob("*/docs/design.md")))
@pytest.mark.parametrize("newline", [b"\n", b"\r\n"])
def test_whole_designs_have_no_findings(frame, operator, newline):
    text = (CLEAN / operator / "docs" / "design.md").read_bytes().replace(b"\n", newline)

    assert names(lint(text, frame, kernel=True)) == []


def test_a_new_design_is_only_told_what_to_fill_in(frame):
    data = skeleton(META, ["fp16"]).encode()
    assert names(lint(data, frame)) == []

    every = Selection(tuple(r for r in store.load() if "design-doc" in r.kinds))
    findings = lint(data, every)
    prompts = {f.start for f in findings if f.rule.name == "placeholder-left"}
    unsaid = {
        "incomplete-tensor", "missing-memory-plan", "unstated-engine", "incomplete-core-partition", "missing-phases",
        "unstructured-invariant", "incomplete-design-case",
    }  # fmt: skip

    assert set(names(findings)) == {"placeholder-left", *unsaid}
    assert data.index(b"[pass/fail]") in prompts
    assert data.index("[一句话".encode()) in prompts


@pytest.mark.parametrize("newline", [b"\n", b"\r\n"])
@pytest.mark.parametrize("cut", ["## 3.", "## 4.", "## 5.", "## 6.", "### 6.1", "| 同步", "| dtype", "- [ ] 设计评审"])
def test_what_is_cut_off_is_put_back_and_fixing_again_changes_nothing(frame, cut, newline):
    whole = skeleton(META, ["fp16"]).encode()
    text = whole[: whole.index(cut.encode())].replace(b"\n", newline)

    once = fixed(text, frame)
    twice = fixed(once.data, frame)

    assert not once.fighting
    assert not once.broke
    assert twice.data == once.data
    assert names(lint(once.data, frame)) == []
    assert once.data.count(b"\r\n") == (once.data.count(b"\n") if newline == b"\r\n" else 0)


def test_a_half_typed_dsl_takes_nothing_from_the_sections_behind_it(frame):
    whole = skeleton(META, ["fp16"])
    for broken in ('op_name: "demo', "op_name: [demo", "meta\n"):
        text = whole.replace('op_name: "demo"', broken)
        assert names(lint(text, frame)) == []
    assert names(lint(whole.replace("```\n\n## 3", "\n## 3"), frame)) == []


def test_open_boxes_count_once_there_is_a_kernel(frame):
    text = skeleton(META, ["fp16"])
    boxes = [f for f in lint(text, frame, kernel=True) if f.rule.name == "open-handoff-box"]

    assert len(boxes) == 9
    # The document speaks against all the others: only their cause can be mended.
    assert [f.args["name"].partition(" ")[0] for f in boxes if f.fix is not None] == ["op_name"]
    assert not [f for f in lint(text, frame) if f.rule.name == "open-handoff-box"]


def test_boxes_the_document_bears_out_are_ticked(frame):
    text = (CLEAN / "put_signal" / "docs" / "design.md").read_text(encoding="utf-8").replace("- [x]", "- [ ]")

    findings = [f for f in lint(text, frame, kernel=True) if f.rule.name == "open-handoff-box"]

    assert [f.fix.edits[0].text for f in findings] == ["[x]"] * 9


def test_a_contract_without_numbers_in_chinese_is_read(frame):
    text = "## 六、编译与测试契约\n\n### 编译\n\n| 项 | 内容 |\n|:--|:-:|\n| `build_mode` | independent_project |\n"

    found = [f for f in lint(text, frame) if f.rule.name == "missing-compile-contract"]

    assert [f.source.text(f.start, f.end) for f in found] == ["### 编译"]
    assert "cann_env" in found[0].message("zh")
    assert "build_mode" not in found[0].message("zh")


@pytest.mark.parametrize(
    ("path", "fires"),
    [
        ("/repo/custom-ops/demo/design.md", True),
        ("/repo/custom-ops/demo/docs/design.md", False),
        ("/repo/custom-ops/demo/docs/old/design.md", False),
        ("/repo/custom-ops/demo/DESIGN.md", False),
    ],
)
def test_a_design_in_the_operators_own_folder(frame, path, fires):
    assert ("misplaced-design" in names(lint("# demo 设计\n", frame, path))) is fires


def test_a_finding_says_where_a_false_tick_is_contradicted(frame):
    text = (CLEAN / "put_signal" / "docs" / "design.md").read_text(encoding="utf-8")
    text = text.replace("| GM scratch | pass |", "| GM scratch | fail |")

    found = [f for f in lint(text, frame) if f.rule.name == "false-handoff-tick"]

    assert [f.source.text(f.start, f.end) for f in found] == ["[x]"]
    (related,) = found[0].related
    assert found[0].source.text(related.start, related.end) == "fail"
    assert "设计评审" in found[0].message("zh")
