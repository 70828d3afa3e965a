"""An editor's view of operators has PyPTO's stages, too, and asks none of them SHMEM's questions."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema

import opdev.lsp

SCHEMA = json.loads((Path(opdev.lsp.__file__).parent / "protocol.schema.json").read_text(encoding="utf-8"))


def test_a_pypto_operator_stands_in_a_stage_of_its_own(start, tmp_path):
    root = tmp_path / "custom" / "demo"
    root.mkdir(parents=True)
    state = {
        "operator_name": "demo",
        "max_stage": 7,
        "current_stage": 2,
        "stage_status": {"1": "completed", "2": "in_progress"},
    }
    (root / ".orchestrator_state.json").write_text(json.dumps(state), encoding="utf-8")
    (root / "SPEC.md").write_text("# demo\n", encoding="utf-8")
    client = start()
    client.initialize(tmp_path, locale="zh-CN")

    answer = client.request("opdev/phaseStatus", {"root": root.as_uri()})

    ref = SCHEMA["messages"]["opdev/phaseStatus"]["result"]["$ref"]
    jsonschema.Draft202012Validator({"$ref": ref, "$defs": SCHEMA["$defs"]}).validate(answer)
    (found,) = answer["operators"]
    assert (found["name"], found["phase"], found["worker"]) == ("demo", "2", "pypto-op-mathematician")
    assert [phase["id"] for phase in found["phases"]] == ["1", "2", "3", "4", "5", "6", "7"]
    assert [phase["state"] for phase in found["phases"]][:3] == ["closed", "closed", "ahead"]
    assert found["phases"][1]["title"] == "参考实现"
    assert "启动确认" not in json.dumps(answer, ensure_ascii=False)
