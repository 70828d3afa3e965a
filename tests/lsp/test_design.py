"""A design.md in the editor: completion, hover, outline, folds and hints, over the real server."""

from __future__ import annotations

import shutil
import time
from pathlib import Path

import pytest

CLEAN = Path(__file__).parents[1] / "corpus" / "clean" / "custom-ops" / "reduce_scatter"
FENCE = "# 设计 🚀\n\n## 2. Canonical DSL\n\n```yaml\n{}```\n\n## 3. 能力\n\n正文\n"
CASES = """\
dsl_version: "0.3"
meta:
  op_name: all_gather
  op_kind: collective
source:
  user_confirmations:
    dtypes: [float16, int32]
interface:
  inputs:
    - {name: shard, dtype: float16, shape: "[elements]", role: 本 PE 的数据 😀}
correctness:
  tolerance:
    rtol: {float16: 0.001}
  case_matrix:
    - {case: 大, shape: "[8, 32M]", dtype: float16, n_pes: 8, category: stress}  # 😀 大
    - case: small
      shape: "[1024]"
      dtype: int32
      n_pes: 2
    - {case: odd, shape: "[what]", dtype: float16}
  invariants:
    - {invariant: 不越界, test_method: rank pattern, case: 大}
"""


@pytest.fixture(scope="module")
def shared(raw, capabilities, tmp_path_factory):
    """One server for all of these: what they ask changes nothing on disk."""
    folder = tmp_path_factory.mktemp("shared") / "work" / "custom-ops"
    shutil.copytree(CLEAN, folder / "reduce_scatter")
    client = raw()
    client.initialize(folder.parent, capabilities=capabilities("vscode-1.9x"))
    yield client, folder
    client.kill()


@pytest.fixture
def server(shared):
    return shared[0]


@pytest.fixture
def operator(shared):
    return shared[1] / "reduce_scatter"


@pytest.fixture
def write(server, shared):
    """Open the design of an operator of its own; the text with the cursor's mark taken out, and where that was."""
    opened = []

    def begin(text, *, fence=True, newline="\n", name="demo"):
        whole = FENCE.format(text) if fence else text
        where = position(whole, "‸") if "‸" in whole else None
        whole = whole.replace("‸", "").replace("\n", newline)
        opened.append(server.open(shared[1] / name / "docs" / "design.md", whole, language="markdown"))
        return opened[-1], whole, where

    yield begin
    for where in opened:
        server.close(where)


def position(text, what, offset=0):
    before = text[: text.index(what) + offset]
    column = len(before.rpartition("\n")[2].encode("utf-16-le")) // 2
    return {"line": before.count("\n"), "character": column}


def ask(client, where, method, at=None, **more):
    at = {} if at is None else {"position": at}
    return client.request(f"textDocument/{method}", {"textDocument": {"uri": where}, **at, **more})


def labels(found):
    return [item["label"] for item in found["items"]] if found else []


def test_a_key_comes_with_its_template(server, write):
    where, _, at = write("dsl_version: '0.3'\nmeta:\n  op_name: x\n  op_k‸\n")
    found = ask(server, where, "completion", at)
    item = next(i for i in found["items"] if i["label"] == "op_kind")

    assert item["insertTextFormat"] == 2
    assert item["textEdit"]["newText"].startswith("op_kind: ${1|")
    assert item["textEdit"]["range"] == {"start": {**at, "character": 2}, "end": at}
    assert item["detail"] == "Operator kind"
    full = server.request("completionItem/resolve", item)
    assert "算子类别" in full["documentation"]["value"]


def test_a_section_comes_whole_and_is_indented_by_the_editor(server, write):
    where, _, at = write("dsl_version: '0.3'\nmeta:\n  op_name: x\nschedule:\n  ‸\n")
    item = next(i for i in ask(server, where, "completion", at)["items"] if i["label"] == "core_partition")

    assert item["insertTextMode"] == 2
    assert item["textEdit"]["newText"].startswith("core_partition:\n  mode: ${1|A,")
    assert "\n  groups:\n    - name:" in item["textEdit"]["newText"]


@pytest.mark.parametrize("line", ["  op_k‸ind: collective\n", "  op_k‸ : collective\n"])
def test_a_key_that_has_its_value_gets_its_name_alone(server, write, line):
    where, _, at = write(f"dsl_version: '0.3'\nmeta:\n{line}")
    item = next(i for i in ask(server, where, "completion", at)["items"] if i["label"] == "op_kind")

    assert item["textEdit"]["newText"] == "op_kind"
    assert item["textEdit"]["range"]["start"]["character"] == 2


def test_inside_brackets_a_key_stays_on_one_line(server, write):
    where, _, at = write("interface:\n  outputs: [{name: x, ‸}]\n")
    found = ask(server, where, "completion", at)

    assert "visibility" in labels(found)
    assert not any("\n" in item["textEdit"]["newText"] for item in found["items"])


@pytest.mark.parametrize(
    ("text", "first"),
    [
        (CASES.replace("case: 大}", "case: ‸}"), ["大", "small", "odd", "all cases"]),
        (CASES.replace('dtype: float16, shape: "[elements]"', "dtype: ‸, shape: x"), ["float16", "int32", "T"]),
        (CASES + "memory:\n  buffers:\n    - name: ‸\n", ["shard"]),
        (CASES + "memory:\n  buffers:\n    - {name: shard, size: ‸}\n", ["elements * sizeof(T)"]),
        (CASES + "performance:\n  target_cases: [大, ‸]\n", ["大", "small"]),
        (CASES.replace("op_kind: collective", "op_root: ‸"), ["custom-ops/all_gather"]),
        (("interface:\n  attrs:\n    - {name: block_dim, type: int, default: 24}\nschedule:\n  core_partition:\n    groups:\n"
         '      - {name: send, aiv_range: "0..15"}\n      - name: recv\n        aiv_range: ‸\n'), ["16..23", "[0, aiv_num)"]),
    ],
)  # fmt: skip
def test_values_from_the_rest_of_the_document(server, write, text, first):
    where, _, at = write(text)

    assert labels(ask(server, where, "completion", at))[: len(first)] == first


def test_values_from_the_code(server, write, operator):
    text = (operator / "docs" / "design.md").read_text(encoding="utf-8")
    plane = text.replace('"aclshmemx_mte_put_nbi, aclshmemx_mte_quiet', '"aclshmemx_mte_put_nbi, ‸')
    where, _, at = write(plane, fence=False, name="reduce_scatter")
    found = ask(server, where, "completion", at)
    assert set(labels(found)[:3]) == {"aclshmemx_mte_put_nbi", "aclshmemx_mte_quiet", "aclshmem_barrier_all"}
    assert "reduce_scatter_kernel.cpp" in found["items"][0]["detail"]
    server.close(where)

    where, _, at = write(
        text.replace("data_interface: aclshmemx_mte_put_nbi", "data_interface: aclshmemx_mte_p‸"),
        fence=False,
        name="reduce_scatter",
    )
    found = ask(server, where, "completion", at)
    assert found["items"][0]["textEdit"]["range"]["end"] == at
    assert found["items"][0]["textEdit"]["range"]["start"]["character"] == at["character"] - len("aclshmemx_mte_p")
    assert found["isIncomplete"], "with hundreds of calls the client asks again as the word grows"
    assert all("aclshmemx_mte_p" in label for label in labels(found))
    server.close(where)

    where, _, at = write(text.replace("default: 24", "default: ‸"), fence=False, name="reduce_scatter")
    assert "24" in labels(ask(server, where, "completion", at))
    server.close(where)

    where, _, at = write(
        text.replace("case: smoke_2pe_fp32}\n    - {invariant: 重复", "case: ‸}\n    - {invariant: 重复"),
        fence=False,
        name="reduce_scatter",
    )
    assert "small_4pe_fp32" in labels(ask(server, where, "completion", at)), "cases.json has it, the design has not"


def test_outside_the_dsl_nothing_is_completed(server, write):
    where, text, _ = write(CASES)

    assert ask(server, where, "completion", position(text, "正文")) is None
    assert ask(server, where, "completion", position(text, "😀 大", 1)) is None


def test_half_typed_yaml_with_windows_line_ends(server, write):
    where, _, at = write(
        'meta:\n  op_name: "没写完\n  op_kind: [\nschedule:\n  core_partition:\n    mode: ‸\n', newline="\r\n"
    )

    assert labels(ask(server, where, "completion", at))[:3] == ["A", "B", "C1"]


def test_hover_is_the_field_in_both_languages_with_its_formula(server, write):
    where, text, _ = write(CASES)
    found = ask(server, where, "hover", position(text, "rtol", 1))
    value = found["contents"]["value"]

    assert "Relative tolerance" in value
    assert "相对误差" in value
    assert "2^-11" in value
    assert found["range"]["start"] == position(text, "rtol")


def test_hover_on_a_case_shows_its_own_numbers(server, write):
    where, text, _ = write(CASES)
    value = ask(server, where, "hover", position(text, "[8, 32M]", 2))["contents"]["value"]

    assert "L · 512 MB/PE · total 4 GB ≥ 256 MB · bus 0.875" in value


def test_hover_on_a_mode_is_that_modes_formula(server, write):
    where, text, _ = write("dsl_version: '0.3'\nschedule:\n  core_partition:\n    mode: C1\n")
    value = ask(server, where, "hover", position(text, "C1", 1))["contents"]["value"]

    assert "group = aiv_num / 2" in value
    assert "core_per_rank = aiv_num / n_pes" not in value


def test_hover_where_the_yaml_does_not_parse(server, write):
    where, text, _ = write('dsl_version: "0.3"\nmeta:\n  op_name: x\n  scope: [[{\n  op_kind: "没写完\n')
    value = ask(server, where, "hover", position(text, "op_kind", 2))["contents"]["value"]

    assert "Operator kind" in value


def test_hover_on_an_api_in_the_dsl_is_its_page(server, operator):
    text = (operator / "docs" / "design.md").read_text(encoding="utf-8")
    where = server.open(operator / "docs" / "design.md", text, language="markdown")
    value = ask(server, where, "hover", position(text, "data_interface: aclshmemx_mte_put_nbi", 20))["contents"][
        "value"
    ]
    server.close(where)

    assert "Engines: MTE" in value
    assert "Data interface" in value


def test_the_outline_holds_the_dsl_below_its_heading(server, write):
    where, _, _ = write(CASES)
    top = ask(server, where, "documentSymbol")
    section = next(s for s in top[0]["children"] if "Canonical DSL" in s["name"])
    names = [s["name"] for s in section["children"]]

    assert names == ["dsl_version", "meta", "source", "interface", "correctness"]
    matrix = section["children"][4]["children"][1]
    assert [s["name"] for s in matrix["children"]] == ["大", "small", "odd"]
    assert section["children"][1]["children"][0]["detail"] == "all_gather"


def test_sections_of_the_dsl_fold(server, write):
    where, text, _ = write(CASES)
    lines = text.split("\n")
    found = {(f["startLine"], f["endLine"]) for f in ask(server, where, "foldingRange")}

    meta = lines.index("meta:")
    assert (meta, meta + 2) in found
    assert (
        lines.index("correctness:"),
        lines.index("    - {invariant: 不越界, test_method: rank pattern, case: 大}"),
    ) in found


def hints(client, where, text):
    lines = text.count("\n")
    whole = {"start": {"line": 0, "character": 0}, "end": {"line": lines + 1, "character": 0}}
    return ask(client, where, "inlayHint", range=whole)


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_hints_show_the_scale_of_each_case(server, write, newline):
    where, text, _ = write(CASES, newline=newline)
    found = {h["label"]: h["position"] for h in hints(server, where, text)}

    big = "L · 512 MB/PE · total 4 GB ≥ 256 MB · bus 0.875 · rtol 0"
    assert found[big] == position(text.replace("\r\n", "\n"), "stress}", len("stress}"))
    assert "XS · 4 KB/PE · total 8 KB < 256 MB · bus 0.5 · rtol 0" in found
    assert "standard 0" in found
    assert len(found) == 3


def test_a_hint_is_explained_when_it_is_looked_at(server, write):
    where, text, _ = write(CASES)
    hint = hints(server, where, text)[0]

    assert "tooltip" not in hint
    assert "4 GB" in server.request("inlayHint/resolve", hint)["tooltip"]["value"]


def test_hints_stay_where_the_yaml_breaks(server, write):
    where, text, _ = write(CASES + 'performance:\n  metric: ["没写完\n')

    assert any(h["label"].startswith("L · 512 MB") for h in hints(server, where, text))


def test_hints_in_cases_json_know_the_design(server, operator):
    text = (operator / "scripts" / "cases.json").read_text(encoding="utf-8")
    where = server.open(operator / "scripts" / "cases.json", text, language="json")
    found = hints(server, where, text)
    server.close(where)

    assert found[0]["label"] == "XS · 32 KB/PE · total 64 KB < 256 MB · bus 0.5 · rtol ≤ 2^-7"
    assert found[0]["position"]["line"] == 1


def test_clients_are_told_what_they_can_use(raw, work):
    client = raw()
    try:
        offered = client.initialize(work, capabilities={})
        assert "inlayHintProvider" not in offered
    finally:
        client.kill()


def test_three_thousand_lines_are_answered_at_once(server, write):
    more = "".join(
        f'    - {{case: c_{i}, shape: "[{1000 + i}]", dtype: float16, n_pes: 8, category: functional}}\n'
        for i in range(1500)
    )
    text = CASES.replace("  invariants:", more + "  invariants:").replace("case: 大}", "case: ‸}")
    where, text, at = write(FENCE.format(text) + "说明文字\n" * 1500, fence=False)
    ask(server, where, "hover", position(text, "op_kind"))
    took = {}
    for method, more in (
        ("hover", {"at": position(text, "[2400]", 2)}),
        ("completion", {"at": at}),
        ("inlayHint", {"range": {"start": {"line": 1400, "character": 0}, "end": {"line": 1460, "character": 0}}}),
    ):
        best = []
        for _ in range(3):
            began = time.perf_counter()
            assert ask(server, where, method, **more)
            best.append(time.perf_counter() - began)
        took[method] = min(best)

    assert max(took.values()) < 1, took
