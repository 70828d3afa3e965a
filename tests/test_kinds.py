"""What a file is: by path first, by content where the path says nothing."""

from __future__ import annotations

import pytest

from opdev.kinds import KINDS, classify, has_known_suffix

KERNEL = b'#include "shmem.h"\nextern "C" __global__ __aicore__ void k(GM_ADDR x) {}\n'
HOST = b'#include "shmem.h"\nint main() { aclshmem_malloc(4); }\n'


@pytest.mark.parametrize(
    ("path", "data", "kinds"),
    [
        ("custom-ops/ag/src/ag_kernel.cpp", KERNEL, {"cpp", "kernel"}),
        ("custom-ops/ag/src/ag_kernel.h", b"#pragma once\n", {"cpp", "header", "kernel"}),
        ("custom-ops/ag/src/main.cpp", HOST, {"cpp", "host"}),
        ("examples/cmo/main.cpp", KERNEL + HOST, {"cpp", "kernel", "host"}),
        ("custom-ops/ag/torch_binding/bind.cpp", b"#include <torch/script.h>\n", {"cpp", "torch-binding"}),
        ("custom-ops/ag/CMakeLists.txt", b"project(ag)\n", {"cmake"}),
        ("custom-ops/ag/scripts/run.sh", b"echo\n", {"shell", "run-script"}),
        ("custom-ops/ag/scripts/perf.sh", b"echo\n", {"shell", "perf-script"}),
        ("custom-ops/ag/baseline/scripts/run_baseline.sh", b"echo\n", {"shell", "baseline-script"}),
        ("custom-ops/scripts/build.sh", b"echo\n", {"shell", "wrapper-script", "build-script"}),
        ("custom-ops/ag/scripts/build.sh", b"echo\n", {"shell", "build-script"}),
        ("custom-ops/ag/scripts/gen_data.py", b"pass\n", {"python", "golden"}),
        ("custom-ops/ag/scripts/check_result.py", b"pass\n", {"python", "checker"}),
        ("custom-ops/ag/scripts/run_case_matrix.py", b"pass\n", {"python", "case-runner"}),
        ("custom-ops/ag/scripts/torch_test_ag.py", b"import torch_npu\n", {"python", "torch-test"}),
        ("custom-ops/ag/docs/design.md", b"#\n", {"doc", "design-doc"}),
        ("custom-ops/ag/docs/performance_report.md", b"#\n", {"doc", "report"}),
        ("custom-ops/ag/README.md", b"#\n", {"doc", "readme"}),
        ("custom-ops/ag/scripts/cases.json", b"[]\n", {"contract", "cases"}),
        ("custom-ops/ag/perf.log", b"\n", {"log"}),
        ("work/run.sh", b"export SHMEM_UID_SESSION_ID=1\n", {"shell", "run-script"}),
        ("custom/add/test_add.py", b"import pypto\n", {"python", "pypto", "pypto-test"}),
        ("ops/Add/add_impl.py", b"import pypto\n", {"python", "pypto", "pypto-impl"}),
        ("ops/Add/modules/add_module12_impl.py", b"import pypto\n", {"python", "pypto", "pypto-impl"}),
        ("ops/mha/flash_attention_impl_910.py", b"import pypto\n", {"python", "pypto", "pypto-impl"}),
        ("ops/add/add_impl.py", b"import pypto_pro.language as pl\n", {"python", "pypto", "pypto-pro"}),
        ("ops/add/test_add.py", b"@pl.jit\ndef k(): ...\n", {"python", "pypto", "pypto-pro", "pypto-test"}),
        ("ops/add/modules/test_add_module12.py", b"import pypto_pro\n", {"python", "pypto", "pypto-pro", "pypto-test"}),
        ("ops/Add/EXPLORE_REPORT.md", b"# pypto\n", {"doc", "pypto-explore-report"}),
        ("ops/Add/docs/SPEC.md", b"# pypto\n", {"doc", "pypto-spec"}),
        ("ops/Add/DESIGN.md", b"# pypto\n", {"doc", "pypto-design"}),
        ("custom-ops/ag/docs/DESIGN.md", b"# AllGather\n", {"doc", "design-doc"}),
        ("elsewhere/DESIGN.md", b"pypto\ndsl_version: '1'\n", {"doc", "design-doc"}),
    ],
)
def test_kinds_of_an_operators_files(path, data, kinds):
    assert classify(path, data).names == kinds


@pytest.mark.parametrize(
    ("path", "data"),
    [
        ("src/app.cpp", b"int main() { return 0; }\n"),
        ("tools/deploy.sh", b"kubectl apply\n"),
        ("web/app.py", b"import flask\n"),
        ("README.md", b"# A web shop\n"),
        ("package.json", b"{}"),
        ("image.png", b""),
    ],
)
def test_files_of_other_projects_are_not_ours(path, data):
    assert not classify(path, data)


@pytest.mark.parametrize(
    ("path", "data", "kinds"),
    [
        ("add/add_impl.py", b"import torch\n", {"python", "pypto-impl"}),
        ("add/add_golden.py", b"import torch\n", {"python", "pypto-golden"}),
        ("add/test_add.py", b"import torch\n", {"python", "pypto-test"}),
        ("add/API_REPORT.md", b"#\n", {"doc", "pypto-api-report"}),
        ("add/MEMORY.md", b"#\n", {"doc", "pypto-memory"}),
        ("add/.orchestrator_state.json", b"{}", {"contract", "pypto-state"}),
        ("add/KB_USAGE.json", b"{}", {"contract", "pypto-kb"}),
        ("add/relu/KB_SELECTION.json", b"{}", {"contract", "pypto-kb"}),
        ("add/DESIGN_BINDINGS.json", b"{}", {"contract", "pypto-kb"}),
        ("add/PERFORMANCE_CASES.json", b"{}", {"contract", "pypto-perf-cases"}),
        ("add/PRO_MATERIAL_INDEX.md", b"#\n", {"doc", "pypto-material-index"}),
        ("add/add_golden_cpu.py", b"import torch\n", {"python", "pypto-golden"}),
        ("add/modules/add_golden_stage12.py", b"import torch\n", {"python", "pypto-golden"}),
        ("add/eval/module_interfaces.yaml", b"{}", {"contract", "pypto-interfaces"}),
        ("custom-ops/add/add_impl.py", b"import torch\n", {"python"}),
    ],
)
def test_kinds_of_a_pypto_operators_files(path, data, kinds):
    assert classify(path, data, in_operator=True).names == kinds


@pytest.mark.parametrize(
    "data",
    [
        b"import pypto.language as pl\n",
        b"from pypto import ir, language as pl\n",
        b"from pypto.language import Tensor\n",
    ],
)
def test_another_framework_of_the_same_name_is_not_ours(data):
    assert not classify("custom/add/add_impl.py", data, in_operator=True)
    assert classify("custom/add/add_impl.py", b"import pypto\n" + data.replace(b"pypto", b"other"), in_operator=True)


def test_every_kind_given_out_is_documented():
    for path in ("a/custom-ops/x/src/x_kernel.cpp", "a/custom-ops/x/scripts/run.sh", "a/custom-ops/x/docs/design.md"):
        assert classify(path, b"").names <= set(KINDS)


@pytest.mark.parametrize("name", ["CMakeLists.txt", "a.CPP", "x.md", "perf.log", "y.sh"])
def test_suffixes_that_need_a_look(name):
    assert has_known_suffix(name)


@pytest.mark.parametrize("name", ["a.png", "Makefile", "x", ".gitignore", "lib.so.1"])
def test_suffixes_that_need_none(name):
    assert not has_known_suffix(name)
