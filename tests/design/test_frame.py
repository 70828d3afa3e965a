"""The frame around the DSL: what is found wrong with it, and what is written into it."""

from __future__ import annotations

import re

import pytest

from opdev.design.frame import (
    BOX_ORDER,
    BOXES,
    GRIDS,
    REVIEW,
    REVIEW_ORDER,
    SECTIONS,
    frame_problems,
    skeleton,
)
from opdev.design.frame_find import is_prompt, sections, topic
from opdev.design.frame_tables import CODES
from opdev.design.frame_text import add_boxes, add_columns, add_no_gap, add_rows, add_sections
from opdev.design.model import problems_of

FILLED = {"op_name": "demo", "shmem_repo": "/opt/shmem", "skills_root": "/opt/shmem/.agents/skills"}


def finished(text):
    """A skeleton whose frame is filled in; the DSL still is the template's."""
    text = text.replace("[可复用、需适配或需新实现]", "可复用").replace("[pass/fail]", "pass")
    text = re.sub(r"\[(?:用到|适配|正确性)[^\]]*\]", "写明", text)
    text = re.sub(r"(?<=pass \| )\[[^\]]*\]", "8 个 AIV，7 条链路", text)
    text = re.sub(r"\[[^\]]*[\u4e00-\u9fff][^\]]*\]", "写明", text)
    return text.replace("\n## 4.", "\nNo known gap：没有缺口。\n\n## 4.").replace("replace_me", "写明")


def codes(doc):
    return [p.code for p in frame_problems(doc)]


def changed(doc, *changes):
    text = doc.data
    for change in sorted(filter(None, changes), reverse=True):
        text = text[: change.start] + change.text.encode() + text[change.end :]
    return text


@pytest.mark.parametrize("meta", [{}, FILLED, {**FILLED, "build_mode": "in_tree_example", "torch_required": True}])
def test_a_skeleton_lacks_nothing_but_what_its_author_must_say(document, meta):
    doc = document(skeleton(meta, ["float16"] if meta else []))

    assert {p.code for p in problems_of(doc.file)} <= {"placeholder", "empty-value", "engine-unstated"}
    assert set(codes(doc)) == {"template-text", "box-open"}


def test_a_skeleton_takes_what_the_intake_settled(document):
    text = skeleton(
        {**FILLED, "build_mode": "in_tree_example", "performance_required": True, "target_soc": ["ascend910c"]},
        ["fp16"],
    )
    doc = document(text)

    assert doc.text("meta.op_root") == "examples/demo"
    assert [n.text for n in doc.items("source.user_confirmations.dtypes")] == ["fp16"]
    assert "| op_dir | `${SHMEM_REPO}/examples/demo` |" in text
    assert "scripts/perf.sh" in text
    assert "| torch_build_command | 不适用" in text
    assert "ascend910b" not in text
    assert not problems_of_code(doc, "op-root-mismatch", "soc-not-assumed", "build-mode-mismatch")


def problems_of_code(doc, *wanted):
    return [p for p in problems_of(doc.file) if p.code in wanted]


def test_a_filled_frame_is_clean(document):
    assert set(codes(document(finished(skeleton(FILLED, ["fp16"]))))) == {"box-open"}


def test_a_row_of_the_template_is_known_by_its_own_text():
    assert {row.key for row in REVIEW} == set(REVIEW_ORDER)
    assert {row.key for row in BOXES} == set(BOX_ORDER)
    for number, rows in (*((n, g.rows) for n, g in GRIDS.items()), ("7", BOXES)):
        for row in rows:
            assert topic(row.cells[0], number) is row


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("并发/分核思路是否在首版落地", "concurrency"),
        ("有没有不必要的 global barrier", "barrier"),
        ("reduce-scatter 多 source 到同 destination 时是否 SetAtomicAdd（见 atomic-add-pattern）", "atomic"),
        ("Capability Mapping 的 compute 行是否引用 atomic-add-pattern.md", "compute"),
        ("高性能路径、并发分核或 overlap 是否在本轮", "fast-path"),
        ("拓扑与并发匹配：7 条链路的并行度", "topology"),
        ("链路带宽利用：接近拓扑的聚合带宽", "bandwidth"),
        ("分核与通信并行度：是否有假并发", "parallelism"),
        ("性能瓶颈预判：链路串行、分核不足、同步开销", "bottleneck"),
        ("UB 容量", None),
    ],
)
def test_review_rows_are_told_apart_by_topic(text, key):
    row = topic(text, "5")

    assert (row.key if row else None) == key


@pytest.mark.parametrize(
    ("text", "yes"),
    [
        ("[需求点]", True),
        ("`[pass/fail]`", True),
        ("yes/no", True),
        ("custom-ops/replace_me", True),
        ("[1024]", False),
        ("[n_pes, elements]", False),
        ("[文档](docs/a.md)", False),
        ("[起, 止) 半开区间", False),
        ("通过", False),
    ],
)
def test_prompts_are_told_from_values(text, yes):
    assert is_prompt(text) is yes


def test_sections_may_be_numbered_or_called_otherwise(document):
    doc = document(
        "# 设计\n\n## 一、Interface\n\n### 1.2 What it does\n\n## Canonical DSL\n\n## 4. 能力映射\n\n"
        "## 3. 实现边界\n\n## 5 评审\n\n## 6、Build\n\n### 编译\n\n## 交接\n"
    )

    found = {number: heading.title for number, heading in sections(doc).items()}

    assert found == {
        "1": "一、Interface", "1.2": "1.2 What it does", "2": "Canonical DSL", "3": "4. 能力映射", "4": "3. 实现边界",
        "5": "5 评审", "6": "6、Build", "6.1": "编译", "7": "交接",
    }  # fmt: skip


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("number", [part.number for part in SECTIONS if part.number != "2"])
def test_a_section_taken_out_is_put_back_where_it_was(document, number, newline):
    whole = skeleton(FILLED, ["fp16"])
    doc = document(whole)
    heading = sections(doc)[number]
    rest = (whole.encode()[: heading.start] + whole.encode()[heading.stop :]).decode().replace("\n", newline)
    cut = document(rest)
    assert [p.path for p in frame_problems(cut) if p.code == "section-missing"] == [number]

    mended = document(changed(cut, add_sections(cut, [number])[number][1]))

    assert "section-missing" not in codes(mended)
    assert [h.number for h in mended.headings] == [h.number for h in doc.headings]
    assert newline * 3 not in mended.data.decode()
    assert mended.data.count(b"\n") == mended.data.count(newline.encode())


@pytest.mark.parametrize("text", ["", "# 设计\n", "# 设计\n\n## 4. 实现边界\n\n- main.cpp\n", "## 5. 评审"])
def test_sections_that_belong_together_are_put_in_at_once(document, text):
    doc = document(text)
    missing = [p.path for p in frame_problems(doc) if p.code == "section-missing"]

    doc = document(changed(doc, *{change for _, change in add_sections(doc, missing).values()}))

    numbers = [h.number for h in doc.headings if h.level > 1]
    assert numbers == [part.number for part in SECTIONS]
    assert "section-missing" not in codes(doc)


def test_a_dsl_without_its_heading_gets_the_heading_alone(document):
    doc = document("# 设计\n\n## 1. 接口\n\n文字\n\n```yaml\ndsl_version: '0.3'\nmeta: {}\n```\n")

    mended = changed(doc, add_sections(doc, ["2"])["2"][1]).decode()

    assert "文字\n\n## 2. Canonical DSL\n\n```yaml\n" in mended
    assert mended.count("```yaml") == 1


@pytest.mark.parametrize(
    ("number", "code"),
    [
        ("3", "domain-missing"),
        ("4", "boundary-missing"),
        ("5", "review-missing"),
        ("6.1", "contract-missing"),
        ("6.2", "contract-missing"),
    ],
)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_rows_taken_out_are_put_back_in_their_order(document, number, code, newline):
    whole = skeleton({**FILLED, "torch_required": True, "performance_required": True}, ["fp16"])
    lines = whole.splitlines()
    rows = GRIDS[number].rows
    for taken in ((rows[0],), (rows[-1],), (rows[1], rows[2]), rows[1:]):
        names = {row.cells[0] for row in taken}
        at = next(i for i, line in enumerate(lines) if line.startswith("#") and f" {number}" in line)
        stop = next((i for i in range(at + 1, len(lines)) if lines[i].startswith("#")), len(lines))
        kept = [line for i, line in enumerate(lines) if not (at < i < stop and line[2:].partition(" |")[0] in names)]
        doc = document(newline.join(kept) + newline)
        problem = next(p for p in frame_problems(doc) if p.code == code)
        assert set(problem.args["keys"]) == {row.key for row in taken}

        mended = changed(doc, *add_rows(doc, number, problem.args["keys"]))

        assert mended.decode() == newline.join(lines) + newline


def test_a_table_that_is_not_there_is_written(document):
    doc = document("## 5. Design Review\n\n都好。\n\n## 6. 契约\n")

    mended = document(changed(doc, *add_rows(doc, "5", [row.key for row in REVIEW])))

    assert "review-missing" not in codes(mended)
    assert mended.data.decode().startswith("## 5. Design Review\n\n都好。\n\n| Check |")


def test_rows_fit_the_columns_a_table_has(document):
    doc = document(
        "## 5. 评审\n\n  | 编号 | 检查 | 结论 | 说明 |\n  |---|---|---|---|\n  | 1 | barrier | pass | 无 |\n"
    )

    (change,) = add_rows(doc, "5", ["tile"])

    assert change.text == "\n  |  | tile、chunk、tail | [pass/fail] | [怎样切，尾块由谁处理] |"


def test_missing_columns_are_added_to_every_line(document):
    doc = document("## 3. 能力\n\n| 需求 | 能力 | 分类 | 缺口 |\n|--|--|--|--|\n| sync | signal | 可复用 | 无 |\n")

    mended = document(changed(doc, *add_columns(doc, "3")))

    assert "columns-missing" not in codes(mended)
    assert "| sync | signal | 可复用 | 无 | [正确性与性能风险] |" in mended.data.decode()


def test_boxes_and_the_sentence_of_no_gap_are_added(document):
    doc = document(finished(skeleton(FILLED, ["fp16"])).replace("No known gap：没有缺口。\n\n", ""))
    text = re.sub(r"- \[ \] (?:core|op_name).*\n", "", doc.data.decode())
    doc = document(text)
    assert {"gap-unstated", "box-missing"} <= set(codes(doc))
    keys = next(p for p in frame_problems(doc) if p.code == "box-missing").args["keys"]

    mended = document(changed(doc, add_no_gap(doc), add_boxes(doc, keys)))

    assert keys == ("confirmed", "schedule")
    assert not {"gap-unstated", "box-missing"} & set(codes(mended))


@pytest.mark.parametrize(
    ("row", "code", "arg"),
    [
        ("| open question | 索引是否有序 | yes |", "question-blocking", "索引是否有序"),
        ("| 未决问题 | 索引是否有序 | 是 |", "question-blocking", "索引是否有序"),
        ("| open question | 索引是否有序 |  |", "question-undecided", "索引是否有序"),
        ("| open question | 索引是否有序 | no |", None, None),
        ("| open question | 索引有序（已解决：用户答复） | yes |", None, None),
        ("| assumption | dtype 取 fp16 | no |", "assumption-critical", "dtype"),
        ("| 假设 | 结果语义与 HCCL 相同 | 否 |", "assumption-critical", "结果语义"),
        ("| assumption | dtype 取 fp16，用户已确认 | no |", None, None),
        ("| assumption | 8 卡全互联 | no |", None, None),
    ],
)
def test_assumptions_and_questions(document, row, code, arg):
    doc = document(f"## 1. 接口\n\n### 1.3 假设\n\n| 类型 | 内容 | 是否阻塞代码生成 |\n|---|---|---|\n{row}\n")

    found = [p for p in frame_problems(doc) if p.path == "1.3" and p.code != "section-missing"]

    assert [p.code for p in found] == ([code] if code else [])
    assert not code or arg in found[0].args.values()


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        ("pass | 8 个 AIV", []),
        ("PASS（复核） | 8 个 AIV", []),
        ("**pass** | 8 个 AIV", []),
        ("通过 | 8 个 AIV", ["review-result"]),
        ("n/a | 8 个 AIV", ["review-result"]),
        ("否 | 8 个 AIV", ["review-result"]),
        (" | 8 个 AIV", ["review-result"]),
        ("FAIL | 只用了 1 条链路", ["review-fail"]),
        ("不通过 | 只用了 1 条链路", ["review-fail", "review-result"]),
        ("pass | ", ["review-unexplained"]),
        ("pass | -", ["review-unexplained"]),
        ("pass | 充分利用", ["review-vague"]),
        ("pass | 七条链路都活跃", []),
        ("pass | 不适用：单 PE", []),
        ("pass |", ["review-unexplained"]),
        ("pass", ["review-unexplained"]),
    ],
)
def test_review_rows(document, cells, expected):
    doc = document(
        f"## 5. 评审\n\n| Check | Result | Fix or rationale |\n|---|---|---|\n| 拓扑与并发匹配 | {cells} |\n"
    )

    assert sorted(p.code for p in frame_problems(doc) if p.path == "5.topology") == expected


@pytest.mark.parametrize(
    ("old", "new", "box"),
    [
        ("| assumption | 写明 | no |", "| open question | 索引是否有序 | yes |", "dsl"),
        ("| 写明 | 可复用 |", "| 写明 | 差不多 |", "capability"),
        ("| GM scratch | pass |", "| GM scratch | fail |", "review"),
        ("| Host helper | 写明 |\n", "", "boundary"),
        ("| determinism |", "| 其他 |", "contract"),
        ("| dtype | fp16 | confirmed |", "| dtype | fp16 | 待确认 |", "confirmed"),
        ('mode: "写明"', 'mode: ""', "schedule"),
        ("  case_matrix: []\n", "", "correctness"),
        ('min_scale: "写明"', 'min_scale: ""', "performance"),
    ],
)
def test_a_ticked_box_is_held_against_the_document(document, old, new, box):
    text = finished(skeleton(FILLED, ["fp16"])).replace("- [ ]", "- [x]")
    assert old in text
    before = {p.path: p for p in frame_problems(document(text)) if p.code == "box-false"}
    doc = document(text.replace(old, new))

    found = {p.path: p for p in frame_problems(doc) if p.code == "box-false"}

    assert f"7.{box}" in found
    assert found[f"7.{box}"].related is not None
    assert doc.data[found[f"7.{box}"].start : found[f"7.{box}"].end] == b"[x]"
    if box not in ("dsl", "schedule", "correctness", "performance"):
        assert f"7.{box}" not in before


@pytest.mark.parametrize(
    ("cell", "fires"),
    [("| required_flags | — |", 0), ("| required_flags | |", 1), ("| target | — |", 1), ("| perf_command | |", 0)],
)
def test_a_dash_says_none_where_none_is_an_answer(document, cell, fires):
    doc = document(
        "## 2. Canonical DSL\n\n```yaml\ndsl_version: '0.3'\nmeta: {performance_required: false}\n```\n\n"
        f"## 6. 契约\n\n### 6.1 编译\n\n| 字段 | 内容 |\n|---|---|\n{cell}\n"
    )

    assert codes(doc).count("contract-empty") == fires


def test_another_tools_design_is_left_alone(document):
    assert frame_problems(document("# DESIGN\n\n## 1 Overview\n", path="custom/add/DESIGN.md")) == []


def test_headings_that_say_the_dsl_again(document):
    table = "| a | b |\n|---|---|\n| 1 | 2 |\n"
    doc = document(
        f"## 4. 实现边界\n\n### 4.1 分核策略\n\n{table}\n### 4.2 tiling\n\n只有文字。\n\n## 5. 评审\n\n### 不变量\n\n{table}"
    )

    assert [p.args["title"] for p in frame_problems(doc) if p.code == "duplicate-structure"] == ["4.1 分核策略"]


def test_every_code_is_listed_with_its_args(document):
    doc = document("## 1. 接口\n\n## 3. 能力\n\n## 5. 评审\n\n## 7. 交接\n\n- [x] DSL 完整\n")

    for problem in frame_problems(doc):
        assert set(CODES[problem.code]) <= set(problem.args), problem
