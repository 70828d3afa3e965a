"""Renaming, navigation and links where the corpus has no example: foreign names, damaged text, many edits."""

from __future__ import annotations

import os
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from opdev.facts.inlays import case_inlays
from opdev.facts.links import links
from opdev.facts.navigation import definitions, name_at, places
from opdev.facts.renaming import RenameError, renaming
from opdev.project.operators import Operator
from opdev.project.places import Places

DESIGN = '# 设计\n\n## 2. DSL\n\n```yaml\ndsl_version: "0.3"\nmeta:\n  op_name: gather\n  op_kind: collective\n  op_root: custom-ops/gather\ninterface:\n  inputs:\n    - {name: src, dtype: fp16}\nschedule:\n  core_partition:\n    cross_pe_dataplane: "aclshmemx_mte_get_nbi"\ncorrectness:\n  case_matrix:\n    - {case: 小-1, shape: "[8]", dtype: fp16, n_pes: 2}\n```\n\n用例 小-1 通过。\n'  # fmt: skip
KERNEL = """\
#include "kernel_operator.h"
using namespace AscendC;
class Gather {
public:
    __aicore__ inline void copy(GM_ADDR src) { AscendC::Gather(src); util::gather(src); gather_local(src); }
    __aicore__ inline void gather_local(GM_ADDR src) { aclshmemx_mte_get_nbi(src); }
};
extern "C" __global__ __aicore__ void gather_fp16(GM_ADDR src)
{
    Gather op;
    op.copy(src);  // gather 😀
}
"""


@pytest.fixture(scope="module")
def make(tmp_path_factory):
    """An operator called gather; files by their path below it replace its own."""

    def begin(**files):
        root = tmp_path_factory.mktemp("work") / "custom-ops" / "gather"
        whole = {
            "docs/design.md": DESIGN,
            "src/gather_kernel.cpp": KERNEL,
            "CMakeLists.txt": "project(gather)\n",
            **files,
        }
        for name, text in whole.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode())
        return Operator(str(root), Places())

    return begin


def after(plan, name):
    changes = [c for c in plan.changes if c.file.path.endswith(name)]
    data = changes[0].file.data
    for change in reversed(changes):
        data = data[: change.start] + change.text.encode() + data[change.end :]
    return data.decode()


def test_names_of_others_keep_theirs(make):
    plan = renaming(make(**{"src/other.h": "namespace AscendC { }\n"}), "collect", os.path.lexists)
    text = after(plan, "_kernel.cpp")

    assert "class Collect {" in text
    assert "collect_local(src);" in text
    assert "void collect_fp16(" in text
    assert "util::gather(src)" in text
    assert [k.role for k in plan.kept] == ["identifier", "prose"], "another namespace's function, and an everyday word"


def test_logs_keep_what_was_measured(make):
    project = make(**{"docs/run.log": "gather 12.5 us\n", "docs/correctness_report.md": "# gather 正确性报告\n"})
    plan = renaming(project, "collect", os.path.lexists)

    assert not any(c.file.path.endswith(".log") for c in plan.changes)
    assert "# collect 正确性报告" in after(plan, "correctness_report.md")


def test_a_name_in_use_is_refused(make):
    with pytest.raises(RenameError, match="become one"):
        renaming(make(**{"src/other.h": "void collect_local(int x);\n"}), "collect", os.path.lexists)


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_places_are_exact_with_any_line_end(make, newline):
    project = make(
        **{"docs/design.md": DESIGN.replace("\n", newline), "src/gather_kernel.cpp": KERNEL.replace("\n", newline)}
    )
    design = next(iter(project.files("design-doc")))
    name = name_at(project, design, design.data.index(b"name: src") + 7)

    assert (name.kind, name.text) == ("tensor", "src")
    found = definitions(project, design, name)
    assert {p.file.path.rpartition("/")[2] for p in found} == {"gather_kernel.cpp"}
    assert all(p.file.data[p.start : p.end] == b"src" for p in places(project, name))


def test_a_case_with_another_script_in_its_name(make):
    project = make()
    design = next(iter(project.files("design-doc")))
    name = name_at(project, design, design.data.rindex("小-1".encode()) + 1)

    assert (name.kind, name.text) == ("case", "小-1")


def test_folders_are_links_to_what_is_read_first(make):
    project = make(
        **{
            "README.md": "见 `../put`、`src/`、custom-ops/gather/src/gather_kernel.cpp、http://x.org/src/a.cpp\n",
            "src/README.md": "x\n",
        }
    )
    readme = next(f for f in project.files("readme") if f.path.endswith("gather/README.md"))
    found = {readme.source.text(x.start, x.end): x.target[len(project.root) :] for x in links(readme, os.path.isfile)}

    assert found == {"src/": "/src/README.md", "custom-ops/gather/src/gather_kernel.cpp": "/src/gather_kernel.cpp"}


@pytest.mark.parametrize(
    "text", ["[", "{}", "[{]", '[{"case_id": 1, "shape": [8], "dtype": "fp16", "n_pes": 2}', "😀", ""]
)
def test_hints_of_a_damaged_case_list(make, text):
    project = make(**{"scripts/cases.json": text})
    for file in project.files("cases"):
        for hint in case_inlays(file, None):
            assert 0 <= hint.at <= len(file.data)


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.integers(0, len(DESIGN)),
    st.integers(0, 20),
    st.sampled_from(["", "\n", '"', "[", "😀", "\r", "op_name: ", "```\n"]),
)
def test_any_edit_of_the_design_leaves_the_answers_in_their_files(make, at, cut, put):
    project = make(**{"docs/design.md": DESIGN[:at] + put + DESIGN[at + cut :]})
    for file in project.files("design-doc", "kernel"):
        for offset in range(0, len(file.data), 5):
            name = name_at(project, file, offset)
            if name is not None:
                assert 0 <= name.start <= offset <= name.end <= len(file.data)
                for place in (*places(project, name), *definitions(project, file, name)):
                    assert 0 <= place.start < place.end <= len(place.file.data)
    try:
        plan = renaming(project, "collect", os.path.lexists)
    except RenameError:
        return
    spans = [(c.file.path, c.start, c.end) for c in plan.changes]
    assert all(a[0] != b[0] or a[2] <= b[1] for a, b in pairwise(spans))


COMMON = {
    "CMakeLists.txt": (
        "project(add)\nadd_library(add_kernel SHARED src/add_kernel.cpp)\nadd_executable(add src/main.cpp)\n"
        "add_custom_command(OUTPUT x COMMAND ${CMAKE_COMMAND} -E add a)\nadd_dependencies(add add_kernel)\n"
    ),
    "src/add_kernel.cpp": (
        "#include <set>\nclass Add {};\nvoid launch_add(int add_len);\n"
        'extern "C" __global__ __aicore__ void add_fp16(GM_ADDR x) { std::add(x); s.add(x); }\n'
    ),
    "scripts/run.sh": 'git add -A  # add it\n"${OP_DIR}/build/bin/add" --add --add-all\nbash build.sh add\n',
    "scripts/check_result.py": (
        "import argparse, numpy as np\nfrom torch.distributed import add_all\ndef f(add=1):\n    seen.add(np.add(1, 2))\n"
        'parser.add_argument("--add", help="add it")\nf(add=2)\nadd_all()\n'
        'torch.classes.ShmemOps.Add()\nrun("custom-ops/add/build/bin/add")\n'
    ),
}


def test_an_operator_named_after_an_everyday_word_is_renamed_where_it_is_sure(make):
    design = DESIGN.replace("gather", "add")
    project = make(**{"docs/design.md": design, **COMMON})
    plan = renaming(project, "vec_sum", lambda _: False)

    assert after(plan, "CMakeLists.txt") == (
        "project(vec_sum)\nadd_library(vec_sum_kernel SHARED src/vec_sum_kernel.cpp)\nadd_executable(vec_sum src/main.cpp)\n"
        "add_custom_command(OUTPUT x COMMAND ${CMAKE_COMMAND} -E add a)\nadd_dependencies(vec_sum vec_sum_kernel)\n"
    )
    assert after(plan, "_kernel.cpp") == (
        "#include <set>\nclass VecSum {};\nvoid launch_vec_sum(int vec_sum_len);\n"
        'extern "C" __global__ __aicore__ void vec_sum_fp16(GM_ADDR x) { std::add(x); s.add(x); }\n'
    )
    assert after(plan, "run.sh") == (
        'git add -A  # add it\n"${OP_DIR}/build/bin/vec_sum" --add --add-all\nbash build.sh vec_sum\n'
    )
    assert after(plan, "check_result.py") == COMMON["scripts/check_result.py"].replace(
        "ShmemOps.Add", "ShmemOps.VecSum"
    ).replace("custom-ops/add/build/bin/add", "custom-ops/vec_sum/build/bin/vec_sum")
    assert {new.rpartition("/")[2] for _, new in plan.moves} <= {"vec_sum_kernel.cpp", "vec_sum"}
    assert any(site.text == "add" for site in plan.kept), "the user is told what was left"


def test_names_of_libraries_are_not_the_operators(make):
    script = (
        "import torch.distributed as dist\nfrom torch.distributed import all_gather\n"
        "def golden_all_gather(x):\n    dist.all_gather(x)\n    return all_gather(x, all_gather=1)\n"
        "golden_all_gather(2)\n"
    )
    design = DESIGN.replace("gather", "all_gather")
    plan = renaming(make(**{"docs/design.md": design, "scripts/golden.py": script}), "collect", lambda _: False)

    assert after(plan, "golden.py") == script.replace("golden_all_gather", "golden_collect")
