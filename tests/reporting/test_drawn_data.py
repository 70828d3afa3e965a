"""PROTOCOL.md says which fields the panels draw: each is in its schema and in what the commands really print."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import jsonschema
import pytest
from needed import package

import opdev.lsp

sys.path.insert(0, str(Path(__file__).parents[1] / "perf"))

from lines import baseline, launch

np = package("numpy")

PAGE = (Path(opdev.lsp.__file__).parent / "PROTOCOL.md").read_text(encoding="utf-8")
TABLE = PAGE.partition("### What panels draw\n")[2].partition("\nThe fields of")[0]
FRAMES = "\n".join(
    ["=" * 60, "".join(n.ljust(w) for n, w in zip(("BlockID", "FrameID", "Cycles", "Count", "AvgTime(us)"), (10, 10, 15, 15, 15), strict=True)),
     "-" * 60, "".join(c.ljust(w) for c, w in zip(("0", "1", "5000", "10", "10.000"), (10, 10, 15, 15, 15), strict=True)), "=" * 60, ""]
)  # fmt: skip


def fields(source):
    """The paths that the table names for a source."""
    found = []
    for row in TABLE.splitlines():
        cells = [cell.strip() for cell in row.strip("|").split("|")]
        if len(cells) == 3 and f"`{source}`" in cells[1]:
            found += [p for p in re.findall(r"`([a-z_\[\]A-Z.0-9]+)`", cells[2]) if "." in p or p == "verdict"]
    return found


def values(value, path):
    """What stands at a path, of every element; a step that is not there raises."""
    found = [value]
    for step in path.split("."):
        name = step.removesuffix("[]")
        found = [one[name] for one in found if one is not None]
        if step.endswith("[]"):
            found = [one for several in found for one in several]
    return found


def described(schema, path):
    """Whether a schema says something of a path."""

    def plain(node):
        while True:
            if "$ref" in node:
                node = schema["$defs"][node["$ref"].rpartition("/")[2]]
            elif "anyOf" in node or "oneOf" in node:
                node = next(n for n in node.get("anyOf", node.get("oneOf")) if n.get("type") != "null")
            else:
                return node

    node = plain(schema)
    for step in path.split("."):
        name = step.removesuffix("[]")
        inner = node.get("properties", {}).get(name)
        node = plain(inner if inner is not None else node["additionalProperties"])
        if step.endswith("[]"):
            node = plain(node["items"])
    return node


@pytest.fixture(scope="module")
def precision(tmp_path_factory):
    """The real document of an operator with a right, a wrong and a missing output, held against its schema."""
    from opdev.precision.schema import schema, to_json

    root = tmp_path_factory.mktemp("drawn") / "demo_allgather"
    (root / "data/case").mkdir(parents=True)
    (root / "output/case").mkdir(parents=True)
    for pe in range(3):
        golden = np.arange(256, dtype=np.float16) + pe
        golden.tofile(root / f"data/case/golden_pe{pe}.bin")
        golden[100:120] *= 1 + pe
        if pe < 2:
            golden.tofile(root / f"output/case/output_pe{pe}.bin")
    (root / "data/case/config.json").write_text(json.dumps({"n_pes": 3, "dtype": "float16", "expected_elems": 256}))
    from opdev.precision import judge_operator

    document = json.loads(to_json(judge_operator(str(root))))
    jsonschema.validate(document, schema())
    return document, schema()


@pytest.fixture(scope="module")
def performance():
    from opdev.perf.document import Aim, document, schema
    from opdev.perf.reader import read

    logs = [
        read((launch(1050.0) + launch(1060.0) + FRAMES).encode(), "a.log", run="r1", n_pes=8),
        read(launch(1100.0, make=baseline).encode(), "b.log", n_pes=8),
    ]
    made = document(logs, "demo", Aim(baseline=True))
    jsonschema.validate(made, schema())
    return made, schema()


def test_the_table_names_fields():
    assert len(fields("opdev/precision")) > 25
    assert len(fields("opdev/performance")) > 25
    assert len(fields("opdev/cases")) >= 6


@pytest.mark.parametrize("path", fields("opdev/precision"))
def test_precision(precision, path):
    document, schema = precision
    found = values(document, path)
    assert found
    assert any(value is not None for value in found)
    assert described(schema, path)


@pytest.mark.parametrize("path", [p for p in fields("opdev/performance") if not p.startswith("rounds")])
def test_performance(performance, path):
    document, schema = performance
    found = values(document, path)
    assert found
    assert any(value is not None for value in found)
    assert described(schema, path)


def test_rounds_and_cases():
    from opdev.runs.rounds import schema

    for path in fields("opdev/performance"):
        if path.startswith("rounds"):
            assert described(schema(), path)
    protocol = json.loads((Path(opdev.lsp.__file__).parent / "protocol.schema.json").read_text(encoding="utf-8"))
    whole = {**protocol, **protocol["$defs"]["CasesResult"]}
    for path in fields("opdev/cases"):
        assert described(whole, path)


def test_a_field_there_is_none_of_would_be_found(precision):
    document, schema = precision
    with pytest.raises(KeyError):
        values(document, "results[].no_such_field")
    with pytest.raises(KeyError):
        described(schema, "results[].no_such_field")
