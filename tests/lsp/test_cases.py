"""The case matrix as an editor's tests, and new operators, over the real server."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import jsonschema
import pytest
from needed import held_by_modes

sys.path.insert(0, str(Path(__file__).parent))

from operators import CASES, make, until

import opdev.lsp
from opdev.lsp.uris import to_uri

SCHEMA = json.loads((Path(opdev.lsp.__file__).parent / "protocol.schema.json").read_text(encoding="utf-8"))


def checked(name, value):
    schema = {"$ref": SCHEMA["messages"][name]["result"]["$ref"], "$defs": SCHEMA["$defs"]}
    jsonschema.Draft202012Validator(schema).validate(value)
    return value


@pytest.fixture
def demo(tmp_path):
    op = make(tmp_path / "repo 仓")
    yield op
    op.end()


@pytest.fixture
def edit(start):
    def edit(op, **more):
        client = start()
        client.initialize(op.repo, capabilities={"workspace": {"executeCommand": {}}}, **more)
        return client

    return edit


def cases(client, op):
    return checked("opdev/cases", client.request("opdev/cases", {"root": to_uri(str(op.root))}))


def command(client, name, /, **argument):
    return client.answer(client.send("workspace/executeCommand", {"command": name, "arguments": [argument]}))


def run(client, op, *names):
    """The cases' verdicts after a run of phase 4."""
    asked = {"cases": list(names)} if names else {}
    started = command(client, "opdev.runPhase", root=str(op.root), phase="4", executor="host", **asked)["result"]
    until(lambda: op.events(started["run"])[-1]["type"] == "run-ended", what="the end of the run")
    return started["run"], {case["id"]: case["last"] for case in cases(client, op)["cases"]}


def test_cases_with_their_places_and_facts(edit, demo):
    client = edit(demo)
    found = cases(client, demo)

    assert (found["origin"], found["complete"], found["picks"]) == ("json", True, "some")
    small, odd = found["cases"]
    assert small["id"] == "小_2pe"
    assert (small["dtype"], small["tier"], small["pes"], small["shape"]) == ("float16", "XS", 2, "[8]")
    assert small["last"] is None
    assert small["place"] == {"uri": to_uri(f"{demo.root}/scripts/cases.json"), "line": 1}
    assert odd["place"]["line"] == 2


def test_unsaved_text_wins(edit, demo):
    client = edit(demo)
    assert len(cases(client, demo)["cases"]) == 2
    path = demo.root / "scripts" / "cases.json"
    where = client.open(path, CASES, language="json")
    client.change(where, 2, "\n" + CASES.replace("odd_2pe", "even_2pe"))

    found = cases(client, demo)["cases"]
    assert [(case["id"], case["place"]["line"]) for case in found] == [("小_2pe", 2), ("even_2pe", 3)]


def test_the_design_has_them_where_nothing_else_does(edit, demo):
    (demo.root / "scripts" / "cases.json").unlink()
    demo.write("scripts/run_case_matrix.py", "print('nothing')\n")
    demo.write(
        "docs/design.md",
        '# demo\n\n```yaml\ndsl_version: "0.3"\nmeta:\n  op_name: demo\ncorrectness:\n  case_matrix:\n'
        "    - {case_id: one_2pe, n_pes: 2, dtype: float16, shape: [8]}\n```\n",
    )
    found = cases(edit(demo), demo)

    assert (found["origin"], found["picks"]) == ("design", "none")
    assert [(case["id"], case["place"]["line"]) for case in found["cases"]] == [("one_2pe", 8)]


def test_an_operator_without_cases_has_none(edit, demo):
    (demo.root / "scripts" / "cases.json").write_text("[")
    demo.write("scripts/run_case_matrix.py", "")

    assert cases(edit(demo), demo) == {"cases": [], "origin": None, "complete": True, "picks": "none"}


def test_the_last_verdict_with_what_was_expected_and_what_came(edit, demo):
    demo.write("wrong", "")
    client = edit(demo)
    first, last = run(client, demo)

    assert (last["小_2pe"]["verdict"], last["小_2pe"]["run"], last["小_2pe"]["backend"]) == ("PASS", first, "npu")
    assert last["odd_2pe"]["verdict"] == "FAIL"
    assert last["odd_2pe"]["expected"] == "rtol=0.001 atol=0.001\nPE 1 idx=3: 1.0"
    assert last["odd_2pe"]["actual"] == "MaxAE=0.5 MaxRE=1\nPE 1 idx=3: 0.5"

    # Another run of one case: the other keeps what it had.
    (demo.root / "wrong").unlink()
    second, last = run(client, demo, "odd_2pe")
    assert (last["odd_2pe"]["verdict"], last["odd_2pe"]["run"]) == ("PASS", second)
    assert last["小_2pe"]["run"] == first


def test_a_runner_without_logs_of_cases_is_understood_by_its_output(edit, demo):
    demo.write(
        "scripts/run_case_matrix.py",
        "import sys\n"
        "for case, bad in (('小_2pe', False), ('odd_2pe', True)):\n"
        "    print(f'PE 0: dtype=float16 MaxAE={float(bad)} MaxRE=0.5 MeanRE=0.0 rtol=0.001 atol=0.001')\n"
        "    if bad: print('  first mismatch idx=6 actual=2.0 expected=3.0 diff=1.0')\n"
        "    print(f\"PE 0: {'FAIL' if bad else 'PASS'} (8 elements)\")\n"
        "    print(f\"[CASE] id={case} result={'FAIL' if bad else 'PASS'}\")\n"
        "print('[MATRIX] total=2 passed=1 failed=1')\n"
        "sys.exit(1)\n",
    )
    _, last = run(edit(demo), demo)

    assert (last["小_2pe"]["verdict"], last["小_2pe"]["actual"]) == ("PASS", "")
    assert last["odd_2pe"]["expected"] == "rtol=0.001 atol=0.001\nPE 0 idx=6: 3.0"
    assert last["odd_2pe"]["actual"] == "MaxAE=1 MaxRE=0.5 MeanRE=0\nPE 0 idx=6: 2.0"


@pytest.fixture
def repo(tmp_path):
    folder = tmp_path / "repo 仓"
    folder.mkdir()
    return folder


def editor(start, repo, **more):
    client = start()
    client.initialize(repo, capabilities={"workspace": {"executeCommand": {}}}, **more)
    return client


ASKED = {"name": "mover", "kind": "put-get", "dtypes": ["fp16", "float32"]}


def test_a_new_operator_is_written_and_there_at_once(start, repo):
    client = editor(start, repo)
    made = checked("opdev.newOperator", command(client, "opdev.newOperator", **ASKED, torch=True)["result"])

    root = repo / "custom-ops" / "mover"
    assert made["root"] == to_uri(str(root))
    assert (root / "docs" / "design.md").is_file()
    assert (root / "scripts" / "cases.json").is_file()
    assert list(root.glob("scripts/torch_test*"))
    listed = checked("opdev/phaseStatus", client.request("opdev/phaseStatus", {"root": made["root"]}))
    assert [one["name"] for one in listed["operators"]] == ["mover"]


def test_what_may_be_chosen_and_what_is_wrong_with_a_name(start, repo):
    client = editor(start, repo)
    offered = checked("opdev/newOperator", client.request("opdev/newOperator", {}))

    assert offered["folders"] == [to_uri(str(repo))]
    assert "put-get" in [kind["id"] for kind in offered["kinds"]]
    # No SHMEM tree: nothing can be an example of it.
    assert [mode["id"] for mode in offered["buildModes"]] == ["independent_project"]
    assert offered["problem"] is None

    def problem(name):
        return client.request("opdev/newOperator", {"name": name})["problem"]

    assert problem("mover") is None
    assert "MyOp" in problem("MyOp")
    assert problem("class")
    (repo / "custom-ops" / "mover").mkdir(parents=True)
    (repo / "custom-ops" / "mover" / "mine.txt").write_text("x")
    assert "mine.txt" in problem("mover")


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ({"name": "My-Op"}, "My-Op"),
        ({"name": "--force"}, "--force"),
        ({"dtypes": ["float8"]}, "float8"),
        ({"dtypes": []}, "dtypes"),
        ({"kind": "nothing"}, "nothing"),
        ({"folder": "/etc"}, "/etc"),
        ({"force": True}, "force"),
    ],
)
def test_what_cannot_be_is_refused_and_nothing_written(start, repo, more, told):
    client = editor(start, repo)
    error = command(client, "opdev.newOperator", **{**ASKED, **more})["error"]

    assert told in error["message"]
    assert list(repo.iterdir()) == []


def test_nothing_is_written_into_an_untrusted_workspace(start, repo):
    client = editor(start, repo, options={"trusted": False})
    error = command(client, "opdev.newOperator", **ASKED)["error"]

    assert "trust" in error["message"]
    assert list(repo.iterdir()) == []


def test_a_folder_that_cannot_be_written(start, repo):
    repo.chmod(0o555)
    client = start(argv=held_by_modes(sys.executable, "-m", "opdev.lsp"))
    client.initialize(repo, capabilities={"workspace": {"executeCommand": {}}})
    error = command(client, "opdev.newOperator", **ASKED)["error"]
    repo.chmod(0o755)

    assert "custom-ops" in error["message"]


def test_a_gate_is_told_once(start, demo):
    """A client with a command of its own shows the answer; the server does not show it, too."""
    for own, shown in ((["opdev.showGate"], 0), ([], 1)):
        client = start()
        client.initialize(demo.repo, options={"commands": own}, capabilities={"workspace": {"executeCommand": {}}})
        answer = client.answer(
            client.send("workspace/executeCommand", {"command": "opdev.showGate", "arguments": [str(demo.root)]})
        )
        assert "demo" in answer["result"]["text"]
        messages = [m for m in client.received if m.get("method") == "window/showMessage"]
        assert len(messages) == shown
