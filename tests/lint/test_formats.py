"""Every format: whole for no findings, right for odd paths, and SARIF by its schema."""

from __future__ import annotations

import json
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import jsonschema
import pytest

from opdev.lint.fingerprint import fingerprints
from opdev.lint.formats import NAMES, Run, writer
from opdev.lint.record import Place, Record, Texts, from_json, to_json
from opdev.lint.session import rules_by_name
from opdev.rules import store

RULES = rules_by_name(store.load())
SARIF_SCHEMA = Path(sys.prefix) / "share" / "sarif-2.1.0.json"


def record(
    path="custom-ops/demo/scripts/run.sh",
    line=3,
    column=1,
    rule="hardcoded-endpoint",
    frame=('IPPORT="tcp://1:2"',),
    **more,
):
    return Record(
        Place(path, line, column, line, column + 4), rule, more.pop("severity", "error"), args={"name": "IPPORT", "value": "tcp://1.2.3.4:5"},
        kind="run-script", operator="demo", fix_title="default", applicability="safe", edits=((path, 7, 9, "x\n"),),
        related=((Place(path, 1, 1, 1, 2), {"zh": "另见", "en": "see"}),), frame=frame, **more,
    )  # fmt: skip


RECORDS = [
    record(),
    record(line=9, severity="warning"),
    record("中文 目录/a&b<c>|d.sh", frame=("中文\x01", "x" * 300)),
    record(severity="hint"),
]


def write(name, records, lang="en", **more):
    return writer(name)(records, Texts(RULES, lang), Run("1.2.3", files=2, **more))


@pytest.mark.parametrize("lang", ["zh", "en"])
@pytest.mark.parametrize("name", NAMES)
def test_no_findings_is_a_whole_document(name, lang):
    text = write(name, [], lang)

    if name in ("json", "gitlab"):
        assert json.loads(text) == []
    elif name in ("sarif", "rdjson"):
        assert json.loads(text)
    elif name == "junit":
        assert ET.fromstring(text).attrib["failures"] == "0"
    elif name in ("github", "jsonl"):
        assert text == ""
    else:
        assert text.strip()


@pytest.mark.parametrize("name", NAMES)
def test_odd_paths_and_text_survive(name):
    text = write(name, RECORDS)

    if name in ("json", "gitlab", "rdjson", "sarif"):
        json.loads(text)
    elif name == "junit":
        cases = ET.fromstring(text).findall(".//testcase")
        assert [c.attrib["classname"] for c in cases].count("中文 目录/a&b<c>|d.sh") == 1
    elif name == "jsonl":
        assert len([json.loads(line) for line in text.splitlines()]) == 4
    elif name == "github":
        assert all(line.startswith(("::error ", "::warning ", "::notice ")) for line in text.splitlines())
        assert len(text.splitlines()) == 4


def test_json_items_are_as_documented():
    item = json.loads(write("json", [RECORDS[0]]))[0]

    assert list(item) == ["path", "line", "column", "end_line", "end_column", "id", "name", "severity", "message", "kind", "operator",
                          "fix", "related", "doc"]  # fmt: skip
    assert (item["line"], item["column"], item["end_column"], item["kind"], item["operator"]) == (
        3,
        1,
        5,
        "run-script",
        "demo",
    )
    assert item["fix"]["edits"] == [{"path": item["path"], "start": 7, "end": 9, "text": "x\n"}]
    assert json.loads(write("json", [RECORDS[0]], "zh"))[0]["message"] != item["message"]


@pytest.mark.parametrize("records", [[], RECORDS], ids=["none", "some"])
def test_sarif_is_valid_by_its_schema(records):
    schema = json.loads(SARIF_SCHEMA.read_text(encoding="utf-8"))
    document = json.loads(write("sarif", records, problems=[("x.sh", "Permission denied")]))

    jsonschema.Draft7Validator(schema).validate(document)


def test_sarif_uris_are_relative_and_percent_encoded():
    results = json.loads(write("sarif", RECORDS))["runs"][0]["results"]

    artifact = results[2]["locations"][0]["physicalLocation"]["artifactLocation"]
    assert artifact == {"uri": "%E4%B8%AD%E6%96%87%20%E7%9B%AE%E5%BD%95/a%26b%3Cc%3E%7Cd.sh", "uriBaseId": "SRCROOT"}


def test_fingerprints_are_unique_and_survive_lines_above():
    here = [record(line=3), record(line=3, column=9), record(line=5, frame=("other",))]
    moved = [record(line=13), record(line=13, column=9), record(line=15, frame=("  other  ",))]

    assert fingerprints(here) == fingerprints(moved)
    assert len(set(fingerprints(here))) == 3


def test_a_record_survives_the_cache():
    for one in RECORDS:
        assert from_json(json.loads(json.dumps(to_json(one)))) == one


def test_markdown_cells_do_not_break_the_table():
    rows = [line for line in write("markdown", RECORDS).splitlines() if line.startswith("| `")]

    assert all(line.replace("\\|", "").count("|") == 4 for line in rows)
