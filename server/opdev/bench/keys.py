"""The keys of a batch's YAML file: those of the field's own benchmark with its defaults, and ours on top.

A table, so that what is read, what is refused, the documentation and the JSON Schema are one:
``python -m opdev.bench.keys`` writes ``config.schema.json`` anew.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

Kind = Literal["bool", "integer", "number", "text", "folder", "program", "devices", "words", "hosts"]
SCHEMA = f"{os.path.dirname(os.path.abspath(__file__))}/config.schema.json"


@dataclass(frozen=True, slots=True)
class Key:
    """One key.  ``default`` is its value where nobody gives one; ``least`` the smallest number it takes.

    ``unused``: it means something to the field's benchmark and nothing to us; it is accepted and told about once.
    """

    kind: Kind
    default: Any
    zh: str
    en: str
    least: float = 0.0
    above: bool = False
    """Whether a number has to be more than ``least``."""
    choices: tuple[str, ...] = ()
    unused: bool = False


def _unused(kind: Kind, default: Any, zh: str, en: str) -> Key:
    return Key(kind, default, f"不使用：{zh}", f"Not used: {en}", unused=True)


KEYS: Mapping[str, Key] = {
    "dry_run": Key("bool", False, "只说要做什么，不做", "Say what would be done, and do nothing"),
    "log_level": _unused("text", "INFO", "日志级别", "level of logging"),
    "bench_dir": Key("folder", "", "level1 等用例文件夹所在的文件夹", "The folder that has level1 and so on"),
    "cases": Key("text", "level1=19_ReLU", "选中的用例：level=用例[;…]，用例是全名、编号或范围 1:40，空着是整个 level",
                 "The cases: level=cases[;…], cases being whole names, numbers or ranges 1:40; none is the whole level"),
    "limit": Key("integer", None, "整个 level 最多取几个用例", "How many cases of a whole level are taken at most", least=1),
    "devices": Key("devices", (0,), "NPU 编号：列表，或用逗号分开的文字", "Numbers of NPUs: a list, or text with commas"),
    "concurrency": Key("integer", 0, "同时进行的用例数；0 是每个设备一个", "How many cases at a time; 0: one for each device"),
    "device_mode": Key("text", "normal", "两种写法都接受：设备总是由池分配", "Either is accepted: devices are always handed out by a pool", choices=("normal", "pool")),
    "pool_preflight_timeout_sec": Key("number", 120.0, "开始前检查一个设备的时限，秒", "Seconds for the check of a device before a batch", above=True),
    "hosts": Key("hosts", (), "用例在哪些机器上跑：name、prefix（放在命令前，如 ssh node1）、devices", "Where cases run: name, prefix (put before a command, like ssh node1), devices"),
    "output.root_dir": Key("folder", "", "这一批的文件夹", "The batch's folder"),
    "output.base_dir": Key("folder", "benchmark_runs", "没有 root_dir 时，在这里新建 Task_…", "Where Task_… is made when there is no root_dir"),
    "pypto.repo_root": Key("folder", "", "生成时所在的 PyPTO 仓库；空着时算子放在这一批的文件夹里", "The PyPTO repository to generate in; empty: operators are put into the batch's folder"),
    "pypto.opencode_bin": Key("program", "", "opencode 程序；空着时从 PATH 找", "The opencode program; empty: the one on PATH"),
    "pypto.opencode_model": Key("text", "", "传给 opencode 的模型名", "The model opencode is told to use"),
    "pypto.agent": Key("text", "pypto-op-orchestrator", "opencode 的 agent", "opencode's agent"),
    "pypto.timeout_sec": Key("number", 7200.0, "一个用例的生成时限，秒", "Seconds for generating one case", above=True),
    "pypto.pref_round": _unused("integer", 3, "性能优化轮次；写进 generator.command 自己的提示里", "rounds of optimisation; put it into what generator.command is told"),
    "pypto.skip_pypto_gen": Key("bool", False, "不生成，验证已有的实现", "Generate nothing, verify what is there"),
    "pypto.force_regen": Key("bool", False, "已有完整产物也重新生成", "Generate even where everything is there"),
    "pypto.incomplete_workflow_retry": Key("integer", 1, "流程没走完时再试几次", "How often an incomplete workflow is tried again"),
    "pypto.incomplete_workflow_retry_min_gap_sec": _unused("number", 1800.0, "再试之前会话要静默多久", "how long a session must be silent before it is tried again"),
    "pypto.workdir_root": Key("text", "custom", "仓库里放算子的文件夹", "The folder of operators in the repository"),
    "pypto.output_format": Key("text", "default", "opencode 的输出格式", "opencode's output format"),
    "generator.command": Key("words", None, "写算子的程序，一个参数一项；可用 {op} {case}（用例文件）{folder} {repo} {device} {prompt} {agent} {model}；空列表：验证已有的实现",
                             "The program that writes an operator, an argument an item; {op} {case} (its file) {folder} {repo} {device} {prompt} {agent} {model} are filled in; an empty list: what is there is verified"),
    "generator.need_stages": Key("bool", True, "状态文件要说各阶段都已完成", "Whether a state file must say that every stage is completed"),
    "verifier.framework": Key("text", "torch", "用例的框架", "The cases' framework", choices=("torch",)),
    "verifier.backend": Key("text", "auto", "在哪里验证：ascend（NPU）、sim（模拟）；auto 有设备用 NPU，没有用模拟", "Where to verify: ascend (an NPU), sim (simulated); auto: an NPU where there is one", choices=("auto", "ascend", "sim")),
    "verifier.python": Key("program", "", "有 torch 和 pypto 的 Python", "The Python with torch and pypto"),
    "verifier.verify_timeout": Key("number", 900.0, "一次验证的时限，秒", "Seconds for one verification", above=True),
    "verifier.verify_rtol": Key("number", None, "相对误差上限；不写时只用 PyPTO 的精度标准", "Relative tolerance; unset: PyPTO's precision standard alone"),
    "verifier.verify_atol": Key("number", None, "绝对误差上限；不写时只用 PyPTO 的精度标准", "Absolute tolerance; unset: PyPTO's precision standard alone"),
    "verifier.mode": Key("text", "performance", "验证范围", "What is verified", choices=("correctness", "performance", "full")),
    "verifier.verifier_mode": Key("text", "direct", "两种写法都接受：验证总是由 opdev 自己做", "Either is accepted: opdev always verifies itself", choices=("opencode", "direct")),
    "verifier.skip": Key("bool", False, "不验证", "Verify nothing"),
    "verifier.seeds": Key("integer", 2, "用几个随机种子；第一个是 42，其余事先没人知道", "How many seeds; 42 first, then ones nobody knows beforehand", least=1),
    "verifier.memory": Key("integer", 0, "子进程内存上限，MB；0 是本机内存的四分之三", "Memory limit of a child in MB; 0: three quarters of the machine's"),
    "verifier.warmup": Key("integer", 5, "测性能前的预热次数", "Runs before performance is measured"),
    "verifier.runs": Key("integer", 50, "测性能的次数", "Runs of which performance is measured", least=1),
    "verifier.validator_agent": _unused("text", "pypto-kernel-validator", "验证用的 agent", "the agent that verifies"),
    "verifier.skill_timeout_sec": _unused("number", 1800.0, "验证 agent 的时限", "seconds for that agent"),
    "verifier.skill_retry": _unused("integer", 2, "验证 agent 再试几次", "how often that agent is tried again"),
    "verifier.skill_retry_interval_sec": _unused("number", 600.0, "再试之间隔多久", "how long to wait in between"),
    "verifier.keep_artifacts": Key("bool", False, "保留输入、输出张量和中间文件", "Keep tensors of inputs and outputs, and files in between"),
    "monitor.poll_sec": Key("number", 3.0, "多久写一次 state.json，秒", "Seconds between two states in state.json", above=True),
}  # fmt: skip
HOST_KEYS: Mapping[str, Key] = {
    "name": Key("text", "", "名字，出现在状态和报告里", "The name, in states and reports"),
    "prefix": Key("words", (), "放在命令前的话，如 ssh node1；空着是本机", "What is put before a command, like ssh node1; empty: this machine"),
    "devices": Key("devices", None, "NPU 编号；不写时用上面的 devices", "Numbers of NPUs; unset: `devices` from above"),
}  # fmt: skip
SECTIONS = frozenset(name.partition(".")[0] for name in KEYS if "." in name)


def below(section: str) -> list[str]:
    """The keys of a section; those of the top for an empty one."""
    if section:
        return [name.partition(".")[2] for name in KEYS if name.startswith(f"{section}.")]
    return list(dict.fromkeys(name.partition(".")[0] for name in KEYS))


def shape(key: Key) -> dict[str, Any]:
    """A key as a JSON Schema; null is what an empty value is read as, and means the default."""
    made: dict[str, Any]
    if key.kind == "bool":
        made = {"type": ["boolean", "null"]}
    elif key.kind in ("integer", "number"):
        bound = "exclusiveMinimum" if key.above else "minimum"
        least = int(key.least) if key.least == int(key.least) else key.least
        # The field's reader takes numbers in quotes, and 1e-3 is a text to YAML.
        made = {"type": [key.kind, "string", "null"], bound: least}
    elif key.kind == "devices":
        one = {"type": "integer", "minimum": 0}
        made = {"anyOf": [{"type": "array", "items": one, "minItems": 1, "uniqueItems": True}, one, {"type": ["string", "null"]}]}  # fmt: skip
    elif key.kind == "words":
        made = {"anyOf": [{"type": "array", "items": {"type": ["string", "number"]}}, {"type": ["string", "null"]}]}
    elif key.kind == "hosts":
        one = {"type": "object", "additionalProperties": False, "properties": {n: _described(k) for n, k in HOST_KEYS.items()}}  # fmt: skip
        made = {"type": ["array", "null"], "items": one}
    elif key.choices:
        made = {"enum": [*key.choices, None]}
    else:
        made = {"type": ["string", "number", "null"]}
    return made


def _described(key: Key) -> dict[str, Any]:
    default = {} if key.default in (None, ()) else {"default": list(key.default) if isinstance(key.default, tuple) else key.default}  # fmt: skip
    return {**shape(key), **default, "description": f"{key.en} / {key.zh}"}


def schema() -> dict[str, Any]:
    """The JSON Schema of a batch's YAML file."""
    top: dict[str, Any] = {}
    for name, key in KEYS.items():
        section, dot, last = name.partition(".")
        if dot:
            empty = {"type": ["object", "null"], "additionalProperties": False, "properties": {}}
            top.setdefault(section, empty)["properties"][last] = _described(key)
        else:
            top[name] = _described(key)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A batch of `opdev bench`",
        "type": ["object", "null"],
        "additionalProperties": False,
        "properties": top,
    }


def text() -> str:
    """The schema file's text."""
    return json.dumps(schema(), ensure_ascii=False, indent=1) + "\n"


if __name__ == "__main__":
    with open(SCHEMA, "w", encoding="utf-8") as stream:
        stream.write(text())
    sys.stdout.write(SCHEMA + "\n")
