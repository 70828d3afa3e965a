"""An editor's view of operators has PyPTO's stages, too, and asks none of them SHMEM's questions; one of them can be run."""

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
    assert (found["name"], found["workflow"], found["phase"]) == ("demo", "pypto-classic", "2")
    assert found["worker"] == "pypto-op-mathematician"
    assert [phase["id"] for phase in found["phases"] if phase["runs"]] == ["6"]
    assert [phase["id"] for phase in found["phases"]] == ["1", "2", "3", "4", "5", "6", "7"]
    assert [phase["state"] for phase in found["phases"]][:3] == ["closed", "closed", "ahead"]
    assert found["phases"][1]["title"] == "参考实现"
    assert "启动确认" not in json.dumps(answer, ensure_ascii=False)


IMPL = "import pypto\n\n\ndef demo_wrapper(x):\n    return x\n"
TEST = "import pypto\nfrom demo_impl import demo_wrapper\n\n\ndef test_small():\n    demo_wrapper(1)\n\n\ndef test_大():\n    demo_wrapper(2)\n"
CAN = {
    "experimental": {"opdev": {"runEvents": True}},
    "workspace": {"executeCommand": {}},
    "textDocument": {"codeLens": {}, "publishDiagnostics": {}},
}


def classic(folder):
    """A classic operator whose test this Python cannot run: it has no pypto."""
    root = folder / "custom" / "demo"
    root.mkdir(parents=True)
    for name, text in (("demo_impl.py", IMPL), ("test_demo.py", TEST), ("SPEC.md", "# demo\n")):
        (root / name).write_text(text, encoding="utf-8")
    return root


def asked(client, **argument):
    answer = client.answer(
        client.send("workspace/executeCommand", {"command": "opdev.runPhase", "arguments": [argument]})
    )
    return answer.get("result") or answer["error"]


def test_its_verification_runs_in_simulation_whatever_the_setting_says(start, tmp_path):
    root = classic(tmp_path)
    client = start()
    client.initialize(tmp_path, capabilities=CAN, options={"run": {"executor": "host"}})

    refused = asked(client, root=str(root), phase="3")
    assert refused["code"] == -32803
    assert "only stage 6 can be run" in refused["data"]["en"]
    assert "只能运行 Stage 6" in refused["data"]["zh"]
    begun = asked(client, root=str(root), phase="verify", cases=["test_small"])
    last = client.wait(
        lambda m: m.get("method") == "opdev/runEvent" and any(e["type"] == "run-ended" for e in m["params"]["events"]), "its end"
    )  # fmt: skip
    assert (last["params"]["run"], last["params"]["state"]) == (begun["run"], "blocked")
    (record,) = client.request("opdev/runHistory", {"root": str(root)})["runs"]
    assert (record["executor"], record["backend"], record["request"]) == ("sim", "sim", "6")


def test_lenses_of_its_files_verify_one_test_or_all_and_say_where_it_stands(start, tmp_path):
    root = classic(tmp_path)
    client = start()
    client.initialize(tmp_path, capabilities=CAN)

    def lenses(name):
        where = client.open(root / name, (root / name).read_text(encoding="utf-8"), language="python")
        found = client.request("textDocument/codeLens", {"textDocument": {"uri": where}})
        return [
            (one["range"]["start"]["line"], one["command"]["title"], one["command"]["arguments"][0]) for one in found
        ]

    whole = {"root": str(root), "phase": "6"}
    assert lenses("test_demo.py") == [
        (0, "▶ verify in simulation (stage 6)", whole),
        (4, "▶ run test_small (simulated)", {**whole, "cases": ["test_small"]}),
    ]
    assert lenses("demo_impl.py") == [(0, "▶ verify in simulation (stage 6)", whole)]
    ((line, title, argument),) = lenses("SPEC.md")
    assert (line, argument) == (0, str(root))
    assert "Stage" in title


def test_nothing_of_a_pro_operator_can_be_run(start, tmp_path):
    root = classic(tmp_path)
    (root / "test_demo.py").write_text(
        "import pypto_pro.language as pl\n\n\n@pl.jit\ndef kernel(x):\n    pass\n", encoding="utf-8"
    )
    (root / "EXPLORE_REPORT.md").write_text("# demo\n", encoding="utf-8")
    client = start()
    client.initialize(tmp_path, capabilities=CAN)

    (found,) = client.request("opdev/phaseStatus", {"root": str(root)})["operators"]
    assert found["workflow"].startswith("pypto-pro")
    assert not any(phase["runs"] for phase in found["phases"])
    assert "PyPTO-Pro" in asked(client, root=str(root), phase="verify")["message"]
