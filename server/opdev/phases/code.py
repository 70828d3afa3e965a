"""Phase 3: whether the code is there, obeys the P0 rules, builds, and passed on two PEs.

P0 is what the linter calls an error in the operator's sources and CMake lists: kernel API, synchronisation,
memory, host, build.  Build and smoke are proven as ``proofs`` says.  That the code follows the design's
schedule is the cross-file rules' to judge; by file time alone only a design revised after all code shows.
"""

from __future__ import annotations

from collections.abc import Iterator

from opdev.design.markdown import headings
from opdev.phases import proofs
from opdev.phases.evidence import DESIGN, SLACK, Evidence
from opdev.phases.model import Check, Title, both
from opdev.phases.verdicts import Verdicts
from opdev.rules.model import Text
from opdev.syntax.file import File

_README = (("编译", "build", "compil"), ("运行", "run", "usage", "执行", "使用"))
_ADVISED = (
    "算子介绍", "环境要求", "目录结构", "参数说明", "编译项目", "运行算子", "验证结果", "性能采集", "注意事项",
)  # fmt: skip
_MAIN = Title("code-main", "主程序", "the host program")
_KERNEL = Title("code-kernel", "内核", "the kernel")
_CMAKE = Title("code-cmake", "CMakeLists.txt", "CMakeLists.txt")
_PLACES = Title("code-layout", "文件都在该在的目录", "files are where they belong")
_ELSEWHERE = frozenset({"SH97C", "SH984", "SH985"})
"""Layout rules that other phases ask: the case-matrix report, the design's place and name."""
_README_TITLE = Title("code-readme", "README 写明编译和运行", "the README says how to build and run")
_FOLLOWS = Title("code-follows-design", "代码不早于设计", "the code is no older than the design")
_NO_PERF = Title("code-no-perf", "正确性通过之前没有性能探针", "no profiling probes before correctness")
_P0_KERNEL = Title("code-p0-kernel", "内核、同步、内存规则没有错误", "no error of the kernel, sync and memory rules")
_P0_HOST = Title("code-p0-host", "主程序规则没有错误", "no error of the host rules")
_P0_BUILD = Title("code-p0-build", "CMake 规则没有错误", "no error of the build rules")
_BUILD = Title("code-build", "编译通过", "it builds")
_SMOKE = Title("code-smoke", "2 PE 冒烟通过", "it passes on 2 PEs")


def checks(evidence: Evidence) -> Iterator[Check]:
    """The gate of Phase 3."""
    own = [*_layout(evidence)]
    yield from own
    # A missing file is told once: by the checks above, or by the rule that knows more of them.
    known = _ELSEWHERE if all(check.holds for check in own) else _ELSEWHERE | {"SH980"}
    files = evidence.files.values()
    yield from Verdicts(evidence, files, ("layout",)).more(
        _PLACES, both("目录符合约定", "every file is in its folder"), known
    )
    sources = [f for r in evidence.sources if (f := evidence.file(r)) is not None]
    if evidence.code:
        yield follows_design(evidence)
        yield _probes(evidence)
        code = [f for f in sources if "cpp" in f.kind.names]
        yield from Verdicts(evidence, code, ("kernel-api", "sync", "memory")).all(_P0_KERNEL, _none(len(code)))
        host = [f for f in code if "host" in f.kind.names]
        if host:
            yield from Verdicts(evidence, host, ("host",)).all(_P0_HOST, _none(len(host)))
        cmake = [f for f in sources if "cmake" in f.kind.names]
        if cmake:
            yield from Verdicts(evidence, cmake, ("build",)).all(_P0_BUILD, _none(len(cmake)))
    yield build_check(evidence)
    yield smoke_check(evidence)


def _none(count: int) -> Text:
    return both(f"{count} 个文件没有错误", f"no error in {count} file{'s' if count != 1 else ''}")


def _layout(evidence: Evidence) -> Iterator[Check]:
    name = evidence.name
    main = evidence.first("src/main.cpp") or (evidence.first("main.cpp") if evidence.in_tree else None)
    yield _there(evidence, _MAIN, main, "src/main.cpp")
    kernels = [f for f in evidence.of_kind("kernel") if evidence.below(f) in evidence.code]
    named = [f for f in kernels if evidence.below(f).endswith(f"{name}_kernel.cpp")]
    units = [f for f in kernels if not f.path.endswith((".h", ".hpp"))]
    found = next(iter(named or (units if evidence.in_tree else [])), None)
    if found is None and evidence.in_tree:
        yield _KERNEL.skipped(both("示例工程没有单独的内核文件", "the example has no kernel file of its own"))
    else:
        yield _there(evidence, _KERNEL, found, f"src/{name}_kernel.cpp")
    yield _there(evidence, _CMAKE, evidence.file("CMakeLists.txt"), "CMakeLists.txt")
    yield _readme(evidence)


def missing(evidence: Evidence) -> list[str]:
    """What an operator cannot be built without and has not, under whatever name; never anything of an example."""
    if evidence.in_tree:
        return []
    found: set[str] = set()
    for relative in evidence.code:
        if not relative.endswith((".h", ".hpp", ".hh")):
            found |= evidence.files[relative].kind.names & {"kernel", "host"}
    wanted = (("kernel", f"src/{evidence.name}_kernel.cpp"), ("host", "src/main.cpp"))
    lacking = [relative for kind, relative in wanted if kind not in found]
    return lacking if evidence.file("CMakeLists.txt") is not None else [*lacking, "CMakeLists.txt"]


def _there(evidence: Evidence, title: Title, file: File | None, relative: str) -> Check:
    if file is not None:
        below = evidence.below(file)
        return title.ok(both(f"有 {below}", f"{below} is there"), evidence.spot(file))
    unreadable = evidence.exists(relative)
    return title.failed(
        both(
            f"{relative} {'读不出来' if unreadable else '不存在'}",
            f"{relative} {'cannot be read' if unreadable else 'is not there'}",
        ),
        both(f"写出 {relative}（shmem-ops-code-gen）", f"write {relative} (shmem-ops-code-gen)"),
        evidence.at(relative),
    )


def _readme(evidence: Evidence) -> Check:
    file = evidence.file("README.md")
    if evidence.in_tree:
        return _README_TITLE.skipped(both("示例工程的 README 有自己的写法", "an example's README has its own ways"))
    if file is None:
        return _there(evidence, _README_TITLE, None, "README.md")
    titles = [h.title for h in headings(file.data)]
    lowered = [t.lower() for t in titles]
    missing = [words[0] for words in _README if not any(w in t for w in words for t in lowered)]
    advised = [w for w in _ADVISED if not any(w in t for t in titles)]
    if missing:
        return _README_TITLE.failed(
            both(f"没有这些章节：{'、'.join(missing)}", f"no section on: {', '.join(missing)}"),
            both("在 README.md 补上“编译项目”和“运行算子”两节", "add the sections 编译项目 and 运行算子 to README.md"),
            evidence.spot(file),
        )
    more_zh = f"；还建议有 {'、'.join(advised)}" if advised else ""
    more_en = f"; advised besides: {', '.join(advised)}" if advised else ""
    return _README_TITLE.ok(
        both(f"有编译和运行两节{more_zh}", f"both sections are there{more_en}"), evidence.spot(file)
    )


def follows_design(evidence: Evidence) -> Check:
    """Whether anything of the code was written, or the code's cases were run, after the design."""
    design, newest = evidence.time(DESIGN), evidence.newest_source
    if design is None:
        return _FOLLOWS.skipped(both("没有设计可比", "there is no design to compare with"))
    from opdev.phases.correctness import REPORT

    retested = evidence.time(REPORT)
    if retested is not None and retested >= design and proofs.fresh(evidence, REPORT):
        return _FOLLOWS.ok(proofs.by_time(both(f"{REPORT} 不早于设计", f"{REPORT} is no older than the design")))
    if newest is not None and design > newest.time + SLACK:
        return _FOLLOWS.unknown(
            proofs.by_time(
                both(f"{DESIGN} 比全部源码新，改动可能还没有进入代码", f"{DESIGN} is newer than every source: the change may not have reached the code")
            ),
            both(
                f"按新设计重新生成代码；若设计只改了文字，更新源码的时间即可：touch {newest.path}",
                f"generate the code again from the design; if only words changed in it, `touch {newest.path}` says so",
            ),
            evidence.at(DESIGN),
        )  # fmt: skip
    return _FOLLOWS.ok(proofs.by_time(both("有源码不早于设计", "there is code no older than the design")))


def _probes(evidence: Evidence) -> Check:
    from opdev.phases.correctness import reported

    if evidence.in_tree:
        return _NO_PERF.skipped(both("示例工程自带探针", "an example may carry its probes"))
    if reported(evidence):
        return _NO_PERF.skipped(both("正确性已评估过", "correctness was evaluated already"))
    for relative in evidence.code:
        file = evidence.files[relative]
        at = file.code.find(b"SHMEMI_PROF_")
        if at >= 0:
            return _NO_PERF.failed(
                both("已经有 SHMEMI_PROF 探针，冒烟和正确性会带着探针跑", "there are SHMEMI_PROF probes: smoke and correctness would run with them"),
                both("先去掉探针，Phase 6 再加", "take the probes out; Phase 6 adds them"),
                evidence.spot(file, at),
            )  # fmt: skip
    return _NO_PERF.ok(both("没有 SHMEMI_PROF 探针", "no SHMEMI_PROF probes"))


def build_check(evidence: Evidence) -> Check:
    """Whether the present code builds, as a check."""
    proof = proofs.build(evidence)
    command_zh, command_en = build_command(evidence)
    if proof.good:
        return _BUILD.ok(proof.text, proof.place, simulated=proof.simulated)
    if proof.verdict == "failed":
        return _BUILD.failed(
            proof.text,
            both(f"改正第一个编译错误，再编译：{command_zh}", f"mend the first error and build again: {command_en}"),
            proof.place,
        )
    return _BUILD.unknown(
        proof.text, both(f"编译一次：{command_zh}", f"build it: {command_en}"), proof.place or evidence.at("build/bin/" + evidence.name)
    )  # fmt: skip


def build_command(evidence: Evidence) -> tuple[str, str]:
    """What the user types to build."""
    name = evidence.name
    if evidence.in_tree:
        command = "cd ${SHMEM_REPO} && bash scripts/build.sh -examples"
    elif evidence.exists("../scripts/build.sh"):
        command = f"bash custom-ops/scripts/build.sh {name}"
    else:
        command = f'cmake --build "${{SHMEM_REPO}}/custom-ops/{name}/build" -j 8'
    return command, command


def smoke_check(evidence: Evidence) -> Check:
    """Whether the present code passed on two PEs, as a check."""
    proof = proofs.smoke(evidence)
    run = "run.sh" if evidence.exists("run.sh") and not evidence.exists("scripts/run.sh") else "scripts/run.sh"
    command = f"bash {run} 2"
    if proof.good:
        return _SMOKE.ok(proof.text, proof.place, simulated=proof.simulated)
    if proof.verdict == "failed":
        return _SMOKE.failed(
            proof.text, both(f"改正后重跑：{command}", f"mend it and run again: {command}"), proof.place
        )  # fmt: skip
    return _SMOKE.unknown(
        proof.text,
        both(
            f"跑一次 2 PE 并留下日志：{command} 2>&1 | tee data/smoke_2pe.log",
            f"run it on 2 PEs and keep the log: {command} 2>&1 | tee data/smoke_2pe.log",
        ),
        proof.place,
    )
