"""Phase 0: whether the five intake questions are answered and the answers can be used.

The record is docs/phase0_intake.yaml (or where ``facts.intake`` finds it).  An operator that has a design
whose ``meta`` holds every answer needs no record: that is work resumed.  Not so a design that ``opdev new`` wrote
on this machine: its flags are the template's, and nobody was asked.  The paths of CANN and SHMEM are
looked at on this machine, except where the work is done in a container or on the CPU stand-in.  Not judged: that the summary was
printed, and that the answers were given in this session.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from opdev.phases.evidence import DESIGN, Evidence
from opdev.phases.model import Check, Spot, Title, both
from opdev.rules.model import Text

if TYPE_CHECKING:
    from opdev.facts.intake import Intake

RECORD = "docs/phase0_intake.yaml"
_TEMPLATE = ".opdev/template.json"
"""What ``opdev new`` leaves in an operator it made here."""
QUESTIONS = (1, 2, 3, 4, 5)
_FLAGS = ("torch_required", "performance_required", "performance_auto_optim")
_MODES = ("independent_project", "in_tree_example")
_SOURCES = ("session_preconfigured", "default_system", "user_custom")
_RECORD = Title("intake-record", "启动确认有记录", "the intake is recorded")
_FIVE = Title("intake-five", "五个问题都答了", "all five questions are answered")
_VALUES = Title("intake-values", "每个答案都可用", "every answer can be used")
_CANN = Title("intake-cann", "CANN 环境脚本", "the CANN environment script")
_REPO = Title("intake-repo", "SHMEM 仓库", "the SHMEM repository")
_SEMANTICS = Title("intake-semantics", "语义已说明", "the semantics are stated")
_ANSWERS = frozenset({_RECORD.id, _FIVE.id, _VALUES.id})
_ANSWER = both(
    f"运行 opdev intake 回答五个问题（写进 {RECORD}，键 phase0_intake）",
    f"answer the five questions of `opdev intake` (recorded in {RECORD}, key phase0_intake)",
)


def record_of(evidence: Evidence) -> Intake | None:
    """The intake record; None where there is none."""
    from opdev.facts.intake import intake_of

    return intake_of(evidence.project)


def answers(evidence: Evidence) -> Mapping[str, object]:
    """The recorded answers by key; empty without a record."""
    found = record_of(evidence)
    return values_of(found) if found is not None else {}


def values_of(found: Intake) -> dict[str, object]:
    """A record's values by key."""
    return {key: answer.value for key, answer in found.answers.items()}


def complete(evidence: Evidence) -> bool:
    """Whether Phase 0 is behind us: a record with every flag, or a design whose meta has them."""
    values = answers(evidence)
    if values and all(isinstance(values.get(k), bool) for k in _FLAGS):
        return True
    return _resumed(evidence)


def _resumed(evidence: Evidence) -> bool:
    from opdev.design.problems import flag, said_text

    document = evidence.design
    if document is None or evidence.exists(_TEMPLATE) or evidence.exists(RECORD):
        return False
    return all(flag(document, f"meta.{k}") is not None for k in _FLAGS) and all(
        said_text(document, f"meta.{k}") for k in ("op_name", "build_mode")
    )


def lacking(evidence: Evidence) -> list[Check]:
    """What of the intake keeps every later phase from being run; empty where the answers are there.

    What only this machine lacks (CANN, the repository) is not in it: that closes the gate, and is seen when it is needed.
    """
    return [check for check in checks(evidence) if check.state == "failed" and check.id in _ANSWERS]


def checks(evidence: Evidence) -> Iterator[Check]:
    """The gate of Phase 0."""
    found = record_of(evidence)
    if found is None and evidence.exists(RECORD):
        yield _RECORD.failed(
            both(f"{RECORD} 读不出记录（不是 YAML，或没有 phase0_intake）", f"{RECORD} holds no record that can be read (it is no YAML, or has no phase0_intake)"),
            both("改好它，或运行 opdev intake --reconfirm 重新回答", "mend it, or answer again with `opdev intake --reconfirm`"),
            evidence.at(RECORD),
        )  # fmt: skip
        return
    if found is None:
        if _resumed(evidence):
            text = both(
                f"没有记录，但 {DESIGN} 的 meta 里答案齐全（接着做）",
                f"there is no record, but {DESIGN} holds every answer in meta (work resumed)",
            )
            yield _RECORD.ok(text, evidence.at(DESIGN))
        else:
            yield _RECORD.failed(
                both("没有启动确认的记录", "there is no record of the intake"), _ANSWER, evidence.at(RECORD)
            )
        return
    yield _RECORD.ok(both("有记录", "it is there"), _spot(evidence, found))
    yield _five(evidence, found)
    yield _values(evidence, found)
    yield _cann(evidence, found)
    yield _repo(evidence, found)
    yield _semantics(evidence, found)


def _spot(evidence: Evidence, found: Intake, key: str | None = None) -> Spot:
    file = next((f for f in evidence.files.values() if f.path == found.path), None)
    if file is None:
        return evidence.at(RECORD)
    answer = found.answers.get(key) if key is not None else None
    return evidence.spot(file, answer.start if answer is not None else found.start)


def _five(evidence: Evidence, found: Intake) -> Check:
    done = found.value("askquestion_completed")
    have = {d for d in done if isinstance(d, int)} if isinstance(done, (list, tuple)) else set()
    if evidence.simulated and found.value("cann_set_env_pending") is True:
        # "Later" is an answer where nothing asks for CANN.
        have.add(1)
    lacking = [str(q) for q in QUESTIONS if q not in have]
    spot = _spot(evidence, found, "askquestion_completed")
    if lacking:
        names = ", ".join(lacking)
        return _FIVE.failed(both(f"还没有回答：{names}", f"not answered yet: {names}"), _ANSWER, spot)
    return _FIVE.ok(both("1–5 都答了", "1 to 5 are answered"), spot)


def _values(evidence: Evidence, found: Intake) -> Check:
    values = values_of(found)
    bad: list[str] = [k for k in _FLAGS if not isinstance(values.get(k), bool)]
    name = values.get("op_name")
    if not isinstance(name, str) or not name.isidentifier() or name != name.lower():
        bad.append("op_name")
    if values.get("build_mode") not in _MODES:
        bad.append("build_mode")
    if "cann_source_mode" in values and values["cann_source_mode"] not in _SOURCES:
        bad.append("cann_source_mode")
    if values.get("performance_auto_optim") is True and values.get("performance_required") is False:
        bad.append("performance_auto_optim")
    container = values.get("docker_container")
    if "docker_exec_required" in values and values["docker_exec_required"] is not bool(container):
        bad.append("docker_exec_required")
    if container and not values.get("docker_workdir"):
        bad.append("docker_workdir")
    if bad:
        bad = list(dict.fromkeys(bad))
        names = ", ".join(bad)
        return _VALUES.failed(
            both(f"缺少或不可用：{names}", f"missing, or not usable: {names}"),
            both(
                "开关写 true 或 false；build_mode 写 independent_project 或 in_tree_example；"
                "没有性能评估就没有自动优化；有容器就写 docker_workdir",
                "switches are true or false; build_mode is independent_project or in_tree_example; "
                "no optimisation without performance; a container has a docker_workdir",
            ),
            _spot(evidence, found, bad[0]),
        )
    return _VALUES.ok(both("都可用", "all can be used"))


def _cann(evidence: Evidence, found: Intake) -> Check:
    values = values_of(found)
    spot = _spot(evidence, found, "cann_set_env")
    do = both(
        "在 cann_set_env 写 set_env.sh 的绝对路径，并把 cann_set_env_pending 改为 false",
        "write the absolute path of set_env.sh into cann_set_env and make cann_set_env_pending false",
    )
    if evidence.simulated and (values.get("cann_set_env_pending") is True or not values.get("cann_set_env")):
        return _CANN.ok(_unneeded("CANN"), spot)
    if values.get("cann_set_env_pending") is True:
        return _CANN.failed(
            both("还在等路径", "its path is still pending"), do, _spot(evidence, found, "cann_set_env_pending")
        )
    path = values.get("cann_set_env")
    if values.get("cann_source_mode") == "session_preconfigured" and not path:
        return _CANN.ok(both("用会话里已有的环境", "the session's environment is used"))
    if not isinstance(path, str) or not path.startswith("/") or not path.endswith("set_env.sh"):
        return _CANN.failed(both("不是 set_env.sh 的绝对路径", "it is not the absolute path of a set_env.sh"), do, spot)
    return _on_disk(_CANN, evidence, values, path, os.path.isfile(path), spot)


def _repo(evidence: Evidence, found: Intake) -> Check:
    values = values_of(found)
    path, spot = values.get("shmem_repo"), _spot(evidence, found, "shmem_repo")
    do = both(
        "在 shmem_repo 写 SHMEM 仓库的绝对路径", "write the absolute path of the SHMEM repository into shmem_repo"
    )
    if evidence.simulated and path in ("pending", None):
        return _REPO.ok(_unneeded("SHMEM"), spot)
    if path == "pending":
        return _REPO.unknown(both("还在等路径", "its path is still pending"), do, spot)
    if not isinstance(path, str) or not path.startswith("/"):
        return _REPO.failed(both("不是绝对路径", "it is not an absolute path"), do, spot)
    good = all(os.path.isdir(os.path.join(path, d)) for d in ("include", "src"))
    return _on_disk(_REPO, evidence, values, path, good, spot)


def _unneeded(what: str) -> Text:
    return both(
        f"在 CPU 上模拟（backend: sim），用不到 {what}",
        f"simulated (backend: sim): the CPU stand-in does without {what}",
    )


def _on_disk(
    title: Title, evidence: Evidence, values: Mapping[str, object], path: str, good: bool, spot: Spot
) -> Check:
    if good:
        return title.ok(both(f"{path} 在本机", f"{path} is on this machine"), spot)
    if values.get("docker_container"):
        return title.ok(
            both(f"{path} 是容器内的路径，不在本机核对", f"{path} is inside the container and not looked at here"), spot
        )
    if evidence.simulated:
        return title.ok(_unneeded(path), spot)
    return title.unknown(
        both(f"本机没有 {path}", f"there is no {path} on this machine"),
        both(
            '在装有 CANN 和 SHMEM 的机器上再查一次，或改正路径；只在 CPU 上模拟的话，用 opdev run --executor sim，或在 opdev.toml 写 [run] executor = "sim"',
            'ask again on the machine that has CANN and SHMEM, or mend the path; to run on the CPU stand-in only, say `opdev run --executor sim`, or [run] executor = "sim" in opdev.toml',
        ),
        spot,
    )


def _semantics(evidence: Evidence, found: Intake) -> Check:
    from opdev.design.problems import said_text

    document = evidence.design
    if document is not None and said_text(document, "semantics.result"):
        return _SEMANTICS.ok(both("写在设计里", "the design states them"), evidence.at(DESIGN))
    text = next((k for k in ("semantics", "summary", "description") if found.value(k)), None)
    if text is not None:
        return _SEMANTICS.ok(
            both(f"写在记录的 {text} 里", f"the record states them in {text}"), _spot(evidence, found, text)
        )
    return _SEMANTICS.unknown(
        both("记录里没有算子语义", "the record does not say what the operator does"),
        both(
            "在记录里加 semantics：本地计算、通信、结果各一句",
            "add `semantics` to the record: local computation, communication, result",
        ),
        _spot(evidence, found),
    )
