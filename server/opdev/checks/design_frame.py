"""The rules on what stands around the DSL: choices among the frame's verdicts, and their edits."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from opdev.checks.design_problems import design, fix_of
from opdev.rules.context import Context
from opdev.rules.model import Edit, Fix, Hit, Related

if TYPE_CHECKING:
    from opdev.design.changes import Change
    from opdev.design.problems import Problem


def _found(context: Context, *codes: str, number: str = "") -> Iterator[Problem]:
    """The frame's problems with any of ``codes``, of one section or of all."""
    from opdev.design.frame import frame_problems

    by_code = context.file.memo("design-frame-by-code", lambda: _by_code(frame_problems(design(context))))
    for code in codes:
        for problem in by_code.get(code, ()):
            if not number or problem.under(number):
                yield problem


def _by_code(found: Iterable[Problem]) -> dict[str, list[Problem]]:
    by_code: dict[str, list[Problem]] = {}
    for problem in found:
        by_code.setdefault(problem.code, []).append(problem)
    return by_code


def _hit(problem: Problem, message: str = "default", *changes: Change | None, title: str = "default") -> Hit:
    fix = fix_of(*changes, title=title) if changes else None
    return Hit(problem.start, problem.end, message, problem.args, fix)


def _keys(problem: Problem) -> tuple[str, ...]:
    keys = problem.args["keys"]
    return keys if isinstance(keys, tuple) else ()


def missing_section(context: Context) -> Iterator[Hit]:
    """SH185: a section that is not there, or says nothing."""
    from opdev.design.frame_text import add_sections

    missing = list(_found(context, "section-missing"))
    added = add_sections(design(context), [problem.path for problem in missing]) if missing else {}
    for problem in missing:
        together, change = added.get(problem.path, ((), None))
        args = {**problem.args, "sections_zh": "、".join(together), "sections_en": ", ".join(together)}
        yield Hit(problem.start, problem.end, args=args, fix=fix_of(change))
    for problem in _found(context, "section-empty"):
        yield _hit(problem, "empty")


def blocking_question(context: Context) -> Iterator[Hit]:
    """SH186: a question code generation has to wait for."""
    for problem in _found(context, "question-blocking"):
        yield _hit(problem)
    for problem in _found(context, "question-undecided"):
        yield _hit(problem, "undecided")


def critical_assumption(context: Context) -> Iterator[Hit]:
    """SH187: assumed where only the user can say."""
    for problem in _found(context, "assumption-critical"):
        yield _hit(problem)


def malformed_capability_table(context: Context) -> Iterator[Hit]:
    """SH188: no table in section 3, or one without its columns."""
    from opdev.design.frame_find import table_of
    from opdev.design.frame_text import add_columns

    for problem in _found(context, "columns-missing"):
        message = "default" if table_of(design(context), "3") is not None else "none"
        yield _hit(problem, message, *add_columns(design(context), "3"))


def unknown_gap_class(context: Context) -> Iterator[Hit]:
    """SH189: a classification that is none of the three."""
    from opdev.design.changes import Change

    for problem in _found(context, "class-unknown"):
        right, shown = problem.args["nearest"], bool(problem.args["value"])
        changes = [Change(problem.start, problem.end, str(right))] if right and shown else []
        yield _hit(problem, "default" if shown else "empty", *changes)


def missing_capability_domain(context: Context) -> Iterator[Hit]:
    """SH190: a domain the capability table does not speak of."""
    from opdev.design.frame_text import add_rows

    for problem in _found(context, "domain-missing"):
        yield _hit(problem, "default", *add_rows(design(context), "3", _keys(problem)))


def gap_without_plan(context: Context) -> Iterator[Hit]:
    """SH191: something new, and nothing on how it is made and verified."""
    for problem in _found(context, "gap-unplanned"):
        yield _hit(problem)


def missing_no_gap_statement(context: Context) -> Iterator[Hit]:
    """SH192: all can be had, and the document does not say so."""
    from opdev.design.frame_text import add_no_gap

    for problem in _found(context, "gap-unstated"):
        yield _hit(problem, "default", add_no_gap(design(context)))


def compute_row_without_accumulation(context: Context) -> Iterator[Hit]:
    """SH193: an operator that reduces, and a compute row that does not say who adds."""
    for problem in _found(context, "accumulation-unchosen"):
        yield _hit(problem)


def incomplete_design_review(context: Context) -> Iterator[Hit]:
    """SH194: review rows that are not there, not answered or not explained."""
    from opdev.design.changes import Change
    from opdev.design.frame_text import add_rows

    for problem in _found(context, "review-missing"):
        yield _hit(problem, "default", *add_rows(design(context), "5", _keys(problem)))
    for problem in _found(context, "review-result"):
        right, value = problem.args["nearest"], str(problem.args["value"])
        data = context.data[problem.start : problem.end].decode("utf-8", "replace")
        # A cell that says more than the word keeps what it says.
        changes = [Change(problem.start, problem.end, str(right))] if right and data == value else []
        hit = _hit(problem, "result" if value else "unanswered", *changes, title="result")
        yield Hit(hit.start, hit.end, hit.message, hit.args, _safe(hit.fix))
    for problem in _found(context, "review-unexplained"):
        yield _hit(problem, "unexplained")


def _safe(fix: Fix | None) -> Fix | None:
    return Fix(fix.edits, fix.title, "safe") if fix is not None else None


def failed_design_review(context: Context) -> Iterator[Hit]:
    """SH195: a review row that failed."""
    for problem in _found(context, "review-fail"):
        yield _hit(problem)


def unquantified_design_review(context: Context) -> Iterator[Hit]:
    """SH196: a row on topology, bandwidth, parallelism or the bottleneck that holds no number."""
    for problem in _found(context, "review-vague"):
        yield _hit(problem)


def missing_compile_contract(context: Context) -> Iterator[Hit]:
    """SH197: fields of section 6.1."""
    yield from _contract(context, "6.1")


def missing_test_contract(context: Context) -> Iterator[Hit]:
    """SH198: fields of section 6.2."""
    yield from _contract(context, "6.2")


def _contract(context: Context, number: str) -> Iterator[Hit]:
    from opdev.design.frame_text import add_rows

    for problem in _found(context, "contract-missing", number=number):
        yield _hit(problem, "default", *add_rows(design(context), number, _keys(problem)))
    for problem in _found(context, "contract-empty", number=number):
        yield _hit(problem, "empty")


def structure_outside_dsl(context: Context) -> Iterator[Hit]:
    """SH199: a table that says again what the DSL says."""
    for problem in _found(context, "duplicate-structure"):
        yield _hit(problem)


def open_handoff_box(context: Context) -> Iterator[Hit]:
    """SH1A0: boxes that are not there; boxes still open when there is a kernel already."""
    from opdev.design.changes import Change
    from opdev.design.frame_text import add_boxes

    for problem in _found(context, "box-missing"):
        yield _hit(problem, "missing", add_boxes(design(context), _keys(problem)), title="missing")
    boxes = list(_found(context, "box-open"))
    project = context.project
    if not boxes or project is None or not any(True for _ in project.files("kernel")):
        return
    for problem in boxes:
        changes = [Change(problem.start, problem.end, "[x]")] if problem.args["holds"] else []
        yield _hit(problem, "default" if problem.args["holds"] else "refuted", *changes)


def false_handoff_tick(context: Context) -> Iterator[Hit]:
    """SH1A0: a box is ticked, and the document says otherwise."""
    note = {"zh": "与打勾相反的地方", "en": "what says otherwise"}
    for problem in _found(context, "box-false"):
        related = (Related(*problem.related, note),) if problem.related is not None else ()
        fix = Fix((Edit(problem.start, problem.end, "[ ]"),))
        yield Hit(problem.start, problem.end, "default", problem.args, fix, related=related)


def misplaced_design(context: Context) -> Iterator[Hit]:
    """SH1A1: design.md in the operator's own folder."""
    place = context.place
    if place.operator is None or place.relative != "design.md":
        return
    headings = design(context).headings
    where = (headings[0].start, headings[0].end) if headings else context.file.source.line_range(0)
    yield Hit(*where, args={"operator": place.operator})


def thin_implementation_boundary(context: Context) -> Iterator[Hit]:
    """SH1A2: parts of the operator whose duty section 4 does not say."""
    from opdev.design.frame_text import add_rows

    for problem in _found(context, "boundary-missing"):
        yield _hit(problem, "default", *add_rows(design(context), "4", _keys(problem)))
