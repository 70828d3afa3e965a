"""What the Markdown reports have in common: tables, where figures are from, what they adopt of older reports."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from opdev.facts.report_tables import plain
from opdev.facts.reports import TITLES
from opdev.reporting.cases import Place, Results, Row
from opdev.reporting.judged import Judged

SIMULATED = "CPU 模拟（backend: sim），不代表 NPU 上的结果"


def table(header: Sequence[object], rows: Iterable[Sequence[object]]) -> str:
    """A Markdown table; what is empty is a dash."""

    def line(cells: Sequence[object]) -> str:
        return "| " + " | ".join(_cell(c) for c in cells) + " |"

    return "\n".join([line(header), "|" + "---|" * len(header), *map(line, rows)])


def _cell(value: object) -> str:
    text = "-" if value is None or value == "" else str(value)
    return text.replace("|", "\\|").replace("\r", " ").replace("\n", " ")


class Sources:
    """Numbers the logs that figures are from, in the order they are first named."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], int] = {}

    def of(self, place: Place) -> str:
        """``[1] 第 12 行``."""
        return f"[{self.number(place.run, place.log)}] 第 {place.line} 行"

    def number(self, run: str, log: str) -> int:
        return self._known.setdefault((run, log), len(self._known) + 1)

    @property
    def known(self) -> Sequence[tuple[str, str]]:
        """(run, log) in the order of their numbers."""
        return list(self._known)

    def lines(self) -> list[str]:
        """The list below a table, with a blank line before it."""
        out = [
            f"- 来源 [{number}]：" + (f"run `{run}` 的 `{log}`" if run else f"`{log}`")
            for (run, log), number in self._known.items()
        ]
        return ["", *out] if out else []


def backend(found: Results) -> str:
    """One line on where the results are from."""
    ran = [row.outcome for row in found.rows if row.outcome is not None]
    if not ran:
        return "后端：没有运行记录。"
    if all(one.simulated for one in ran):
        return f"后端：{SIMULATED}。"
    return "后端：NPU 与 CPU 模拟都有，备注写“模拟”的行不代表 NPU 上的结果。" if found.simulated else "后端：NPU。"


def case_rows(found: Results, sources: Sources) -> list[tuple[object, ...]]:
    """The case table: ten columns the field agreed on, and where each row is from."""
    return [_row(row, sources) for row in found.rows]


CASE_HEADER = (*TITLES, "来源")


def _row(row: Row, sources: Sources) -> tuple[object, ...]:
    case, one = row.case, row.outcome
    own = (case.id, case.category, case.scale, case.n_pes, case.shape, case.dtype)
    if one is None:
        return (*own, "BLOCKED", "", "", row.why["zh"], "")
    notes = ["模拟"] if one.simulated else []
    if one.verdict not in ("PASS", "FAIL"):
        notes.append(f"未执行：脚本的结果是 {one.verdict}")
    if one.doubted:
        notes.append(f"精度引擎判断不通过：{_first_wrong(one.judged)}先核对 check_result.py")
    verdict = one.verdict if one.verdict in ("PASS", "FAIL") else "BLOCKED"
    return (*own, verdict, one.text("maxae"), one.text("maxre"), "，".join(notes), sources.of(one.place))


def _first_wrong(found: Judged | None) -> str:
    """``PE 1，[3, 5] …；`` of the first output that is wrong; empty where none is known."""
    wrong = found.wrong[:1] if found is not None else []
    return "".join(f"{one.name}，{one.first['zh']}；" for one in wrong if one.first is not None)


def engine(found: Judged | None) -> str:
    """What the precision engine says of a case, in one cell."""
    if found is None:
        return "没有看"
    if not found.verdict:
        return found.why["zh"] if found.why is not None else "没有判断"
    passed = len(found.pes) - len(found.wrong)
    if found.verdict == "pass":
        return f"通过（{passed}/{len(found.pes)}）"
    return f"不通过（{passed}/{len(found.pes)}）：{_first_wrong(found).rstrip('；')}"


def totals(found: Results) -> list[tuple[str, object]]:
    """The five rows of a summary."""
    total, passed, failed = len(found.rows), found.count("PASS"), found.count("FAIL")
    rate = f"{100 * passed / total:.1f}%" if total else ""
    return [
        ("总用例数", total), ("通过数", passed), ("失败数", failed), ("通过率", rate),
        ("阻塞（未执行）数", total - passed - failed),
    ]  # fmt: skip


Adopted = Callable[[str], bool]


def adopting(*headers: tuple[str, ...], lines: str = "") -> Adopted:
    """Says of a line whether it begins a table whose titles begin with one of ``headers``, or is one of ``lines`` (a pattern)."""
    titles = [tuple(map(plain, one)) for one in headers]
    single = re.compile(lines) if lines else None

    def adopted(line: str) -> bool:
        text = line.strip()
        if text.startswith("|"):
            cells = tuple(plain(cell) for cell in text.strip("|").split("|"))
            return any(cells[: len(one)] == one for one in titles)
        return single is not None and single.fullmatch(text) is not None

    return adopted


# As operators' own scripts write them, and as a review is begun.
cases_adopted = adopting(
    ("Case ID", "category"), ("Case ID", "n_pes"), ("Case ID", "Result"),
    lines=r"后端：(?:CPU 模拟|NPU).*|\[待填\] 没有逐个用例的结果",
)  # fmt: skip
summary_adopted = adopting(
    ("项目", "值"), ("指标", "值"), lines=r"\[待填\] 没有 docs/correctness_report\.md 的结果：.*"
)
invariants_adopted = adopting(("Invariant", "验证方式"), lines=r"\[待填\] 报告里没有不变量表")
performance_adopted = adopting(
    ("指标", "值"),
    ("指标", "SHMEM 最终"),
    lines=r"### 性能关键指标|- (?:S 与 L 规模的 kernel_bus 对比|各轮 Δ% 与最终表)：\[待填\]",
)
