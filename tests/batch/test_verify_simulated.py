"""Verification on the real wheel, in simulation: what is right passes, and everything else ends in its own category."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from verify_made import Made

sys.path.insert(0, str(Path(__file__).parents[1] / "pyptosim"))

from forking import forking
from scaled import wheels

from opdev.bench import evidence, verdicts
from opdev.bench.model import Host, Slot, VerifierSettings
from opdev.bench.verifying import verify
from opdev.runs.execute import Stop

# One worker: whoever comes first builds the interpreter, the others would wait for it.
pytestmark = pytest.mark.xdist_group("pypto")
HERE = Host()


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    """The Python with the wheels, and one that has imported them already."""
    found = wheels()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPDEV_CACHE_DIR", str(Path(found).parents[1] / "share" / "opdev-cache"))
        patch.delenv("PYTHONPATH", raising=False)
        patch.delenv("ASCEND_HOME_PATH", raising=False)
        with forking(found, tmp_path_factory.mktemp("python")) as forked:
            yield found, forked


@pytest.fixture
def judged(environment):
    """``judged(made)``: the verdict, and its evidence read back."""

    def judged(made, python=environment[1], host=HERE, **settings):
        chosen = VerifierSettings(
            backend="sim", python=python, **{"seeds": 1, "timeout": 120.0, "memory": 3000, **settings}
        )
        found = verify(made.op, str(made.folder), str(made.case), str(made.out), chosen, Slot(host, 0), Stop())
        document = json.loads((made.out / evidence.NAME).read_text(encoding="utf-8"))
        assert evidence.read(document).status == found.status
        # Whoever reads the evidence later comes to the same verdict.
        again = verdicts.derive(verdicts.read(str(made.out / evidence.NAME)))
        assert (again.status, again.correctness, again.faults) == (found.status, found.correctness, ())
        assert "simulated" in found.message["en"]
        assert "模拟" in found.message["zh"]
        assert (found.performance.generated_us, found.performance.speedup) == (None, None)
        # Nothing but evidence stays behind.
        assert not [name for name in os.listdir(made.out) if name.startswith(".")]
        return found, document

    return judged


def told(found):
    return found.status, found.category, found.message["en"]


def test_a_right_implementation_passes_with_what_it_is_made_of(tmp_path, judged, environment):
    made = Made(tmp_path)

    found, document = judged(made, environment[0], seeds=2, keep=True, rtol=1e-5, atol=1e-5)

    assert (found.status, found.category, found.correctness) == ("passed", None, True), found.message
    assert (document["backend"], document["simulated"]) == ("sim", True)
    seeds = document["seeds"]
    assert [seed["drawn"] for seed in seeds] == [False, True]
    assert seeds[0]["seed"] == 42
    assert len({seed["seed"] for seed in seeds}) == len({seed["inputs"][0]["sha256"] for seed in seeds}) == 2
    for seed in seeds:
        (launch,) = seed["launches"]
        assert (launch["kernel"], launch["path"], launch["written"]) == ("relu_kernel", "relu_impl.py", ["out"])
        assert launch["line"] == made.line("relu_impl.py", "@pypto.frontend.jit")
        (output,) = seed["outputs"]
        assert (output["origin"], output["verdict"], output["metrics"]["within"], output["beyond"]) == (
            "kernel",
            "pass",
            4096,
            0,
        )
        assert (made.out / output["actual"]["file"]).is_file()
    assert [stage["name"] for stage in document["stages"]] == ["inputs", "candidate", "reference"]
    assert all(stage["complete"] and stage["exit"] == 0 for stage in document["stages"])
    assert set(document["sources"]) == {"relu_impl.py", "relu_pypto_impl.py"}
    assert document["versions"]["pypto"] == "0.2.0"
    assert document["cheat"]["verdict"] == "pass"


@pytest.mark.parametrize("op", ["add", "two"])
def test_parameters_and_several_outputs_are_verified(tmp_path, judged, op):
    found, document = judged(Made(tmp_path, op))

    assert (found.status, found.correctness) == ("passed", True), found.message
    (seed,) = document["seeds"]
    assert [one["name"] for one in seed["outputs"]] == (["y"] if op == "add" else ["y['next']", "y['twice']"])
    assert [one["name"] for one in seed["state"]] == (["bias"] if op == "add" else [])


WRAPPER = "def relu_wrapper(x):\n    out = torch.empty_like(x)\n    relu_kernel(x, out)\n    return out\n"
HONEST = {
    # By way of an operation of its own, as graph mode needs it.
    "operation": (
        "    return torch.ops.opdev_tried.relu(x)\n\n\nLIB = torch.library.Library('opdev_tried', 'DEF')\n"
        "LIB.define('relu(Tensor x) -> Tensor')\n\n\n@torch.library.impl(LIB, 'relu', 'CPU')\ndef relu_operation(x):\n"
        "    out = torch.empty_like(x)\n    relu_kernel(x, out)\n    return out\n"
    ),
    # Views, casts and copies before and after; memory that is no fresh allocation but written all over.
    "layout": (
        "    out = torch.zeros(64, 128)[:, :64].contiguous()\n    relu_kernel(x.t().contiguous().t().contiguous(), out)\n"
        "    return out.double().to(torch.float32).reshape(4096).view(64, 64).clone()\n"
    ),
    "prepared": "    out = x * 0.0\n    relu_kernel(x, out)\n    return out\n",
}


@pytest.mark.parametrize("kind", HONEST)
def test_a_kernels_work_is_its_own_however_it_is_carried(tmp_path, judged, kind):
    made = Made(tmp_path)
    made.swap("relu_impl.py", WRAPPER, f"def relu_wrapper(x):\n{HONEST[kind]}")

    found, document = judged(made)

    assert (found.status, found.correctness) == ("passed", True), found.message
    told = {c["name"] for c in document["cheat"]["checks"] if c["status"] == "fail"}
    assert told == ({"runtime_torch_compute"} if kind == "prepared" else set())


def test_on_another_host_it_is_verified_by_what_lies_in_shared_folders(tmp_path, judged):
    # What a prefix does: it gives one word to a shell.
    found, document = judged(Made(tmp_path), host=Host("node1", ("sh", "-c")))

    assert (found.status, document["host"]) == ("passed", "node1"), found.message


def test_a_tail_that_is_left_out_is_told_by_its_place(tmp_path, judged):
    made = Made(tmp_path)
    made.swap("relu_impl.py", "pypto.loop(2,", "pypto.loop(1,")

    found, document = judged(made)

    assert (found.status, found.category) == ("failed", "CORRECTNESS_NUMERICAL"), found.message
    assert "[32, 0]" in found.message["en"]
    assert document["seeds"][0]["outputs"][0]["mismatches"][0]["coordinates"] == [32, 0]


HOLLOW = {
    # The kernel runs, and what is handed back is Torch's.
    "beside": ("    relu_kernel(x, torch.empty_like(x))\n    return torch.relu(x)\n", "computed by torch (relu, relu_impl.py:"),
    # The kernel only moves what Torch computed (relu of it is itself).
    "moved": ("    out = torch.empty_like(x)\n    relu_kernel(torch.relu(x), out)\n    return out\n", "only moves what torch had computed"),
    # Written over with numpy, past Torch's eyes, after the kernel.
    "numpy": (
        "    out = torch.empty_like(x)\n    relu_kernel(x[:, :] * 0, out)\n    out.numpy()[:] = x.numpy().clip(0)\n    return out\n",
        "was changed by other code after the kernel",
    ),
    # The same by a copy.
    "copy": (
        "    out = torch.empty_like(x)\n    relu_kernel(x, out)\n    out = out.clone()\n    out.numpy()[:] = x.numpy().clip(0)\n    return out\n",
        "the memory of y left torch",
    ),
    "nothing": ("    return torch.relu(x)\n", "started no PyPTO kernel"),
    "foreign": (
        "    relu_kernel(x, torch.empty_like(x))\n    return torch.from_numpy(x.numpy().clip(0))\n",
        "was not allocated by torch in this forward",
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", HOLLOW)
def test_an_output_that_is_no_kernels_work_is_a_cheat_however_right(tmp_path, judged, kind):
    made = Made(tmp_path)
    body, words = HOLLOW[kind]
    made.swap("relu_impl.py", WRAPPER, f"def relu_wrapper(x):\n{body}")

    status, category, message = told(judged(made)[0])

    assert (status, category) == ("failed", "CHEAT_SEMANTIC"), message
    assert words in message


def test_a_kernel_that_writes_a_part_of_what_torch_prepared_is_told_how_much(tmp_path, judged):
    made = Made(tmp_path)
    made.swap("relu_impl.py", "pypto.loop(2,", "pypto.loop(1,")
    made.swap("relu_impl.py", "torch.empty_like(x)", "torch.relu(x)")

    status, category, message = told(judged(made)[0])

    assert (status, category) == ("failed", "CHEAT_SEMANTIC")
    assert "writes only 2048 of 4096 elements of y" in message


def test_what_is_put_into_a_kernels_place_is_not_the_kernel(tmp_path, judged):
    made = Made(tmp_path)
    made.swap("relu_impl.py", "pypto.maximum(part, 0.0)", "pypto.maximum(part, -9.0)")
    made.swap("relu_impl.py", "def relu_wrapper", (
        "vars(relu_kernel)['_execute_kernel'] = lambda given, _: given[1].copy_(given[0].clamp(min=0))\n\n\ndef relu_wrapper"
    ))  # fmt: skip

    status, category, message = told(judged(made)[0])

    assert (status, category) == ("failed", "CHEAT_SEMANTIC"), message
    assert "called once more by itself" in message
    assert "relu_kernel out" in message


def test_two_kernels_in_a_forward_are_too_many(tmp_path, judged):
    made = Made(tmp_path)
    made.swap("relu_impl.py", "    relu_kernel(x, out)\n", "    relu_kernel(x, out)\n    relu_kernel(x, out)\n")

    found, _ = judged(made)

    assert (found.status, found.category, found.correctness) == ("failed", "CHEAT_MULTI_KERNEL", True), found.message


def test_a_cheat_that_the_text_shows_is_not_run(tmp_path, judged):
    made = Made(tmp_path)
    made.swap(
        "relu_impl.py",
        "import pypto\n",
        f"import pypto\nopen({str(tmp_path / 'ran')!r}, 'w')\ntorch.allclose = print\n",
    )

    found, document = judged(made)

    assert (found.status, found.category, found.correctness) == ("failed", "CHEAT_SEMANTIC", None)
    assert document["stages"] == []
    assert not (tmp_path / "ran").exists()


REACHING = {
    "another function": ("T = __import__('tor' + 'ch')\nsetattr(T, 'all' + 'close', print)\n", "torch.allclose"),
    "another body": (
        "T = __import__('tor' + 'ch')\nf = T.__dict__['nor' + 'm']\nsetattr(f, '__co' + 'de__', f.__code__)\n",
        "object.__setattr__ relu_impl.py:",
    ),
    "all objects": ("G = __import__('g' + 'c')\nvars(G)['get_' + 'objects']()\n", "gc.get_objects relu_impl.py:"),
    "frames": ("S = __import__('sy' + 's')\nvars(S)['_get' + 'frame'](1)\n", "sys._getframe relu_impl.py:"),
    "an operation of torch": (
        "L = getattr(torch, 'libra' + 'ry').Library('at' + 'en', 'IMPL')\nL.impl('eq' + 'ual', lambda a, b: True, 'CPU')\n",
        "aten/equal/CPU",
    ),
    "a thread": (
        "import time\nfrom threading import Thread\nThread(target=time.sleep, args=(60,), daemon=True).start()\n",
        "left code there that would still run (threads)",
    ),
    "a timer": ("import signal\nsignal.signal(signal.SIGALRM, print)\nsignal.setitimer(signal.ITIMER_REAL, 50)\n", "signal 14"),
}  # fmt: skip


@pytest.mark.parametrize("kind", REACHING)
def test_what_no_text_shows_for_certain_is_found_when_it_runs(tmp_path, judged, kind):
    made = Made(tmp_path)
    code, words = REACHING[kind]
    if kind not in ("a thread", "a timer"):
        # All is done when it is imported: it need not compute anything.
        made.swap("relu_pypto_impl.py", "return relu_wrapper(x)", "raise ValueError")
    made.swap("relu_impl.py", "import pypto\n", f"import pypto\n{code}")

    found, document = judged(made)

    assert (found.status, found.category, words in found.message["en"]) == ("failed", "CHEAT_SEMANTIC", True), (
        found.message
    )
    assert len(document["stages"]) == 2, "its text alone is suspicious, no more"


def test_the_reference_is_not_to_be_read_by_any_path(tmp_path, judged):
    made = Made(tmp_path)
    made.swap(
        "relu_pypto_impl.py",
        "return relu_wrapper(x)",
        f"self.text = open({str(made.case)[:-3]!r} + '.p' + 'y').read()\n        return relu_wrapper(x)",
    )

    found, document = judged(made)

    assert (found.status, found.category) == ("failed", "CHEAT_SEMANTIC"), found.message
    assert f"{made.case} (relu_pypto_impl.py:9)" in found.message["en"]
    assert [c["level"] for c in document["cheat"]["checks"] if c["name"] == "runtime_outside"] == ["warn"]


def test_the_python_that_judges_is_not_to_be_changed(tmp_path, judged, monkeypatch):
    site = tmp_path / "site"
    site.mkdir()
    (site / "sitecustomize.py").write_text("# mine\n")
    monkeypatch.setenv("PYTHONPATH", str(site))
    made = Made(tmp_path)
    made.swap("relu_pypto_impl.py", "return relu_wrapper(x)", (
        f"import os\n        open({str(site)!r} + '/sitecustomize.py', 'w').write('# ours\\n')\n"
        f"        os.utime({str(site)!r} + '/sitecustomize.py', ns=(1, 1))\n        raise ValueError"
    ))  # fmt: skip

    status, category, message = told(judged(made)[0])

    assert (status, category) == ("failed", "CHEAT_SEMANTIC"), message
    assert f"{site}/sitecustomize.py changed while the implementation ran" in message


def test_bfloat16_is_judged_by_its_own_limits(tmp_path, judged):
    made = Made(tmp_path)
    text = (made.folder / "relu_impl.py").read_text(encoding="utf-8")
    made.write("relu_impl.py", text.replace("DT_FP32", "DT_BF16"))
    made.case.write_text(
        made.case.read_text(encoding="utf-8").replace("randn(64, 64)", "randn(64, 64).bfloat16()"), encoding="utf-8"
    )

    found, document = judged(made, rtol=0.0, atol=0.0)

    assert found.status == "passed", found.message
    (output,) = document["seeds"][0]["outputs"]
    assert (output["limits"]["dtype"], output["actual"]["dtype"], output["beyond"]) == ("bfloat16", "bfloat16", 0)


def test_an_output_of_a_kind_of_its_own_is_not_looked_into(tmp_path, judged):
    made = Made(tmp_path)
    made.swap("relu_pypto_impl.py", "class ModelNew", (
        "import torch\n\n\nclass Odd(torch.Tensor):\n    @classmethod\n    def __torch_function__(cls, func, types, args=(), kwargs=None):\n"
        "        print('looked at', flush=True)\n        return super().__torch_function__(func, types, args, kwargs or {})\n\n\nclass ModelNew"
    ))  # fmt: skip
    made.swap("relu_pypto_impl.py", "return relu_wrapper(x)", "return relu_wrapper(x).as_subclass(Odd)")

    found, document = judged(made)

    assert (found.status, found.category) == ("failed", "CORRECTNESS_SHAPE_OR_IO"), found.message
    assert "Odd" in document["seeds"][0]["outputs"][0]["actual"]["text"]


def test_an_exit_of_its_own_is_no_pass_whatever_it_prints_and_leaves(tmp_path, judged):
    made = Made(tmp_path)
    made.swap("relu_impl.py", "import pypto\n", (
        "import pypto\nimport os\nfor d in (os.environ['TMPDIR'] + '/../out', '.'):\n"
        "    open(d + '/done.json', 'w').write('{\"stage\": \"candidate\", \"nonce\": \"1\"}')\n"
        "print('VERIFY_PASSED', flush=True)\nos._exit(0)\n"
    ))  # fmt: skip

    status, category, message = told(judged(made)[0])

    assert status == "failed"
    assert category in ("CORRECTNESS_RUNTIME", "CHEAT_SEMANTIC")
    assert "not of this verification" in message


def test_a_remembered_answer_is_right_for_the_known_seed_alone(tmp_path, judged):
    made = Made(tmp_path)
    made.swap("relu_impl.py", WRAPPER, (
        "torch.manual_seed(42)\nKNOWN = torch.randn(64, 64)\n\n\ndef relu_wrapper(x):\n    out = torch.empty_like(x)\n"
        "    relu_kernel(KNOWN, out)\n    return out\n"
    ))  # fmt: skip

    found, document = judged(made, seeds=2)

    assert (found.status, found.category) == ("failed", "CORRECTNESS_NUMERICAL"), found.message
    assert [seed["outputs"][0]["verdict"] for seed in document["seeds"]] == ["pass", "fail"]
    assert "it knows the answer to seed 42" in found.message["en"]


def test_an_input_that_is_written_into_is_told(tmp_path, judged):
    made = Made(tmp_path)
    made.swap("relu_impl.py", "    return out\n", "    x[0, 0] = 7.0\n    return out\n")

    status, category, message = told(judged(made)[0])

    assert (status, category) == ("failed", "CORRECTNESS_SHAPE_OR_IO"), message
    assert "changes its input x[0]" in message


@pytest.mark.parametrize(
    ("op", "name", "old", "new", "category", "words"),
    [
        ("add", "add_pypto_impl.py", "self.bias = nn.Parameter(torch.empty(32, width))", "self.shift = nn.Parameter(torch.empty(32, width))", "CORRECTNESS_SHAPE_OR_IO", "missing bias, more shift"),
        ("add", "add_pypto_impl.py", "torch.empty(32, width)", "torch.empty(16, width)", "CORRECTNESS_SHAPE_OR_IO", "float32[16, 64], the reference's float32[32, 64]"),
        ("relu", "relu_pypto_impl.py", "return relu_wrapper(x)", "return relu_wrapper(x).half()", "CORRECTNESS_SHAPE_OR_IO", "dtype float16"),
        ("relu", "relu_pypto_impl.py", "return relu_wrapper(x)", "raise ValueError('瓦片')", "CORRECTNESS_RUNTIME", "ValueError: 瓦片 (relu_pypto_impl.py:9)"),
        ("relu", "relu_pypto_impl.py", "class ModelNew", "class Other", "ERROR_INPUT_OR_ARTIFACT", "no class ModelNew"),
        ("relu", "relu_impl.py", "pypto.maximum(", "pypto.maximal(", "ERROR_OTHER", "no attribute 'maximal'"),
        ("relu", "relu_pypto_impl.py", "return relu_wrapper(x)", "b = [bytearray(1 << 30) for _ in range(9)]", "CORRECTNESS_RUNTIME", "limit of 3000 MB"),
        ("relu", "relu_pypto_impl.py", "return relu_wrapper(x)", "import signal\n        signal.raise_signal(signal.SIGSEGV)", "CORRECTNESS_RUNTIME", "signal 11"),
    ],
)  # fmt: skip
def test_each_fault_ends_in_its_own_category(tmp_path, judged, op, name, old, new, category, words):
    made = Made(tmp_path, op)
    made.swap(name, old, new)

    found, _ = judged(made)

    assert found.status == ("error" if category.startswith("ERROR") else "failed")
    assert (found.category, words in found.message["en"]) == (category, True), found.message


def test_one_that_hangs_is_ended_with_all_it_started(tmp_path, judged, environment):
    made = Made(tmp_path)
    made.swap(
        "relu_impl.py",
        "import pypto\n",
        "import pypto\nimport subprocess, time\nsubprocess.Popen(['sleep', '987'], start_new_session=True)\nprint('waiting', flush=True)\ntime.sleep(600)\n",
    )

    found, document = judged(made, environment[0], timeout=25.0)

    assert (found.status, found.category) == ("failed", "CORRECTNESS_RUNTIME")
    assert "more than 25 s" in found.message["en"]
    assert "waiting" in found.message["en"]
    assert not [p for p in Path("/proc").glob("[0-9]*/cmdline") if _read(p) == b"sleep\x00987\x00"]
    assert next(s for s in document["stages"] if s["name"] == "candidate")["timed_out"]


def _read(path):
    try:
        return path.read_bytes()
    except OSError:
        return b""


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("return torch.relu(x)", "return torch.nonsense(x)", "the reference does not run"),
        ("torch.randn(64, 64)", "torch.randn(64, 64) + __import__('time').monotonic_ns() % 1000", "gives other inputs"),
        ("def get_init_inputs", "def get_nothing", "lacks get_init_inputs"),
    ],
)
def test_a_case_that_does_not_run_is_not_the_implementations_fault(tmp_path, judged, old, new, words):
    made = Made(tmp_path)
    made.case.write_text(made.case.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")

    status, category, message = told(judged(made)[0])

    assert (status, category, words in message) == ("baseline_failed", "BASELINE_FAILED", True), message


def test_the_implementation_finds_neither_case_nor_reference_near_it(tmp_path, judged):
    made = Made(tmp_path)
    made.write("task_desc.py", made.case.read_text(encoding="utf-8"))
    made.swap("relu_pypto_impl.py", '"""与参考同名参数的模型。"""', (
        "import os\nimport sys\nfound = [os.path.join(t, f) for t, _, fs in os.walk(os.environ['TMPDIR'] + '/../..') for f in fs]\n"
        "print('FOUND', sorted(os.path.basename(f) for f in found), len(sys.argv), flush=True)"
    ))  # fmt: skip

    found, _ = judged(made)

    assert found.status == "passed", found.message
    (line,) = [one for one in (made.out / "candidate.log").read_text().splitlines() if one.startswith("FOUND")]
    assert "relu_impl.py" in line
    assert not any(name in line for name in ("case.py", "task_desc.py", "19_relu.py", "spec.json"))


def test_the_command_says_what_is_wrong_and_where_the_evidence_is(tmp_path, environment):
    made = Made(tmp_path)
    made.swap("relu_impl.py", "pypto.maximum(part, 0.0)", "pypto.maximum(part, 0.5)")
    words = [
        "bench",
        "verify",
        str(made.folder),
        "--case",
        str(made.case),
        "--python",
        environment[1],
        "--out",
        str(made.out),
        "--seeds",
        "1",
    ]

    done = subprocess.run(
        [sys.executable, "-m", "opdev.cli", *words, "--lang", "en"], capture_output=True, text=True, check=False
    )

    assert done.returncode == 1, done.stderr
    assert "Backend: sim\n  there is no NPU to run on, so it is simulated: " in done.stdout
    assert "instead of" in done.stdout
    assert f"{made.out}/verification.json" in done.stdout
    assert "Verdict: fail [CORRECTNESS_NUMERICAL]" in done.stdout
    assert "simulated" in done.stdout.splitlines()[-1]
