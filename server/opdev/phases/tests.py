"""Phase 2: whether the test scripts can produce data, run several PEs, judge them and cover the cases.

What counts
    a script           a readable file of its name in scripts/ (an example of SHMEM's own tree may lack
                       run_case_matrix.py and have run.sh at its top)
    a case matrix      scripts/cases.json, else the literal list in run_case_matrix.py, judged by the rules of the
                       cases family; a list of which a part is computed may be enough, never too little
    runs alone         gen_data.py parses and imports nothing of SHMEM or the NPU
    exit code          check_result.py ends with a status that can differ from 0, and no rule about verdicts fails
    run.sh             names the runtime environment, IPPORT or SHMEM_UID_SESSION_ID without a literal port, and
                       starts processes in a loop
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from opdev.design.derived import TOTAL_FLOOR
from opdev.phases.evidence import Evidence
from opdev.phases.model import Check, Title, both
from opdev.phases.verdicts import Named, Verdicts
from opdev.syntax.file import File

if TYPE_CHECKING:
    from opdev.facts.cases import CaseList

SCRIPTS = ("gen_data.py", "check_result.py", "run.sh", "run_case_matrix.py")
FEWEST = 20
_OTHER_NAMES = {
    "gen_data.py": ("data_gen.py", "gen_golden.py"),
    "check_result.py": ("verify_result.py", "result_compare.py", "data_statistic.py"),
}
_FORBIDDEN = frozenset({"torch_npu", "shmem", "acl", "aclshmem"})
_ENVIRONMENT = re.compile(rb"\bsetup_shmem_runtime_env\b|\bset_env\.sh\b")
_ENDPOINT = re.compile(rb"\bsetup_shmem_dynamic_endpoints\b|\b(?:IPPORT|SHMEM_UID_SESSION_ID)\b")
_LITERAL_PORT = re.compile(rb"""\b(?:IPPORT|SHMEM_UID_SESSION_ID)=["']?(?:tcp6?://)?[\w.\[\]:-]*:\d+["']?\s*$""", re.M)
_SEVERAL = re.compile(rb"^\s*(?:for|while|until)\b|\btorchrun\b|\bmpirun\b|\bseq\b", re.M)
_EXIT = re.compile(r"\bsys\.exit\s*\(|\braise\s+SystemExit|\bexit\s*\(|\bassert\b|^\s*raise\b", re.M)


def script(evidence: Evidence, name: str) -> File | None:
    """The operator's script of that name; upstream's spellings and places are known."""
    found = evidence.first(f"scripts/{name}", *(f"scripts/{n}" for n in _OTHER_NAMES.get(name, ())))
    if found is None and evidence.in_tree:
        found = evidence.first(name, *_OTHER_NAMES.get(name, ()))
    return found


def missing(evidence: Evidence) -> list[str]:
    """The scripts that are not there or cannot be read; the case runner is the examples' own business."""
    wanted = SCRIPTS[:3] if evidence.in_tree else SCRIPTS
    return [name for name in wanted if script(evidence, name) is None]


def checks(evidence: Evidence) -> Iterator[Check]:
    """The gate of Phase 2."""
    yield from _files(evidence)
    yield from _cases(evidence)
    generator, checker, runner = (script(evidence, n) for n in SCRIPTS[:3])
    if generator is not None:
        yield _generator(evidence, generator)
    if checker is not None:
        yield from _checker(evidence, checker)
    if runner is not None:
        yield from _runner(evidence, runner)


def _files(evidence: Evidence) -> Iterator[Check]:
    for name in SCRIPTS:
        title = Title(f"tests-{name.partition('.')[0].replace('_', '-')}", f"scripts/{name}", f"scripts/{name}")
        found = script(evidence, name)
        if found is not None:
            below = evidence.below(found)
            yield title.ok(both(f"有 {below}", f"{below} is there"), evidence.spot(found))
        elif name == SCRIPTS[3] and evidence.in_tree:
            yield title.skipped(both("示例工程不要求用例矩阵脚本", "an example need not have a case runner"))
        else:
            there = evidence.exists(f"scripts/{name}")
            yield title.failed(
                both(f"scripts/{name} {'读不出来' if there else '不存在'}", f"scripts/{name} {'cannot be read' if there else 'is not there'}"),
                both(f"写出 scripts/{name}（shmem-ops-testcase-gen）", f"write scripts/{name} (shmem-ops-testcase-gen)"),
                evidence.at(f"scripts/{name}"),
            )  # fmt: skip


_COUNT = Title("tests-cases", f"用例不少于 {FEWEST} 个", f"at least {FEWEST} cases")
_SCALES = Title("tests-scales", "XS、S、M、L 四个规模都有", "cases of all four scales: XS, S, M, L")
_LARGE = Title("tests-large-case", "有总量 256 MB 的用例", "a case of 256 MB over all PEs")
_PES = Title("tests-pe-counts", "2 PE 与 8 PE 都有", "cases on 2 and on 8 PEs")
_CASE_RULES = tuple(
    Named(title, frozenset(rows.split()), good)
    for title, rows, good in (
        (_COUNT, "SH820", both("够数", "there are enough")),
        (_SCALES, "SH821", both("齐全", "all four")),
        (_LARGE, "SH823", both("总量够", "it is large enough")),
        (_PES, "SH824", both("齐全", "both")),
    )
)


def _cases(evidence: Evidence) -> Iterator[Check]:
    from opdev.facts.cases import matrix_of

    matrix = matrix_of(evidence.project)
    titles = (_COUNT, _SCALES, _LARGE, _PES)
    if evidence.in_tree and matrix is None:
        for title in titles:
            yield title.skipped(both("示例工程不要求用例矩阵", "an example need not have a case matrix"))
        return
    if matrix is None:
        where = evidence.at("scripts/cases.json")
        for title in titles:
            yield title.failed(
                both("没有用例矩阵", "there is no case matrix"),
                both(
                    "在 scripts/cases.json 列出用例，或在 run_case_matrix.py 里写成字面列表",
                    "list the cases in scripts/cases.json, or as a literal list in run_case_matrix.py",
                ),
                where,
            )
        return
    file = next((f for f in evidence.files.values() if f.path == matrix.path), None)
    if matrix.complete and file is not None:
        yield from Verdicts(evidence, [file], ("cases",)).named(_CASE_RULES)
    else:
        yield from _computed(evidence, matrix)


def _computed(evidence: Evidence, matrix: CaseList) -> Iterator[Check]:
    """A list that is only partly written out: what is there may be enough, never too little."""
    cases = matrix.cases
    scales = {case.tier or case.scale for case in cases}
    largest = max((size * (c.n_pes or 1) for c in cases if (size := c.bytes_per_pe) is not None), default=0)
    proven = {
        _COUNT: len(cases) >= FEWEST,
        _SCALES: {"XS", "S", "M", "L"} <= scales,
        _LARGE: largest >= TOTAL_FLOOR,
        _PES: {2, 8} <= {case.n_pes for case in cases},
    }
    file = next((f for f in evidence.files.values() if f.path == matrix.path), None)
    spot = evidence.spot(file, matrix.start) if file is not None else evidence.at("scripts/run_case_matrix.py")
    for title, good in proven.items():
        if good:
            yield title.ok(both("写明的用例已经足够", "the cases that are written out are enough"), spot)
        else:
            yield title.unknown(
                both(
                    f"写明的用例有 {len(cases)} 个，其余由脚本算出",
                    f"{len(cases)} cases are written out, the script computes the rest",
                ),
                both(
                    "把用例写成字面列表或 scripts/cases.json",
                    "write the cases as a literal list or into scripts/cases.json",
                ),
                spot,
            )


_ALONE = Title("tests-generator-alone", "数据生成可以单独运行", "the generator runs alone")


def _generator(evidence: Evidence, file: File) -> Check:
    try:
        tree = ast.parse(file.data)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = error.lineno if isinstance(error, SyntaxError) and error.lineno else 1
        return _ALONE.failed(
            both("不是可以运行的 Python", "it is not Python that runs"),
            both("改正语法错误", "mend the syntax error"),
            evidence.at(evidence.below(file), line),
        )
    for node in ast.walk(tree):
        names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names = [node.module]
        for name in names:
            if name.partition(".")[0] in _FORBIDDEN:
                return _ALONE.failed(
                    both(f"导入了 {name}，没有 NPU 的机器上生成不了数据", f"it imports {name}: no data without an NPU"),
                    both(
                        "只用 numpy 等主机侧的库生成数据和 golden",
                        "make data and golden with host libraries like numpy",
                    ),
                    evidence.at(evidence.below(file), getattr(node, "lineno", 1)),
                )
    return _ALONE.ok(both("不依赖 NPU 和 SHMEM", "needs neither NPU nor SHMEM"))


_VERDICT = Title("tests-checker-exit", "校验脚本用退出码表示结论", "the checker's verdict is its exit code")


def _checker(evidence: Evidence, file: File) -> Iterator[Check]:
    text = file.nocomment.decode("utf-8", "replace")
    if not _EXIT.search(text):
        yield _VERDICT.failed(
            both("没有以非 0 退出的路径", "no path ends with a status other than 0"),
            both("不通过时 sys.exit(1)", "end with sys.exit(1) on a mismatch"),
            evidence.spot(file),
        )
        return
    yield from Verdicts(evidence, [file], ("tests",)).all(
        _VERDICT, both("不通过时以非 0 退出", "a mismatch ends with another status than 0")
    )


_ENV = Title("tests-run-environment", "run.sh 准备运行环境", "run.sh sets the runtime environment up")
_PORTS = Title("tests-run-endpoints", "run.sh 的端点是动态的", "run.sh takes dynamic endpoints")
_MANY = Title("tests-run-several", "run.sh 启动多个 PE", "run.sh starts several PEs")


def _runner(evidence: Evidence, file: File) -> Iterator[Check]:
    code, spot = file.nocomment, evidence.spot(file)
    if _ENVIRONMENT.search(code):
        yield _ENV.ok(both("调用环境函数或 set_env.sh", "it calls the environment function or set_env.sh"))
    else:
        yield _ENV.failed(
            both("没有调用 setup_shmem_runtime_env，也没有 source set_env.sh", "neither setup_shmem_runtime_env nor set_env.sh is in it"),
            both("启动 PE 之前调用 setup_shmem_runtime_env", "call setup_shmem_runtime_env before the PEs start"),
            spot,
        )  # fmt: skip
    literal = _LITERAL_PORT.search(code)
    if literal:
        yield _PORTS.failed(
            both("端口写死", "the port is a literal"),
            both("调用 setup_shmem_dynamic_endpoints，或从环境变量取 IPPORT", "call setup_shmem_dynamic_endpoints, or take IPPORT from the environment"),
            evidence.spot(file, literal.start()),
        )  # fmt: skip
    elif _ENDPOINT.search(code):
        yield _PORTS.ok(both("IPPORT 不写死", "IPPORT is no literal"))
    else:
        yield _PORTS.failed(
            both("没有给 PE 传 IPPORT 或 SHMEM_UID_SESSION_ID", "the PEs get neither IPPORT nor SHMEM_UID_SESSION_ID"),
            both("调用 setup_shmem_dynamic_endpoints 并把 IPPORT 传给每个 PE", "call setup_shmem_dynamic_endpoints and hand IPPORT to every PE"),
            spot,
        )  # fmt: skip
    if _SEVERAL.search(code):
        yield _MANY.ok(both("按 PE 数启动进程", "it starts a process for each PE"))
    else:
        yield _MANY.failed(
            both("只启动一个进程", "it starts one process only"),
            both("按 PE 数循环启动进程", "start the processes in a loop over the PEs"),
            spot,
        )
    yield from (c for c in Verdicts(evidence, [file], ("ports", "runtime", "process")).all(_RULES, _RULES_GOOD))


_RULES = Title("tests-run-rules", "run.sh 没有错误级问题", "no error-level finding in run.sh")
_RULES_GOOD = both("端口、运行环境、进程三族规则没有错误", "no error of the ports, runtime and process rules")
