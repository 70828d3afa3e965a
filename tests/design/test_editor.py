"""What an editor shows of a design: snippets, offers, hints, outline; all must survive half-typed text."""

from __future__ import annotations

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from opdev.design.document import DesignDocument
from opdev.design.explain import explain
from opdev.design.formulas import formula
from opdev.design.inlays import inlays
from opdev.design.offers import offers
from opdev.design.outline import folds, outline
from opdev.design.scale import human, power, scale_of
from opdev.design.snippets import plain, snippet
from opdev.design.walk import all_fields


@pytest.mark.parametrize("view", all_fields(), ids=lambda v: v.path)
def test_every_snippet_is_yaml_of_its_key(view):
    for one_line in (False, True):
        text = plain(snippet(view, one_line=one_line))
        read = yaml.safe_load(f"{{{text}}}" if one_line else text)

        assert list(read) == [view.key]
        assert "${" not in text
        assert not one_line or "\n" not in text


def test_stops_of_a_snippet_count_from_one_and_never_twice():
    view = next(v for v in all_fields() if v.path == "schedule.core_partition")
    text = snippet(view)
    stops = [int(part.split("|")[0].split(":")[0]) for part in text.split("${")[1:]]

    assert stops == list(range(1, len(stops) + 1))


@pytest.mark.parametrize(
    ("shape", "dtype", "pes", "label"),
    [
        ("[16383, 2]", "half", 8, "XS · 63.9 KB/PE · total 511.9 KB < 256 MB · bus 1.75 · rtol ≤ 2^-7"),
        ("[16384, 2]", "fp16", 8, "S · 64 KB/PE · total 512 KB < 256 MB · bus 1.75 · rtol ≤ 2^-7"),
        ("[n_pes, 8M]", "int8", 4, "M · 32 MB/PE · total 128 MB < 256 MB · bus 1.5 · rtol 0"),
        ("[32M]", "float16", 4, "L · 64 MB/PE · total 256 MB ≥ 256 MB · bus 1.5 · rtol ≤ 2^-7"),
        ("[32M]", "bfloat16", None, "L · 64 MB/PE · rtol ≤ 2^-6"),
    ],
)  # fmt: skip
def test_scale_of_a_case(shape, dtype, pes, label):
    assert scale_of(shape, dtype, pes, "collective", "all_reduce").label["en"] == label


@pytest.mark.parametrize(
    ("shape", "dtype"), [("[x]", "fp16"), ("[8]", "T"), ("", "fp16"), ("[0]", "fp16"), ("[" * 300, "fp16")]
)
def test_no_scale_without_numbers(shape, dtype):
    assert scale_of(shape, dtype, 8) is None


def test_numbers_as_people_write_them():
    assert [human(n) for n in (1, 1024, 1536, 1 << 20, 5 << 30)] == ["1 B", "1 KB", "1.5 KB", "1 MB", "5 GB"]
    assert [power(v) for v in (0, 2**-8, 0.001, 1.0)] == ["0", "2^-8", "0.001", "2^0"]


def test_formulas_are_there_in_both_languages():
    for path in (
        "schedule.core_partition.mode",
        "correctness.tolerance.rtol",
        "performance.metric",
        "schedule.tiling.tail",
    ):
        assert formula(path, "zh")
        assert formula(path, "en")
    assert "CoC" not in formula("schedule.core_partition.mode", "en", "A+B")
    assert formula("meta.op_name", "en") == ""


def test_hints_of_a_whole_design(full):
    found = {h.label["en"] for h in inlays(full())}

    assert any(label.startswith("standard") for label in found)
    assert any(label.startswith("peak") for label in found)


WHOLE = 'dsl_version: "0.3"\nmeta:\n  op_name: all_reduce 😀\n  op_kind: collective\nsource:\n  user_confirmations:\n    dtypes: [fp16]\nschedule:\n  core_partition:\n    mode: A\n    groups:\n      - {name: a, aiv_range: "0..3"}\ncorrectness:\n  tolerance:\n    rtol: {float16: 2^-7}\n  case_matrix:\n    - {case: 甲, shape: "[8]", n_pes: 2}\n    - case: b\n      shape: [8, 9]\n'  # fmt: skip


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.integers(0, len(WHOLE)),
    st.integers(0, 12),
    st.sampled_from(["", "\n", "  ", "[", "{", '"', ": ", "- ", "&a *a", "\r", "😀", "```\n", "\t", "| "]),
)
def test_any_edit_leaves_places_inside_the_document(design, at, cut, put):
    document = design(WHOLE[:at] + put + WHOLE[at + cut :])
    size = len(document.data)

    assert isinstance(document, DesignDocument)
    for hint in inlays(document):
        assert 0 <= hint.at <= size
        assert hint.tip("zh")
    stack = outline(document)
    while stack:
        entry = stack.pop()
        assert 0 <= entry.start <= entry.name_start <= entry.name_end <= entry.end <= size
        stack += entry.children
    for start, end in folds(document):
        assert 0 <= start < end <= size
    for offset in range(0, size, 7):
        found = explain(document, offset, "zh")
        assert found is None or 0 <= found.start <= offset <= found.end <= size
    for path in (
        "correctness.invariants[].case",
        "interface.inputs[].dtype",
        "schedule.core_partition.groups[].aiv_range",
        "meta.op_root",
    ):
        assert all(o.why["zh"] for o in offers(document, path))
