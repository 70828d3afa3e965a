"""The keys of a configuration file, and what each takes.

A table, so that what is read, what is refused and the JSON Schema are one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from opdev.rules.model import SEVERITIES

PROFILES = ("auto", "custom-ops", "in-tree")


@dataclass(frozen=True, slots=True)
class Key:
    """One configuration key: its shape (a JSON Schema), and what it means."""

    schema: Mapping[str, Any]
    zh: str
    en: str


_WORDS: Mapping[str, Any] = {"type": "array", "items": {"type": "string"}}
KEYS: Mapping[str, Key] = {
    "extend": Key(
        {"anyOf": [{"type": "string"}, _WORDS]},
        "以另一个配置文件为基础（路径相对本文件）",
        "Build on other configuration files (paths relative to this one)",
    ),
    "select": Key(
        _WORDS, "要运行的规则：名称、编号、目录行号、族名或 all", "Rules to run: names, ids, families or all"
    ),
    "extend-select": Key(
        _WORDS,
        "在 select 之外再运行的规则；默认关闭的规则由此打开",
        "Rules to run in addition to `select`; this is what turns on a rule that is off by default",
    ),
    "ignore": Key(_WORDS, "不运行的规则", "Rules not to run"),
    "per-file-ignores": Key(
        {"type": "object", "additionalProperties": _WORDS},
        "按文件（gitignore 写法）关闭规则",
        "Rules not to run on some files (gitignore patterns)",
    ),
    "severity": Key(
        {"type": "object", "additionalProperties": {"enum": list(SEVERITIES)}},
        "改变规则的级别",
        "Severities other than the rules' own",
    ),
    "profile": Key({"enum": list(PROFILES)}, "按哪种口径判断文件", "By which profile files are judged"),
    "exclude": Key(_WORDS, "不检查的路径（gitignore 写法）", "Paths not to lint (gitignore patterns)"),
    "respect-gitignore": Key({"type": "boolean"}, "跳过 .gitignore 忽略的文件", "Skip what .gitignore ignores"),
    "rules": Key(_WORDS, "附加规则页所在的文件夹", "Folders of further rule pages"),
    "lang": Key({"enum": ["auto", "zh", "en"]}, "消息语言", "Language of messages"),
    "clangd": Key(
        {"type": "string"},
        "clangd 程序，供 opdev clangd --check 使用",
        "The clangd program, for `opdev clangd --check`",
    ),
    "run": Key(
        {
            "type": "object",
            "additionalProperties": False,
            "properties": {
                "executor": {"enum": ["host", "docker", "sim"]},
                "engine": {"anyOf": [{"type": "string"}, _WORDS]},
                "container": {"type": "string"},
                "mounts": {"type": "object", "additionalProperties": {"type": "string"}},
                "python": {"type": "string"},
                "grace": {"type": "number", "minimum": 0},
                "timeout-scale": {"type": "number", "minimum": 0},
                "keep-runs": {"type": "integer", "minimum": 0},
                "keep-days": {"type": "number", "minimum": 0},
                "keep-megabytes": {"type": "integer", "minimum": 0},
                "case-megabytes": {"type": "integer", "minimum": 0},
                "rounds-megabytes": {"type": "integer", "minimum": 1},
                "external": {"type": "object", "additionalProperties": _WORDS},
                "external-timeout": {"type": "number", "minimum": 0},
            },
        },
        "opdev run 的设置：执行方式、容器引擎、宽限秒数、保留的运行数、各阶段的外部命令",
        "Settings of `opdev run`: executor, container engine, grace in seconds, how many runs are kept, a command for a phase",
    ),
}


def mismatch(value: object, schema: Mapping[str, Any]) -> str:
    """What is wrong with a value under one of the few schemas KEYS uses; empty if nothing."""
    if "anyOf" in schema:
        problems = [mismatch(value, option) for option in schema["anyOf"]]
        return "" if "" in problems else " or ".join(problems)
    if "enum" in schema:
        return "" if value in schema["enum"] else f"is one of {', '.join(schema['enum'])}, not {value!r}"
    kind = schema["type"]
    if kind == "array":
        good = isinstance(value, list) and all(isinstance(item, str) for item in value)
        return "" if good else f"is a list of strings, not {value!r}"
    if kind == "object":
        if not isinstance(value, dict):
            return f"is a table, not {value!r}"
        for name, item in value.items():
            inner = schema.get("properties", {}).get(name, schema["additionalProperties"])
            if inner is False:
                return f"knows no {name!r}; known are {', '.join(schema['properties'])}"
            problem = mismatch(item, inner)
            if problem:
                return f"{name!r} {problem}"
        return ""
    if kind in ("integer", "number"):
        good = (
            isinstance(value, int if kind == "integer" else (int, float)) and not isinstance(value, bool) and value >= 0
        )
        return (
            "" if good else f"is {'a whole number' if kind == 'integer' else 'a number'} of at least 0, not {value!r}"
        )
    wanted = {"string": str, "boolean": bool}[kind]
    return "" if isinstance(value, wanted) else f"is a {kind}, not {value!r}"


def schema() -> dict[str, Any]:
    """The JSON Schema of opdev.toml."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "opdev.toml",
        "type": "object",
        "additionalProperties": False,
        "properties": {name: {**key.schema, "description": f"{key.en} / {key.zh}"} for name, key in KEYS.items()},
    }
