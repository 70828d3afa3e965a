"""Writes the frame: rows, tables and sections put where they belong, and a whole new design.

An insertion keeps its neighbours: a section stands behind the one before it with a blank line on
either side, a row behind the one that precedes it in the template.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence

from opdev.design.changes import Change
from opdev.design.document import DesignDocument
from opdev.design.frame import (
    BOXES,
    GRIDS,
    NO_GAP,
    PARTS,
    SECTIONS,
    Grid,
    Part,
    Row,
    Values,
    values,
    values_of,
)
from opdev.design.frame_find import columns, own_stop, sections, table_of, text, topic
from opdev.design.markdown import Cell, Heading, Table, boxes
from opdev.syntax.fences import line_end, line_start

NO_GAP_LINE = f"{NO_GAP}：上表没有需新实现的项。"
DEFAULT_SOC = "ascend910b"
_ORDER = [part.number for part in SECTIONS]
_FUNCTION = "[一句话：每个 PE 算什么，怎样通信，最后结果在哪里]"


def row_text(cells: Iterable[str]) -> str:
    """A row of a pipe table."""
    return f"| {' | '.join(cells)} |"


def grid_text(grid: Grid, given: Values, rows: Sequence[Row] | None = None) -> list[str]:
    """The lines of a table of the frame."""
    head = [column.title for column in grid.columns]
    body = [_filled(row, given) for row in (grid.rows if rows is None else rows)]
    return [row_text(head), row_text(["---"] * len(head)), *map(row_text, body)]


def _filled(row: Row, given: Values) -> list[str]:
    return [cell.format_map(given) for cell in row.cells]


def body_text(number: str, given: Values) -> list[str]:
    """The lines below a section's heading, those of its subsections left out."""
    if number in GRIDS:
        return grid_text(GRIDS[number], given)
    if number == "1.2":
        return [_FUNCTION]
    return [f"- [ ] {row.cells[0]}" for row in BOXES] if number == "7" else []


def section_text(number: str, given: Values) -> list[str]:
    """The lines of a section with its heading, and below a section of level 2 its subsections."""
    lines = [PARTS[number].heading]
    for lines_below in (body_text(number, given), *(section_text(p.number, given) for p in _below(number))):
        if lines_below:
            lines += ["", *lines_below]
    return lines


def _below(number: str) -> list[Part]:
    return [part for part in SECTIONS if part.number.startswith(f"{number}.")]


def whole(meta: Mapping[str, object], dtypes: Sequence[str]) -> str:
    """A whole new design.md: the frame around the DSL's skeleton, with ``meta`` and dtypes filled in."""
    from opdev.design.schema import skeleton

    said = {key: str(meta.get(key) or "") for key in ("op_name", "op_root", "build_mode", "shmem_repo")}
    given = values(
        said["op_name"],
        said["op_root"],
        said["build_mode"],
        said["shmem_repo"],
        ", ".join(dtypes),
        torch_required=meta.get("torch_required") is True,
        performance_required=meta.get("performance_required") is True,
    )
    known = {**meta, **{key: given[key] for key in ("op_name", "op_root", "build_mode")}}
    socs = known.setdefault("target_soc", [DEFAULT_SOC])
    lines = [f"# {given['op_name']} 设计"]
    for part in SECTIONS:
        if part.level == 2:
            lines += ["", *section_text(part.number, given)]
        if part.number == "1" and DEFAULT_SOC in (socs if isinstance(socs, (list, tuple)) else [socs]):
            lines.append(row_text(["assumption", f"目标 SoC 取 {DEFAULT_SOC}，以实际机器为准", "no"]))
        if part.number == "2":
            lines += ["", "```yaml", *_dsl(skeleton(), known, dtypes), "```"]
    return "\n".join(lines) + "\n"


def _dsl(yaml: str, meta: Mapping[str, object], dtypes: Sequence[str]) -> list[str]:
    """The DSL's skeleton with what is known of ``meta`` and the confirmed dtypes."""
    out, section = [], ""
    for line in yaml.splitlines():
        key = line.strip().partition(":")[0]
        section = section if line[:1] == " " else key
        if section == "meta" and line[:1] == " " and key in meta:
            line = f"  {key}: {_yaml(meta[key])}"
        elif section == "source" and key == "dtypes" and dtypes:
            line = f"    {key}: {_yaml(list(dtypes))}"
        out.append(line)
    return out


def _yaml(value: object) -> str:
    # JSON is YAML: quotes, flags, null and lists alike.
    return json.dumps(value, ensure_ascii=False)


def add_sections(document: DesignDocument, numbers: Iterable[str]) -> dict[str, tuple[tuple[str, ...], Change]]:
    """For each section that is not there: the sections that go into the same place, and the edit that puts them in."""
    places: dict[int, list[str]] = {}
    for number in sorted(numbers, key=_ORDER.index):
        at = _place(document, number)
        if at is not None:
            places.setdefault(at, []).append(number)
    given = values_of(document)
    out: dict[str, tuple[tuple[str, ...], Change]] = {}
    for at, together in places.items():
        lines: list[str] = []
        for number in together:
            lines += [*([""] if lines else []), *section_text(number, given)]
        out |= dict.fromkeys(together, (tuple(together), _block(document, at, lines)))
    return out


def _place(document: DesignDocument, number: str) -> int | None:
    """Where a missing section goes: behind the one before it; the DSL's heading above a DSL that has none."""
    have = sections(document)
    if number == "2" and document.dsl is not None:
        start = line_start(document.data, document.dsl.opening[0])
        return start if document.data.startswith((b"`", b"~"), start) else None
    level, top = PARTS[number].level, number.partition(".")[0]
    family = [p.number for p in SECTIONS if p.level == level and (level == 2 or p.number.startswith(f"{top}."))]
    at = family.index(number)
    before = next((have[n] for n in reversed(family[:at]) if n in have), None)
    if before is not None:
        return before.stop
    after = next((have[n] for n in family[at + 1 :] if n in have), None)
    if after is not None:
        return after.start
    return have[top].stop if level == 3 and top in have else len(document.data)


def _block(document: DesignDocument, at: int, lines: Sequence[str]) -> Change:
    """Lines of their own at the beginning of a line, a blank line on either side."""
    newline = document.source.newline
    before = document.data[:at]
    ends = len(before) - len(before.rstrip(b"\r\n"))
    breaks = before[len(before) - ends :].replace(b"\r\n", b"\n").count(b"\n") if ends else 0
    lead = 0 if not before.strip() else max(0, 2 - breaks)
    trail = 2 if at < len(document.data) else 1
    return Change(at, at, newline * lead + newline.join(lines) + newline * trail)


def add_below(document: DesignDocument, heading: Heading, lines: Sequence[str]) -> Change:
    """Lines at the end of a section's own text."""
    stop = own_stop(document, heading)
    end = max(heading.end, heading.end + len(document.data[heading.end : stop].rstrip()))
    newline = document.source.newline
    return Change(end, end, newline * 2 + newline.join(lines))


def add_rows(document: DesignDocument, number: str, keys: Iterable[str]) -> list[Change]:
    """Rows a section's table lacks, each behind the one that precedes it in the template; the table without one."""
    heading = sections(document).get(number)
    grid, given, wanted = GRIDS[number], values_of(document), set(keys)
    if heading is None:
        return []
    rows = [row for row in grid.rows if row.key in wanted]
    table = table_of(document, number)
    if table is None:
        return [add_below(document, heading, grid_text(grid, given, rows))]
    known = [topic(text(row, columns(grid, table)[0] or 0), number) for row in table.rows]
    ends = {row.key: line_end(document.data, cells[-1].end) for row, cells in _pairs(known, table)}
    changes: dict[int, list[str]] = {}
    for row in rows:
        earlier = grid.rows[: grid.rows.index(row)]
        at = next((ends[r.key] for r in reversed(earlier) if r.key in ends), None)
        if at is None:
            at = _delimiter_end(document, table) if ends else table.end
        changes.setdefault(at, []).append(_fitting(document, table, grid, row, given))
    newline = document.source.newline
    return [Change(at, at, newline + newline.join(lines)) for at, lines in changes.items()]


def _pairs(known: Sequence[Row | None], table: Table) -> list[tuple[Row, list[Cell]]]:
    return [(row, cells) for row, cells in zip(known, table.rows, strict=True) if row is not None and cells]


def _delimiter_end(document: DesignDocument, table: Table) -> int:
    first = line_end(document.data, table.start)
    return line_end(document.data, first + (2 if document.data.startswith(b"\r\n", first) else 1))


def _fitting(document: DesignDocument, table: Table, grid: Grid, row: Row, given: Values) -> str:
    """A row of the frame in the columns a table has."""
    cells = [""] * len(table.header)
    places = columns(grid, table)
    if cells and places[0] is None and 0 not in places:
        places[0] = 0
    for value, index in zip(_filled(row, given), places, strict=True):
        if index is not None:
            cells[index] = value
    line = document.data[table.start : line_end(document.data, table.start)]
    return line[: len(line) - len(line.lstrip(b" \t"))].decode("utf-8", "replace") + row_text(cells)


def add_columns(document: DesignDocument, number: str) -> list[Change]:
    """The columns a section's table lacks, at its right edge; the whole table where there is none."""
    grid, table, heading = GRIDS[number], table_of(document, number), sections(document).get(number)
    if heading is None:
        return []
    if table is None:
        return [add_below(document, heading, grid_text(grid, values_of(document)))]
    width = len(table.header)
    lacking = [n for n, index in enumerate(columns(grid, table)) if index is None]
    if not lacking or any(len(row) != width for row in table.rows):
        return []
    titles = [grid.columns[n].title for n in lacking]
    prompts = [grid.rows[0].cells[n] if n else "[需求]" for n in lacking]
    data = document.data
    first, second = line_end(data, table.start), _delimiter_end(document, table)
    changes = [_wider(data, first, titles), _wider(data, second, ["---"] * len(titles))]
    return changes + [_wider(data, line_end(data, row[-1].end), prompts) for row in table.rows]


def _wider(data: bytes, end: int, cells: Sequence[str]) -> Change:
    end = len(data[:end].rstrip())
    bar = "" if data[end - 1 : end] == b"|" else " |"
    return Change(end, end, f"{bar} {' | '.join(cells)} |")


def add_no_gap(document: DesignDocument) -> Change | None:
    """The sentence that says nothing is missing, behind the capability table."""
    table = table_of(document, "3")
    newline = document.source.newline
    return Change(table.end, table.end, newline * 2 + NO_GAP_LINE) if table is not None else None


def add_boxes(document: DesignDocument, keys: Iterable[str]) -> Change | None:
    """Boxes that are not there, behind the last one."""
    heading, wanted = sections(document).get("7"), set(keys)
    if heading is None:
        return None
    lines = [f"- [ ] {row.cells[0]}" for row in BOXES if row.key in wanted]
    there = boxes(document.data, heading.end, heading.stop)
    if not there:
        return add_below(document, heading, lines)
    newline = document.source.newline
    return Change(there[-1].stop, there[-1].stop, newline + newline.join(lines))
