"""What reports are made of, gathered once from an operator's folder: cases, PEs, invariants."""

from __future__ import annotations

from collections.abc import Iterator

from opdev.design.nodes import Node
from opdev.facts.report_tables import plain
from opdev.facts.structured import root_of
from opdev.phases import review
from opdev.phases.evidence import Evidence
from opdev.reporting.cases import results
from opdev.reporting.documents import Found, Invariant, Performance
from opdev.reporting.perpe import per_pe
from opdev.runs import perf_report


def gather(evidence: Evidence) -> Found:
    """All that the reports of cases are made of."""
    found = results(evidence)
    pes = {row.case.id: one for row in found.rows if (one := per_pe(evidence.root, row))}
    reviewed = review.report(evidence)
    final = reviewed is not None and reviewed[1].mode == "final"
    return Found(evidence.name, found, pes, invariants(evidence), performance(evidence), final)


def performance(evidence: Evidence) -> Performance:
    """The four metrics of the case that decides; empty where hardware measured nothing, or nobody wants it measured."""
    if evidence.said("performance_required") is False:
        return Performance()
    found, said, rounds = perf_report.decision(evidence)
    if found is None:
        return Performance()
    done = [one for one in rounds if one.number > 0]
    kept = sum(one.decision == "keep" for one in done)
    return Performance(
        found.case, found.why, found.verdict, said.baseline or "未写明", f"{len(done)}，保留 {kept}" if done else "没有优化轮次",
        found.rows, found.sources,
    )  # fmt: skip


def invariants(evidence: Evidence) -> list[Invariant]:
    """The invariants of cases.json and those of the design that are none of them."""
    out: dict[str, Invariant] = {}
    for file in evidence.of_kind("cases"):
        top = root_of(file)
        listed = top.get("invariants") if top is not None and top.kind == "mapping" else None
        for one in _read(listed.children if listed is not None and listed.kind == "sequence" else ()):
            out.setdefault(one.text, one)
    if evidence.design is not None:
        for one in _read(evidence.design.items("correctness.invariants")):
            key = plain(one.text)
            if not any(key in there or there in key for there in map(plain, out)):
                out[one.text] = one
    return list(out.values())


def _read(nodes: Iterator[Node] | tuple[Node, ...] | list[Node]) -> Iterator[Invariant]:
    for node in nodes:
        if node.kind != "mapping":
            if node.said.strip():
                yield Invariant(" ".join(node.said.split()))
            continue
        text, method, case = (node.get(name) for name in ("invariant", "test_method", "case"))
        if text is None or not text.said.strip():
            continue
        names = [n.said for n in case.children] if case is not None and case.kind == "sequence" else [case.said if case is not None else ""]  # fmt: skip
        split = tuple(word.strip() for name in names for word in name.replace("、", ",").split(",") if word.strip())
        yield Invariant(" ".join(text.said.split()), " ".join(method.said.split()) if method is not None else "", split)
