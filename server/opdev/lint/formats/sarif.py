"""SARIF 2.1.0 for code-scanning services.

Paths are relative, percent-encoded URIs; fingerprints name the rule, the path and the text of the
line, so that they survive lines inserted above, and two findings on one line differ.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from opdev.lint.fingerprint import fingerprints
from opdev.lint.formats import Run
from opdev.lint.record import Place, Record, Texts
from opdev.lint.texts import doc_url
from opdev.rules.model import Rule

_LEVEL = {"error": "error", "warning": "warning", "info": "note", "hint": "note"}
SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def write(records: Sequence[Record], texts: Texts, run: Run) -> str:
    rules = sorted({r.rule for r in records})
    index = {name: number for number, name in enumerate(rules)}
    marks = fingerprints(records)
    document = {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "opdev-lint",
                        "semanticVersion": run.version,
                        "rules": [_descriptor(texts.rules[name], texts) for name in rules],
                    }
                },
                "columnKind": "unicodeCodePoints",
                "originalUriBaseIds": {"SRCROOT": {"description": {"text": "The working directory of the run"}}},
                "invocations": [
                    {
                        "executionSuccessful": not run.problems,
                        "toolExecutionNotifications": [
                            {"level": "error", "message": {"text": f"{path}: {why}"}} for path, why in run.problems
                        ],
                    }
                ],
                "results": [_result(r, m, index[r.rule], texts) for r, m in zip(records, marks, strict=True)],
            }
        ],
    }
    return json.dumps(document, ensure_ascii=False, indent=1) + "\n"


def _descriptor(rule: Rule, texts: Texts) -> dict[str, Any]:
    other = "zh" if texts.lang == "en" else "en"
    described: dict[str, Any] = {
        "id": rule.id,
        "name": rule.name,
        "shortDescription": {"text": rule.summary[texts.lang]},
        "fullDescription": {"text": f"{rule.summary[texts.lang]} / {rule.summary[other]}"},
        "defaultConfiguration": {"level": _LEVEL[rule.severity]},
        "properties": {"tags": [rule.family or "opdev"], "covers": list(rule.covers)},
    }
    url = doc_url(rule)
    if url:
        described["helpUri"] = url
    return described


def _result(record: Record, mark: str, index: int, texts: Texts) -> dict[str, Any]:
    rule = texts.rule(record)
    result: dict[str, Any] = {
        "ruleId": rule.id,
        "ruleIndex": index,
        "level": _LEVEL[record.severity],
        "message": {"text": texts.message(record)},
        "locations": [{"physicalLocation": _location(record.at, record.frame)}],
        "partialFingerprints": {"opdev/v1": mark},
    }
    if record.related:
        result["relatedLocations"] = [
            {"id": number, "physicalLocation": _location(place), "message": {"text": note.get(texts.lang, "")}}
            for number, (place, note) in enumerate(record.related)
        ]
    title = texts.fix(record)
    if title is not None and record.edits and all(path == record.path for path, *_ in record.edits):
        result["fixes"] = [_fix(record, title)]
    return result


def _location(place: Place, frame: Sequence[str] = ()) -> dict[str, Any]:
    region: dict[str, Any] = {
        "startLine": place.line,
        "startColumn": place.column,
        "endLine": place.end_line,
        "endColumn": place.end_column,
    }
    if frame:
        region["snippet"] = {"text": "\n".join(frame)}
    return {"artifactLocation": _artifact(place.path), "region": region}


def _artifact(path: str) -> dict[str, str]:
    found = {"uri": quote(path, safe="/:" if path.startswith("/") else "/", errors="surrogateescape")}
    if not path.startswith(("/", "..")):
        found["uriBaseId"] = "SRCROOT"
    return found


def _fix(record: Record, title: str) -> dict[str, Any]:
    changes = [
        {
            "deletedRegion": {"byteOffset": start, "byteLength": end - start},
            "insertedContent": {"text": text},
        }
        for _, start, end, text in record.edits
    ]
    return {
        "description": {"text": title},
        "artifactChanges": [{"artifactLocation": _artifact(record.path), "replacements": changes}],
    }
