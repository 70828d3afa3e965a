"""Compiles the rule pages into the wheel, so that an installed opdev never parses them; adds the JSON Schemas."""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CompileRules(BuildHookInterface):
    """Adds ``opdev/_data/rules.json`` and ``rules-docs.json`` to the wheel."""

    _folder: Path | None = None

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return
        root = Path(self.root)
        sys.path.insert(0, str(root / "server"))
        from opdev.configkeys import schema as config_schema
        from opdev.rules.page import schema as rule_schema
        from opdev.rules.store import compile_folder, content_stamp

        rules, docs = compile_folder(root / "rules", content_stamp(root / "rules", root / "server" / "opdev"))
        folder = self._folder = Path(tempfile.mkdtemp(prefix="opdev-rules-"))
        files = {
            "rules.json": rules,
            "rules-docs.json": docs,
            "schemas/opdev.toml.json": config_schema(),
            "schemas/rule.json": rule_schema(),
        }
        (folder / "schemas").mkdir()
        for name, data in files.items():
            (folder / name).write_text(json.dumps(data, ensure_ascii=False, separators=(",", ":")), encoding="utf-8")
            build_data["force_include"][str(folder / name)] = f"opdev/_data/{name}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:  # noqa: ARG002 - hatchling's signature
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
