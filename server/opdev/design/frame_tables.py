"""Judges what stands around the DSL: the sections that must be there and what their tables say."""

from __future__ import annotations

import re
from collections.abc import Iterator

from opdev.design.document import DesignDocument
from opdev.design.frame import (
    GRIDS,
    MEASURED,
    OPTIONAL_FIELDS,
    RESULTS,
    REVIEW,
    SECTIONS,
    Row,
)
from opdev.design.frame_capability import judge_capability
from opdev.design.frame_find import (
    anchor,
    columns,
    is_prompt,
    names,
    own_stop,
    plain,
    rows_of,
    sections,
    spot,
    table_of,
    tables_of,
    text,
    topic,
    topics,
)
from opdev.design.markdown import Cell, Heading
from opdev.design.problems import Problem, flag

# Every code, and the args its messages may use.  A path is the section's number, and the row's key.
CODES: dict[str, tuple[str, ...]] = {
    "section-missing": ("number", "title"), "section-empty": ("number", "title"),
    "template-text": ("value", "count"), "confirmation-open": ("name",),
    "question-blocking": ("value",), "question-undecided": ("value",), "assumption-critical": ("word",),
    "columns-missing": ("number", "missing"), "class-unknown": ("value", "nearest", "allowed"),
    "domain-missing": ("missing_zh", "missing_en", "keys"), "gap-unplanned": ("name", "missing_zh", "missing_en"),
    "gap-unstated": (), "accumulation-unchosen": ("name",),
    "boundary-missing": ("missing_zh", "missing_en", "keys"),
    "review-missing": ("missing_zh", "missing_en", "keys", "count"), "review-result": ("name", "value", "nearest"),
    "review-unexplained": ("name",), "review-fail": ("name",), "review-vague": ("name",),
    "contract-missing": ("number", "missing_zh", "missing_en", "keys"), "contract-empty": ("name",),
    "duplicate-structure": ("title",),
    "box-missing": ("missing_zh", "missing_en", "keys", "count"), "box-open": ("name", "holds"),
    "box-false": ("name", "claim_zh", "claim_en", "code"),
}  # fmt: skip

_QUESTION = re.compile(r"question|未决|开放|待确认|待定|问题", re.IGNORECASE)
_ASSUMPTION = re.compile(r"assum|假设", re.IGNORECASE)
_YES = re.compile(r"(?:yes|y\b|true|是|阻塞|blocking)", re.IGNORECASE)
_SETTLED = re.compile(r"已解决|已确认|已答复|已关闭|resolved|closed|answered", re.IGNORECASE)
_CONFIRMED = re.compile(r"已.{0,4}确认|用户.{0,6}(?:确认|指定|要求|给出)|confirmed|phase0_intake", re.IGNORECASE)
_CRITICAL = re.compile(
    r"op_name|算子名称?|(?<![\w/])dtypes?\b|数据类型|visibility|可见性|\boracle\b"
    r"|(?:通信|结果|输出)语义|(?:communication|result) semantics|semantics\.(?:communication|result)",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"\d|[一二两三四五六七八九十百]+\s*(?:条|路|倍|成|张)")
_PLACE = re.compile(
    r"链路|peer|对端|分核|同步|barrier|\bUB\b|HCCS|RDMA|HBM|\bL2\b|\bGM\b|signal|信号|launch|启动", re.IGNORECASE
)
_NOT_APPLICABLE = re.compile(r"不适用|不涉及|\bn/?a\b|单\s?PE", re.IGNORECASE)
# Not yes and no: some rows ask whether there is something that should not be.
_ANSWERS = {
    "pass": "pass", "passed": "pass", "通过": "pass", "ok": "pass", "✓": "pass", "✔": "pass",
    "✅": "pass", "满足": "pass", "符合": "pass", "fail": "fail", "failed": "fail", "不通过": "fail", "未通过": "fail",
    "✗": "fail", "✘": "fail", "❌": "fail", "失败": "fail", "不满足": "fail",
}  # fmt: skip
_STRUCTURE = re.compile(
    r"\bphases?\b|\btiling\b|core_?partition|\binvariants?\b|分核|切分方案|阶段划分|执行阶段|不变量|不变式",
    re.IGNORECASE,
)


def judge(document: DesignDocument) -> list[Problem]:
    """Everything wrong around the DSL but the boxes."""
    found = [*_missing_sections(document), *_assumptions(document), *judge_capability(document), *_review(document)]
    found += [*_rows_missing(document, "4", "boundary-missing"), *_contract(document), *_duplicates(document)]
    return [*found, *_prompts(document)]


def _missing_sections(document: DesignDocument) -> Iterator[Problem]:
    have = sections(document)
    last = document.headings[0] if document.headings and document.headings[0].level == 1 else None
    for part in SECTIONS:
        heading = have.get(part.number)
        parent = part.number.partition(".")[0]
        args = {"number": part.number, "title": part.title}
        if heading is not None:
            last = heading
            if part.number == "1.2" and not _says_something(document, heading):
                yield Problem("section-empty", part.number, heading.start, heading.end, args)
        elif "." not in part.number or parent in have:
            # Shown where it belongs: at the section before it.
            place = have[parent] if "." in part.number else last
            where = (place.start, place.end) if place is not None else document.source.line_range(0)
            yield Problem("section-missing", part.number, *where, args)


def _says_something(document: DesignDocument, heading: Heading) -> bool:
    return bool(
        re.sub(rb"<!--.*?-->", b"", document.data[heading.end : own_stop(document, heading)], flags=re.DOTALL).strip()
    )


def _assumptions(document: DesignDocument) -> Iterator[Problem]:
    confirmations = table_of(document, "1.1")
    if confirmations is not None:
        _, _, state = columns(GRIDS["1.1"], confirmations)
        for row in rows_of(confirmations) if state is not None else ():
            known = topic(text(row, 0), "1.1")
            if known is not None and not re.search(
                r"(?<!un)confirmed|(?<![待未])确认", text(row, state), re.IGNORECASE
            ):
                yield Problem("confirmation-open", f"1.1.{known.key}", *spot(row, state), {"name": known.key})
    for table in tables_of(document, "1.3"):
        kind, content, blocking = columns(GRIDS["1.3"], table)
        if kind is None or content is None:
            continue
        for row in rows_of(table):
            what, said, block = text(row, kind), text(row, content), text(row, blocking)
            if is_prompt(said) or is_prompt(block):
                continue
            args = {"value": said[:80]}
            if _YES.match(block) and not _SETTLED.search(said + block):
                yield Problem("question-blocking", "1.3", *spot(row, content), args)
            elif not block and blocking is not None and _QUESTION.search(what):
                yield Problem("question-undecided", "1.3", *spot(row, content), args)
            word = _CRITICAL.search(said) if _ASSUMPTION.search(what) and not _CONFIRMED.search(said) else None
            if word is not None:
                yield Problem("assumption-critical", "1.3", *spot(row, content), {"word": word.group()})


def _rows_missing(document: DesignDocument, number: str, code: str) -> Iterator[Problem]:
    """Rows of the frame that a section's table (or, without one, its text) does not have."""
    heading = sections(document).get(number)
    if heading is None:
        return
    table = table_of(document, number)
    if table is not None:
        said = [text(row, 0) for row in rows_of(table)]
    else:
        said = document.source.text(heading.end, heading.stop).splitlines()
    spoken = {row.key for line in said for row in topics(line, number)}
    lacking = [row for row in GRIDS[number].rows if row.key not in spoken]
    if lacking:
        yield Problem(code, number, *anchor(document, number), {"number": number, **names(lacking)})


def _review(document: DesignDocument) -> Iterator[Problem]:
    if "5" not in sections(document):
        return
    table = table_of(document, "5")
    if table is None:
        yield Problem("review-missing", "5", *anchor(document, "5"), names(list(REVIEW)))
        return
    grid = GRIDS["5"]
    check, result, why = (i if i is not None else n for n, i in enumerate(columns(grid, table)))
    seen: set[str] = set()
    other = 0
    for row in rows_of(table):
        name = text(row, check)
        known = topic(name, "5")
        other += known is None or known.key in seen
        if known is not None:
            seen.add(known.key)
        yield from _reviewed(row, known, name[:40], result, why)
    lacking = [row for row in REVIEW if row.key not in seen]
    # A row in words of its own stands for one of those that were not found.
    if len(lacking) > other:
        yield Problem("review-missing", "5", *anchor(document, "5"), names(lacking))


def _reviewed(row: list[Cell], known: Row | None, name: str, result: int, why: int) -> Iterator[Problem]:
    path = f"5.{known.key}" if known is not None else "5"
    value, said = text(row, result), text(row, why)
    if is_prompt(value):
        return
    answer = _ANSWERS.get(value.lower()) or next(
        (a for a in RESULTS if re.match(rf"{a}(?![A-Za-z])", value, re.IGNORECASE)), None
    )
    if answer is None or value.lower()[:4] not in RESULTS:
        yield Problem("review-result", path, *spot(row, result), {"name": name, "value": value, "nearest": answer})
    if answer == "fail":
        yield Problem("review-fail", path, *spot(row, result), {"name": name})
    if not said.strip("-—/ "):
        yield Problem("review-unexplained", path, *spot(row, result), {"name": name})
    elif answer == "pass" and known is not None and known.key in MEASURED and not is_prompt(said):
        named = known.key == "bottleneck" and _PLACE.search(said)
        if not (_NUMBER.search(said) or named or _NOT_APPLICABLE.search(said)):
            yield Problem("review-vague", path, *spot(row, why), {"name": name})


def _contract(document: DesignDocument) -> Iterator[Problem]:
    for number in ("6.1", "6.2"):
        for problem in _rows_missing(document, number, "contract-missing"):
            keys = problem.args["keys"]
            wanted = [
                row
                for row in GRIDS[number].rows
                if row.key in (keys if isinstance(keys, tuple) else ())
                and (row.key not in OPTIONAL_FIELDS or flag(document, OPTIONAL_FIELDS[row.key]) is True)
            ]
            if wanted:
                args = {"number": number, **names(wanted)}
                yield Problem(problem.code, number, problem.start, problem.end, args)
        table = table_of(document, number)
        for row in rows_of(table) if table is not None else ():
            known = topic(text(row, 0), number)
            if known is None or any(plain(c.text).strip("-—") for c in row[1:]):
                continue
            # A dash says "none", and of some fields that is an answer.
            dash = any(c.text for c in row[1:]) and (known.key == "required_flags" or known.key in OPTIONAL_FIELDS)
            switch = OPTIONAL_FIELDS.get(known.key)
            if not dash and (switch is None or flag(document, switch) is not False):
                yield Problem("contract-empty", f"{number}.{known.key}", *spot(row, 0), {"name": known.key})


def _duplicates(document: DesignDocument) -> Iterator[Problem]:
    """A heading of its own with a table that says again what the DSL says."""
    have = sections(document)
    framed = {heading.start for heading in have.values()}
    inside = [heading for number, heading in have.items() if number in ("2", "3", "5", "6", "7")]
    tabled = {table.heading.start for table in document.tables if table.heading is not None}
    for heading in document.headings:
        if heading.level == 1 or heading.start not in tabled or heading.start in framed:
            continue
        if _STRUCTURE.search(heading.title) and not any(h.start < heading.start < h.stop for h in inside):
            yield Problem("duplicate-structure", heading.number, heading.start, heading.end, {"title": heading.title})


def _prompts(document: DesignDocument) -> Iterator[Problem]:
    """The template's own words left in the frame: one problem a row."""
    for number in GRIDS:
        for table in tables_of(document, number):
            for row in table.rows:
                left = [c for c in row if is_prompt(c.text)]
                if left:
                    args = {"value": plain(left[0].text)[:60], "count": len(left)}
                    yield Problem("template-text", number, left[0].start, left[0].end, args)
    heading = sections(document).get("1.2")
    if heading is not None:
        stop = own_stop(document, heading)
        body = document.data[heading.end : stop].strip()
        if body and is_prompt(body.decode("utf-8", "replace")):
            start = document.data.index(body, heading.end)
            args = {"value": body.decode("utf-8", "replace")[:60], "count": 1}
            yield Problem("template-text", "1.2", start, start + len(body), args)
