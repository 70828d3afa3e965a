"""The gate of PyPTO-Pro's stage 4: the delivered test with its kernel, the staged files of modules, what a run showed."""

from __future__ import annotations

import re
from collections.abc import Iterator

from opdev.phases.model import Check, Title, both
from opdev.phases.pypto_checks import Document, PyptoEvidence, document, holding, judged, listed, present
from opdev.pypto import parts
from opdev.pypto.statefile import NAME
from opdev.pypto.states import RefusedError

_VERIFIED = Title("modules-verified", "各模块都已验收", "every module is verified")
_IMPORTS = Title("pro-imports", "只用 PyPTO-Pro", "PyPTO-Pro alone is used")
_KERNELS = Title("one-kernel", "只有一个 @pl.jit", "there is one @pl.jit")
_WRAPPER = Title("wrapper", "有顶层 wrapper", "there is a wrapper at the top level")
_TESTS = Title("tests", "至少四个测试，与设计 §8 一致", "four tests at least, those of the design's §8")
_PRECISION = Title("precision-standard", "用统一的精度标准", "precision is judged by the standard")
_RUN = Title("run-evidence", "测试跑过且通过", "the tests were run and passed")
_STAGED = Title("staged-modules", "各模块的分步文件齐全", "the staged files of the modules are there")
_FEWEST = 4


def code(e: PyptoEvidence) -> Iterator[Check]:
    """The gate of stage 4."""
    yield from present(e, "test_<op>.py")
    file = e.named("test_<op>.py")
    if file is not None and file.data.strip():
        yield from _tested(e, Document(e, file))
    yield from judged(e, "pypto-test", "pypto-golden", "pypto-impl")
    if e.kind == "pro":
        yield from _staged(e)
        yield from _modules_verified(e)
        yield from judged(e, "pypto-kb")
        yield from present(e, *(("KB_USAGE.json",) if not any(r.endswith("/KB_USAGE.json") for r in e.files) else ()))
    yield ran(e)


def _tested(e: PyptoEvidence, test: Document) -> Iterator[Check]:
    data = test.file.data
    ours = test.find(
        rb"^[ \t]*(?:import[ \t]+pypto_pro\.language[ \t]+as[ \t]+pl\b|from[ \t]+pypto_pro[ \t]+import[ \t]+language[ \t]+as[ \t]+pl\b)",
        re.M,
    )
    other = test.find(rb"^[ \t]*(?:import|from)[ \t]+pypto(?:\.|[ \t]|$)|@pypto\.frontend\.jit", re.M)
    yield holding(_IMPORTS, ours is not None and other is None, ("是", "yes"),
                  ("用了经典 PyPTO" if other is not None else "没有 import pypto_pro.language as pl", "classic PyPTO is used" if other is not None else "there is no `import pypto_pro.language as pl`"),
                  ("只 import pypto_pro.language as pl", "have `import pypto_pro.language as pl` alone"), other or test.at(None))  # fmt: skip
    kernels = len(re.findall(rb"^[ \t]*@pl\.jit\b", data, re.M))
    yield holding(_KERNELS, kernels == 1, ("一个", "one"), (f"有 {kernels} 个", f"there are {kernels}"),
                  ("合成一个 kernel", "make them one kernel"), test.find(rb"^[ \t]*@pl\.jit\b", re.M) or test.at(None))  # fmt: skip
    wrapper = test.find(rb"^def[ \t]+%s_wrapper[ \t]*\(" % re.escape(e.name.encode()), re.M)
    yield holding(_WRAPPER, wrapper is not None, (f"{e.name}_wrapper", f"{e.name}_wrapper"), (f"没有顶层函数 {e.name}_wrapper", f"there is no function {e.name}_wrapper at the top level"),
                  (f"写出 {e.name}_wrapper，只调用一次 kernel", f"write {e.name}_wrapper, which launches the kernel once"), wrapper or test.at(None))  # fmt: skip
    tests = {m.decode() for m in re.findall(rb"^[ \t]*def[ \t]+(test_\w+)[ \t]*\(", data, re.M)}
    design = document(e, "DESIGN.md")
    cases = design.heading(r"^\s*§\s*8\b") if design is not None else None
    wanted = (
        set(re.findall(r"(?<![\w/])test_\w+\b(?!\.py)", design.body(cases)))
        if design is not None and cases is not None
        else set()
    )
    missing = sorted(wanted - tests - {f"test_{e.name}"})
    zh, en = listed(missing[:5])
    bad = (
        (f"设计里的 {zh} 没有实现", f"of the design and not written: {en}")
        if missing
        else (f"只有 {len(tests)} 个测试", f"there are {len(tests)} tests")
    )
    yield holding(_TESTS, len(tests) >= _FEWEST and not missing, (f"{len(tests)} 个", f"{len(tests)}"), bad,
                  ("补上测试", "write them"), test.at(None))  # fmt: skip
    faults = [
        text
        for text, wrong in (
            (("没有 _assert_precision", "no _assert_precision"), b"_assert_precision" not in data),
            (("用了 assert_close", "assert_close is used"), re.search(rb"\bassert_close\b", data) is not None),
            (("自己放宽了 atol_override", "atol_override loosens it"), b"atol_override" in data),
            ((f"没有用 {e.name}_golden_cpu", f"{e.name}_golden_cpu is not used"), b"_golden_cpu" not in data),
        )
        if wrong
    ]
    yield holding(_PRECISION, not faults, ("是", "yes"), ("；".join(f[0] for f in faults), "; ".join(f[1] for f in faults)),
                  ("用 _assert_precision 与 CPU golden 比较", "compare with the CPU golden by _assert_precision"), test.at(None))  # fmt: skip


def _staged(e: PyptoEvidence) -> Iterator[Check]:
    """The files of L1's modules: each with the numbers of all before it."""
    if e.state is None or e.state.get("stage4_path") != "L1":
        return
    ledger = e.state.get("stage4_modules")
    count = ledger.get("module_count") if isinstance(ledger, dict) else None
    if not isinstance(count, int) or isinstance(count, bool) or not 1 <= count <= 99:
        return
    suffixes = ["".join(str(n) for n in range(1, k + 1)) for k in range(1, count + 1)]
    wanted = [
        f for s in suffixes for f in (f"modules/{e.name}_golden_stage{s}.py", f"modules/test_{e.name}_module{s}.py")
    ]
    missing = [f for f in wanted if not e.exists(f)]
    zh, en = listed(missing[:6])
    yield holding(_STAGED, not missing, (f"{count} 个模块", f"{count} modules"), (f"没有 {zh}", f"missing: {en}"),
                  ("按模块写出它们", "write them module by module"), e.at(missing[0]) if missing else None)  # fmt: skip


def _modules_verified(e: PyptoEvidence) -> Iterator[Check]:
    """Of path L1: what the state file says of its modules."""
    if e.state is None or e.state.get("stage4_path") != "L1":
        return
    todo = both(
        "逐个模块验收：opdev state complete-module K", "verify them one by one: `opdev state complete-module K`"
    )
    try:
        parts.require_modules(e.state)
    except RefusedError as error:
        yield _VERIFIED.failed(error.text, todo, e.at(NAME))
    else:
        yield _VERIFIED.ok(both("都已验收", "all are"))


def ran(e: PyptoEvidence) -> Check:
    """What a log says of the tests; only a run makes one."""
    for name in reversed(e.logs):
        log = e.log(name)
        if b"matched_ratio=" in log and b"max_abs_error=" in log:
            if e.older(e.time(name), e.newest([r for r in e.files if r.endswith(".py")])):
                return _RUN.unknown(
                    both(f"{name} 比代码旧", f"{name} is older than the code"),
                    both("再跑一次并保存输出", "run it again and keep the output"),
                    e.at(name),
                )
            if re.search(rb"\bFAIL(?:ED)?\b|Traceback \(most recent", log):
                return _RUN.failed(
                    both(f"{name} 里有失败", f"{name} has a failure"),
                    both("改好再跑", "mend it and run it again"),
                    e.at(name),
                )
            if b"PASS" in log:
                return _RUN.ok(both(name, name), e.at(name))
    return _RUN.unknown(
        both("没有日志证明测试通过", "no log shows that the tests passed"),
        both(f"保存输出：python test_{e.name}.py > logs/test_{e.name}.log 2>&1", f"keep its output: python test_{e.name}.py > logs/test_{e.name}.log 2>&1"),
    )  # fmt: skip
