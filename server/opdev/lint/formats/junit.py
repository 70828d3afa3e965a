"""JUnit XML: a test case a file, a failure a finding; a clean run has one passing case."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from xml.sax.saxutils import escape, quoteattr

from opdev.lint.formats import Run
from opdev.lint.record import Record, Texts

# Control characters XML 1.0 cannot hold.
_BAD = {code: None for code in range(32) if code not in (9, 10, 13)} | {0xFFFE: None, 0xFFFF: None}


def write(records: Sequence[Record], texts: Texts, run: Run) -> str:
    cases: list[str] = []
    for path, group in groupby(records, key=lambda r: r.path):
        for record in group:
            at = record.at
            message = texts.message(record).translate(_BAD)
            cases.append(
                f"    <testcase classname={quoteattr(path.translate(_BAD))}"
                f' name={quoteattr(f"{record.rule}:{at.line}:{at.column}")} file={quoteattr(path.translate(_BAD))} line="{at.line}">\n'
                f"      <failure type={quoteattr(record.severity)} message={quoteattr(message)}>"
                f"{escape(f'{path}:{at.line}:{at.column}: {message}'.translate(_BAD))}</failure>\n"
                f"    </testcase>\n"
            )
    errors = [
        f'    <testcase classname={quoteattr(path)} name="unreadable">\n      <error message={quoteattr(why)}/>\n    </testcase>\n'
        for path, why in run.problems
    ]
    total = len(cases) + len(errors)
    if not total:
        cases, total = ['    <testcase classname="opdev-lint" name="clean"/>\n'], 1
    head = f'tests="{total}" failures="{len(records)}" errors="{len(errors)}"'
    body = "".join([*cases, *errors])
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<testsuites name="opdev-lint" {head}>\n  <testsuite name="opdev-lint" {head}>\n{body}  </testsuite>\n</testsuites>\n'
    )
