"""Cheating seen in the text: each kind with its exact places, and honest code that looks like it."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from verify_made import Made

from opdev.bench.cheats import look, operator_name


@pytest.fixture
def made(tmp_path):
    return Made(tmp_path)


def failing(made):
    """``{check: lines}`` of the checks that fail, and the verdict."""
    report = look(made.op, str(made.folder))
    return {c.name: [line for _, line in c.places] for c in report.checks if c.status == "fail"}, report.verdict


def test_an_honest_implementation_passes_every_check(made):
    assert failing(made) == ({}, "pass")


@pytest.mark.parametrize("op", ["add", "two"])
def test_parameters_dicts_and_allocations_are_no_suspicion(tmp_path, op):
    assert failing(Made(tmp_path, op)) == ({}, "pass")


FATAL = [
    ("library_patched", "torch.testing.assert_close = lambda *a, **k: None"),
    ("library_patched", "torch.allclose = lambda *a, **k: True"),
    ("library_patched", "setattr(torch, 'equal', print)"),
    ("library_patched", "torch.Tensor.__eq__ = None"),
    ("library_patched", "torch.__dict__['allclose'] = print"),
    ("library_patched", "from unittest import mock; mock.patch('torch.allclose').start()"),
    ("library_patched", "import builtins; builtins.print = None"),
    ("library_patched", "import torch.nn.functional as F; F.relu = None"),
    ("reference_imported", "from task_desc import Model"),
    ("reference_imported", "import relu_golden as g"),
    ("reference_imported", "import importlib; importlib.import_module('task_desc')"),
    ("reference_imported", "spec = open('/x/task_desc.py').read()"),
    ("caller_reached", "import sys; m = sys.modules['__main__']"),
    ("caller_reached", "import sys; f = sys._getframe(1)"),
    ("caller_reached", "import inspect; s = inspect.stack()"),
    ("caller_reached", "import gc; o = gc.get_objects()"),
    ("caller_reached", "from gc import get_objects; o = get_objects()"),
    ("caller_reached", "x = (lambda: 0).__closure__"),
    ("caller_reached", "e = open('/proc/self/cmdline')"),
    ("caller_reached", "import __main__"),
]


@pytest.mark.parametrize(("check", "line"), FATAL)
def test_what_is_certain_is_fatal_with_its_line(made, check, line):
    made.swap("relu_impl.py", "import pypto\n", f"import pypto\n{line}\n")

    found, verdict = failing(made)

    assert verdict == "cheat"
    assert found[check] == [made.line("relu_impl.py", line)]


@pytest.mark.parametrize(
    "line",
    [
        "torch.backends.cudnn.deterministic = True",
        "torch.npu.config.allow_internal_format = False",
        "NAMES = {}; NAMES['torch'] = 1",
        "import inspect; s = inspect.signature(print)",
        "# torch.allclose = 1",
        "TEXT = 'torch.allclose = 1'",
        "import os; D = int(os.environ.get('TILE_FWK_DEVICE_ID', '0'))",
        "import os; D = os.environ['ASCEND_DEVICE_ID']",
    ],
)
def test_settings_and_words_are_no_cheat(made, line):
    made.swap("relu_impl.py", "import pypto\n", f"import pypto\n{line}\n")

    assert failing(made) == ({}, "pass")


@pytest.mark.parametrize(
    ("check", "old", "new", "words"),
    [
        ("torch_compute", "return out\n", "return torch.relu(x)\n", "torch.relu"),
        ("torch_compute", "return out\n", "return out.sum()\n", "out.sum"),
        ("torch_compute", "relu_kernel(x, out)\n", "relu_kernel(torch.nn.functional.relu(x), out)\n", "functional"),
        ("outside_data", "out = torch.empty", "out = torch.load('o.pt') or torch.empty", "torch.load"),
        ("dynamic_code", "out = torch.empty", "eval('1'); out = torch.empty", "eval("),
        ("dynamic_code", "out = torch.empty", "getattr(torch, 'al' + 'l'); out = torch.empty", "getattr"),
        ("dynamic_code", "out = torch.empty", "import os; os._exit(0); out = torch.empty", "_exit"),
        ("branch_without_kernel", "out = torch.empty", "if x.numel() > 9:\n        return x\n    out = torch.empty", "return x"),
        (
            "fallback_handler", "    relu_kernel(x, out)\n",
            "    try:\n        relu_kernel(x, out)\n    except Exception:\n        out = x.clone()\n", "except Exception",
        ),
        ("forbidden_text_patterns", "out = torch.empty", "# a Workaround\n    out = torch.empty", "Workaround"),
    ],
)  # fmt: skip
def test_what_is_likely_is_a_warning_with_its_line(made, check, old, new, words):
    made.swap("relu_impl.py", old, new)

    found, verdict = failing(made)

    assert verdict == "suspicious"
    assert found == {check: [made.line("relu_impl.py", words)]}


def test_a_kernels_own_parts_are_not_to_be_replaced(made):
    made.swap("relu_impl.py", "def relu_wrapper", "relu_kernel._execute_kernel = print\n\n\ndef relu_wrapper")

    assert failing(made) == ({"library_patched": [made.line("relu_impl.py", "_execute_kernel")]}, "cheat")


def test_a_handler_that_raises_and_a_branch_that_refuses_hide_nothing(made):
    made.swap("relu_impl.py", "    relu_kernel(x, out)\n", (
        "    if x.dim() != 2:\n        raise ValueError(x.shape)\n"
        "    try:\n        relu_kernel(x, out)\n    except RuntimeError as error:\n        raise ValueError('relu') from error\n"
    ))  # fmt: skip

    assert failing(made) == ({}, "pass")


def test_to_define_an_operation_inside_a_try_is_not_to_start_a_kernel(made):
    made.swap("relu_impl.py", "    return out\n", (
        "    return out\n\n\ntry:\n\n    @torch.library.impl(LIB, 'relu', 'NPU')\n    def relu_npu(x):\n        return relu_wrapper(x)\n"
        "except Exception as error:\n    print(error)\n"
    ))  # fmt: skip
    made.swap("relu_pypto_impl.py", "return relu_wrapper(x)", "return torch.ops.mine.relu_npu(x)")
    made.swap("relu_pypto_impl.py", "from torch import nn", "import torch\nfrom torch import nn")

    assert failing(made) == ({}, "pass")


def test_a_layer_of_torch_in_forward_is_told(made):
    made.write("relu_pypto_impl.py", (
        "import torch\nfrom relu_impl import relu_wrapper\n\n\nclass ModelNew(torch.nn.Module):\n    def __init__(self):\n"
        "        super().__init__()\n        self.act = torch.nn.ReLU()\n\n    def forward(self, x):\n        return relu_wrapper(self.act(x))\n"
    ))  # fmt: skip

    assert failing(made) == ({"torch_compute": [11]}, "suspicious")


def test_a_jit_of_ones_own_is_no_kernel_and_an_alias_of_pyptos_is(made):
    made.swap("relu_impl.py", "@pypto.frontend.jit", "def jit(f):\n    return f\n\n\n@jit")
    assert failing(made)[0]["has_jit"] == []

    made.swap(
        "relu_impl.py",
        "def jit(f):\n    return f\n\n\n@jit",
        "from pypto.frontend import jit as compiled\n\n\n@compiled",
    )
    assert failing(made) == ({}, "pass")


def test_every_hit_is_told_and_where_it_stands_apart(made):
    made.swap("relu_impl.py", "out = torch.empty_like(x)\n", (
        'out = torch.empty_like(x)  # fallback to torch\n    workaround = "for testing only"\n    """bypass pypto"""\n'
    ))  # fmt: skip

    (check,) = [c for c in look("relu", str(made.folder)).checks if c.name == "forbidden_text_patterns"]

    first = made.line("relu_impl.py", "fallback to torch")
    assert [line for _, line in check.places] == [first, first + 1, first + 2]
    assert "1 in code, 2 in strings, 1 in comments" in check.detail["en"]


def test_a_module_that_takes_a_librarys_name_and_a_file_that_does_not_parse(made):
    made.write("pypto.py", "")
    made.write("relu_impl.py", "import pypto\n\ndef relu_wrapper(x:\n    pass\n")

    found, verdict = failing(made)

    assert verdict == "cheat"
    assert found["parse:relu_impl.py"] == [3]
    assert found["module_shadowed"] == [1]


def test_what_a_source_imports_of_its_folder_is_looked_at_too(made):
    made.write("modules/helper.py", "import torch\n\n\ntorch.equal = None\n")
    made.swap("relu_impl.py", "import pypto\n", "import pypto\nfrom modules import helper\n")

    (check,) = [c for c in look("relu", str(made.folder)).checks if c.name == "library_patched"]

    assert check.places == ((str(made.folder / "modules" / "helper.py"), 4),)


def test_without_a_source_it_is_a_cheat_and_the_name_is_found_by_the_files(made):
    assert operator_name(str(made.folder)) == "relu"
    (made.folder / "relu_impl.py").unlink()
    (made.folder / "relu_pypto_impl.py").unlink()
    assert failing(made) == ({"sources_present": []}, "cheat")


def check(made, *words):
    return subprocess.run(
        [sys.executable, "-m", "opdev.cli", "bench", "check", str(made.folder), *words],
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_command_tells_places_and_ends_by_the_verdict(made):
    assert check(made).returncode == 0
    made.swap("relu_impl.py", "return out\n", "return out * 1.0 + torch.relu(x)\n")
    assert check(made).returncode == 0
    made.swap("relu_impl.py", "import pypto\n", "import pypto\ntorch.equal = None\n")

    done = check(made, "--lang", "en")
    told = json.loads(check(made, "--format", "json").stdout)

    assert done.returncode == 1
    assert f"relu_impl.py:{made.line('relu_impl.py', 'torch.equal')}" in done.stdout
    assert done.stdout.endswith("Static checks: cheat\n")
    assert (told["op_name"], told["verdict"]) == ("relu", "cheat")
    assert [c["name"] for c in told["checks"] if c["status"] == "fail"] == ["library_patched", "torch_compute"]
    made.folder = made.folder / "missing"
    assert check(made).returncode == 2
