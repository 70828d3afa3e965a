"""Known failures: each is recognised by a line of its own, told in both languages, and leads somewhere."""

from __future__ import annotations

import pytest
from fakes import VALIDATOR

from opdev.phases.graph import ORDER
from opdev.runs.commands import commands
from opdev.runs.diagnose import CLASSES, Watch, signatures
from opdev.runs.execute import Outcome
from opdev.runs.ids import new_id

FAILED = Outcome(exit=1, seconds=2.0)

LINES = {
    "not-sourced": "[opdev] cannot be sourced: /usr/local/Ascend/set_env.sh",
    "scale-left-out": "[SKIP] 没有跑 large_8pe_fp16：规模 L，CPU 模拟默认只跑到 M",
    "not-filled": "NotImplementedError: [待填] 按 docs/design.md 的 correctness.oracle 写输入与 golden",
    "script-raised": '  File "/w/custom-ops/demo/scripts/check_result.py", line 12, in main',
    "cann-not-sourced": "  Cannot find ASCEND_HOME_PATH, please run set_env.sh.",
    "bisheng-not-found": "build.sh: line 3: bisheng: command not found",
    "pypto-sim-environment": '[PYPTO-SIM] verdict=environment python3 has no pypto: pip install "opdev[pypto-sim]"',
    "pypto-sim-unchecked": "[PYPTO-SIM] verdict=unchecked 什么都没有检查，不算通过（模拟）",
    "pypto-sim-failed": "[PYPTO-SIM] verdict=fail fail (simulated)  test_level0: the test failed: AssertionError",
    "python-module-missing": "ModuleNotFoundError: No module named 'torch_npu'",
    "python-missing": "bash: line 1: python3: command not found",
    "cmake-missing": "build.sh: line 9: cmake: command not found",
    "shmem-header-missing": "src/main.cpp:3:10: fatal error: 'shmem.h' file not found",
    "not-in-the-stand-in": "src/k.cpp:9:3: error: not in the stand-in: Matmul",
    "in-tree-helper": 'Unknown CMake command "aclshmem_add_collective_example".',
    "catlass-missing": "src/k.cpp:2:10: fatal error: catlass/gemm.hpp: No such file or directory",
    "ignored-option": "bisheng: error: '-O0' will be ignored. [-Werror,-Wcce-option-ignored]",
    "shmem-not-linked": "main.cpp:(.text+0x1f): undefined reference to `aclshmem_malloc'",
    "undefined-reference": "main.cpp:(.text+0x1f): undefined reference to `foo()'",
    "library-not-found": "/usr/bin/ld: cannot find -lshmem",
    "libshmem-not-loaded": "./x: error while loading shared libraries: libshmem.so: cannot open shared object file: No such file or directory",
    "libhccl-missing": "ImportError: libhccl.so: cannot open shared object file: No such file or directory",
    "bootstrap-plugin": "Bootstrap unable to load aclshmem_bootstrap_config_store.so",
    "port-in-use": "[SHM_SHMEM x:1] address in use for bind listen on 127.0.0.1:8899",
    "acc-store": "AccStoreServer startup failed",
    "no-port-left": "init with env port fialed",
    "heap-not-initialized": "Host Memory Heap Not Initialized.",
    "local-size-differs": "local size diffs, pe0=1, pe1=2",
    "asymmetric-alloc": "Asymmetric alloc size detected, ref(pe0)=1",
    "heap-too-small": "cannot allocate with size 9, alignment: 16",
    "bad-alignment": "alignment should be power of 2",
    "host-malloc-unsupported": "Not support HOST_SIDE malloc, please update CANN version",
    "bad-free": "release address 0x1 not allocated",
    "bad-endpoint": "ip_port format should be ip:port",
    "uid-missing": "BootStrap UID Mode Must Have UID !",
    "session-id-missing": "Using method get_unique_id_x requires setting the environment variable SHMEM_UID_SESSION_ID",
    "instance-ports": "The environment variable SHMEM_INSTANCE_PORT_RANGE is not set.",
    "unknown-instance": "Context Set failed ! Can't find instance 3",
    "multi-instance-team": "aclshmem_team_split is not supported in multi-instance mode (instance_id=1)",
    "team-failed": "create team failed, x",
    "illegal-pe": "aclshmem_ptr Failed. PE: 9 Got Illegal PE !!",
    "global-exit-early": "Bootstrap not initialized. Global_exit Do nothing.",
    "engine-not-set": "sockFd is invalid",
    "device-memory-mapping": "reserve mem failed, result: 3",
    "hybm-failed": "hybm init failed, ret: 1",
    "device-memory-full": "HalGvaAlloc memory failed",
    "openssl-path": "load open ssl failed",
    "tls-info": "tls info null or len invalid.",
    "queue-pair-timeout": "HcommChannelCreate failed: 19",
    "ranks-per-nic": "ranks per NIC/IP exceeded: 17 > 16",
    "stack-size": "min stack size is 65536, larger than current process default size 32768",
    "acl-100000": "main.cpp:30 aclError:100000",
    "acl-init": "main.cpp:30 aclError:100002",
    "acl-context": "main.cpp:30 aclError:107003",
    "kernel-timeout": "main.cpp:30 aclError:507034",
    "kernel-exception": "main.cpp:30 aclError:507015",
    "remote-error": "main.cpp:30 aclError:507057",
    "link-broken": "main.cpp:30 aclError:507056",
    "profile-copy": "copy device profs to host failed 3",
    "git-clone-failed": "fatal: unable to access 'https://x/': Could not resolve host: x",
    "unknown-build-option": "Error: Unknown option install.",
    "unknown-target": "make: *** No rule to make target 'allgather'.  Stop.",
    "no-device": "drvGetDevNum returned 87",
    "permission": "bash: ./x: Permission denied",
    "disk-full": "cp: write error: No space left on device",
    "run-timeout": "[TIMEOUT] exceeded 120s, killing processes",
    "cpu-fault": "[SIM] fault=ub-overflow pe=0 text=x",
    "mismatch": "FAIL: 1/2 PE outputs mismatched",
    "assertion": "AssertionError: data mismatch at (1, 2)",
    "compile-error": "src/k.cpp:9:3: error: expected ';'",
    "cmake-error": "CMake Error at CMakeLists.txt:3 (project):",
}  # fmt: skip


def told(*lines, outcome=FAILED, encoding="utf-8"):
    watch = Watch()
    for line in lines:
        watch.feed(b"noise\n" + line.encode(encoding) + b"\nmore noise\n")
    return watch.told(outcome)


def test_every_signature_has_a_line_here():
    assert set(LINES) == {s.id for s in signatures()}
    assert len(LINES) == len(signatures())


@pytest.mark.parametrize("name", LINES)
def test_a_line_shows_its_failure(name):
    found = {d.id: d for d in told(LINES[name])}

    assert name in found
    assert found[name].evidence == LINES[name].strip()


@pytest.mark.parametrize("signature", signatures(), ids=lambda s: s.id)
def test_what_is_said_is_in_both_languages(signature):
    assert signature.cls in CLASSES
    assert signature.words
    for text in (signature.cause, signature.next):
        assert set(text) == {"zh", "en"}
        assert any("一" <= ch <= "鿿" for ch in text["zh"])
        assert text["en"].isascii()


@pytest.mark.parametrize("phase", ORDER)
def test_every_class_leads_somewhere_from_every_phase(phase):
    assert {commands(phase).route(cls) for cls in CLASSES} <= {"here", *ORDER}


def test_the_cause_comes_before_what_follows_from_it():
    found = told(LINES["heap-not-initialized"], LINES["acc-store"], LINES["port-in-use"])

    assert [d.id for d in found] == ["port-in-use", "heap-not-initialized", "acc-store"]


def test_of_equals_the_first_in_the_output_comes_first():
    assert [d.id for d in told(LINES["kernel-timeout"], LINES["remote-error"])] == ["kernel-timeout", "remote-error"]
    assert [d.id for d in told(LINES["remote-error"], LINES["kernel-timeout"])] == ["remote-error", "kernel-timeout"]


def test_chinese_messages_are_found_in_gbk_too():
    line = "build.sh：第 3 行：bisheng：未找到命令"

    for encoding in ("utf-8", "gb18030"):
        (found,) = told(line, encoding=encoding)
        assert (found.id, found.evidence) == ("bisheng-not-found", line)


@pytest.mark.parametrize("line", ["value 5070340 is fine", "PE 0: PASS (507034x elements)", "Error handling is on"])
def test_what_is_no_known_failure(line):
    assert told(line)[0].id == "unknown"


@pytest.mark.parametrize(
    ("outcome", "id_", "cls"),
    [
        (Outcome(failed="x: No such file"), "not-started", "environment"),
        (Outcome(exit=124), "timeout", "timeout"),
        (Outcome(exit=None, signal=15, timed_out=True), "timeout", "timeout"),
        (Outcome(exit=139), "crash", "crash"),
        (Outcome(signal=11), "crash", "crash"),
        (Outcome(exit=3), "unknown", "unknown"),
    ],
)
def test_without_a_known_line_the_end_speaks(outcome, id_, cls):
    (found,) = told("nothing", outcome=outcome)

    assert (found.id, found.cls) == (id_, cls)
    VALIDATOR.validate({"v": 1, "seq": 0, "time": 1.0, "run": new_id(), "executor": "host", "backend": "npu", "type": "diagnosis", "task": "x", "rank": 0, **found.fields(), "route": "here"})  # fmt: skip
