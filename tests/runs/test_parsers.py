"""What each parser makes of lines, whatever pieces and encodings they come in."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
from fakes import VALIDATOR
from hypothesis import given, settings
from hypothesis import strategies as st

from opdev.runs.ids import new_id
from opdev.runs.lines import LineBuffer
from opdev.runs.parsers import NAMES, Where, make


def parsed(names, text, where=None, stream="stderr", pieces=None, encoding="utf-8"):
    """All that parsers make of a text, held against the schema."""
    data = text.encode(encoding) if isinstance(text, str) else text
    made = make([names] if isinstance(names, str) else names, where or Where("/"))
    buffer, found = LineBuffer(), []
    for piece in pieces or [data]:
        if lines := buffer.feed(piece):
            for parser in made:
                found += parser.feed(lines, stream)
    if lines := buffer.close():
        for parser in made:
            found += parser.feed(lines, stream)
    for parser in made:
        found += parser.close()
    for seq, (type_, fields) in enumerate(found):
        VALIDATOR.validate({"v": 1, "seq": seq, "time": 1.0, "run": new_id(), "executor": "host", "backend": "npu", "type": type_, "task": "01-x", **fields})  # fmt: skip
    return found


def diagnostics(text, where=None, **more):
    return [
        (f["severity"], f["path"], f["line"], f["column"], f["message"])
        for _, f in parsed("compiler", text, where, **more)
    ]


@pytest.fixture
def tree(tmp_path):
    for name in ("src/k.cpp", "build/gen/g.h", "CMakeLists.txt", "数据/核 函数.cpp"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    return tmp_path


def at(tree: Path, folder="."):
    return Where(str(tree / folder), (str(tree / "build"), str(tree)))


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("src/k.cpp:3:7: error: no member [-Wfoo]", ("error", "src/k.cpp", 3, 7, "no member")),
        ("src/k.cpp:3:7: fatal error: 'shmem.h' file not found", ("error", "src/k.cpp", 3, 7, "'shmem.h' file not found")),
        ("src/k.cpp:3: warning: old", ("warning", "src/k.cpp", 3, None, "old")),
        ("src/k.cpp:3:7: 错误：‘x’ 没有声明", ("error", "src/k.cpp", 3, 7, "‘x’ 没有声明")),
        ("src/k.cpp:3:7: 警告： 未使用的变量 [-Wunused]", ("warning", "src/k.cpp", 3, 7, "未使用的变量")),
        ("src/k.cpp:3:7: note: candidate", ("note", "src/k.cpp", 3, 7, "candidate")),
        ("数据/核 函数.cpp:12:1: error: 中文路径", ("error", "数据/核 函数.cpp", 12, 1, "中文路径")),
        ("\x1b[1msrc/k.cpp:3:7: \x1b[31merror: \x1b[0mred", ("error", "src/k.cpp", 3, 7, "red")),
        ("/usr/bin/ld: src/k.cpp:9: undefined reference to `aclshmem_put'", ("error", "src/k.cpp", 9, None, "undefined reference to `aclshmem_put'")),
        ("bisheng: error: unknown argument: '-foo'", ("error", None, None, None, "unknown argument: '-foo'")),
        ("ld.lld: error: undefined symbol: aclshmem_put", ("error", None, None, None, "undefined symbol: aclshmem_put")),
        ("/usr/bin/ld: cannot find -lshmem: No such file or directory", ("error", None, None, None, "cannot find -lshmem: No such file or directory")),
        ("make[2]: *** [x.make:76: a.o] Error 1", ("error", None, None, None, "[x.make:76: a.o] Error 1")),
    ],
)  # fmt: skip
@pytest.mark.parametrize("encoding", ["utf-8", "gb18030"])
def test_diagnostics(tree, line, expected, encoding):
    severity, path, *rest = expected

    found = diagnostics(f"noise\n{line}\nmore\n", at(tree), encoding=encoding)

    assert found == [(severity, f"{tree}/{path}" if path else None, *rest)]


@pytest.mark.parametrize(
    "line",
    ["[ERROR] run failed", "error: nothing", "http://x:80: error", "12:30:01: warning", "AssertionError: x", "0 errors, 1 warning", "-- Check warning: on"],
)  # fmt: skip
def test_what_is_no_diagnostic(line):
    assert diagnostics(line + "\n") == []


def test_paths_are_relative_to_the_folder_make_entered(tree):
    text = f"make[1]: Entering directory '{tree}/build/gen'\ng.h:1:2: error: inner\nmake[1]: Leaving directory '{tree}/build/gen'\ng.h:1:2: error: outer\n"

    assert [d[1] for d in diagnostics(text, Where(str(tree)))] == [f"{tree}/build/gen/g.h", "g.h"]


def test_a_path_that_is_nowhere_stays_as_printed():
    ((_, fields),) = parsed("compiler", "gone/x.cpp:1:1: error: x\n")

    assert (fields["path"], fields["resolved"]) == ("gone/x.cpp", False)


def test_a_containers_path_is_ours_outside(tree):
    where = Where("/c/op", ("/c/op/build",), lambda path: path.replace("/c/op", str(tree)))

    assert diagnostics("/c/op/src/k.cpp:1:2: error: x\nsrc/k.cpp:2:2: error: y\n", where) == [
        ("error", f"{tree}/src/k.cpp", 1, 2, "x"),
        ("error", f"{tree}/src/k.cpp", 2, 2, "y"),
    ]


def test_cmake_errors_are_gathered_from_their_lines(tree):
    text = 'CMake Error at CMakeLists.txt:12 (find_package):\n  By not providing "FindASC.cmake"\n\n  asked for it.\n\nCall Stack (most recent call first):\n  x\n\n-- Configuring incomplete\n'

    found = diagnostics(text, at(tree))

    assert found[0][:4] == ("error", f"{tree}/CMakeLists.txt", 12, None)
    assert found[0][4].startswith('By not providing "FindASC.cmake"')


def test_what_one_link_error_refers_to_is_a_note(tree):
    text = "ld.lld: error: undefined symbol: f\n>>> referenced by src/k.cpp:40\n>>>               main\n"

    assert [(d[0], d[2]) for d in diagnostics(text, at(tree))] == [("error", None), ("note", 40)]


def test_the_same_error_twice_is_told_once():
    assert len(diagnostics("a.cpp:1:1: error: x\n" * 5)) == 1


def test_a_flood_of_errors_ends_with_how_many_more():
    found = diagnostics("".join(f"a.cpp:{n}:1: error: x\n" for n in range(2500)))

    assert len(found) == 2001
    assert "500 further" in found[-1][4]


def test_progress_is_the_last_of_each_piece():
    pieces = [b"[  1%] Building a\n[ 42%] Building b\n", b"[ 42%] Building b\n", b"[12/340] Linking c\n===== [1/3] Building backend: 910 =====\n", b"[3/2] no\n"]  # fmt: skip

    found = [(f["done"], f["total"], f["text"]) for _, f in parsed("progress", "", pieces=pieces)]

    assert found == [(42, 100, "Building b"), (1, 3, "Building backend: 910")]


CHECKER = """\
PE 0: dtype=float16 MaxAE=1.000000e-03 MaxRE=2.0e-3 MeanRE=1.0e-4 rtol=0.001 atol=0.001
noise PE 1: FAIL (8 elements)
  first mismatch idx=5 actual=1.0 expected=2.0 diff=1.0
FAIL: 1/2 PE outputs mismatched
[TIMEOUT] exceeded 120s, killing processes
\x1b[31m||||||||||| PRECISION ERROR |||||||||||||||\x1b[0m
"""


def test_checkers():
    found = [(f["pe"], f["verdict"], f["text"]) for _, f in parsed("checker", CHECKER)]

    assert (0, None, "") in found
    assert (1, "FAIL", "") in found
    assert (None, "FAIL", "first mismatch idx=5 actual=1.0 expected=2.0 diff=1.0") in found
    assert (None, "FAIL", "[TIMEOUT] exceeded 120s, killing processes") in found
    assert any("PRECISION ERROR" in text for _, _, text in found)


def test_two_pes_within_one_line():
    found = [(f["pe"], f["verdict"]) for _, f in parsed("checker", "PE 0: PASS (3 elements)PE 1: FAIL (3 elements)\n")]

    assert found == [(0, "PASS"), (1, "FAIL")]


def test_cases_and_their_counts():
    found = parsed(
        "matrix",
        "x [CASE] id=a_1 category=functional result=PASS seconds=0.3\n[MATRIX] total=2 passed=1 failed=1；报告：/x\n",
    )

    assert found == [
        ("case", {"case": "a_1", "verdict": "PASS", "values": {"category": "functional", "seconds": "0.3"}}),
        ("matrix", {"total": 2, "passed": 1, "failed": 1}),
    ]


def test_measurements():
    found = parsed(
        "perf",
        "[PERF] pe=3 e2e_us=1.5 bus_bw=nan api=x payload_bytes=1.34218e+08\n[BASELINE_PERF] e2e_us=2 api=HcclAllGather\n",
    )

    assert [(f["baseline"], f["pe"], f["values"].get("e2e_us")) for _, f in found] == [(False, 3, 1.5), (True, 0, 2.0)]
    assert found[0][1]["texts"]["bus_bw"] == "nan"


def table(*rows):
    head = (
        "=" * 60
        + "\n"
        + "".join(
            n.ljust(w)
            for n, w in zip(["BlockID", "FrameID", "Cycles", "Count", "AvgTime(us)"], [10, 10, 15, 15, 15], strict=True)
        )
    )
    return head + "\n" + "-" * 60 + "\n" + "".join(r + "\n" for r in rows) + "=" * 60 + "\n"


def row(*cells):
    return "".join(str(c).ljust(w) for c, w in zip(cells, [10, 10, 15, 15, 15], strict=True))


def test_profile_tables_also_with_columns_that_touch():
    rows = [
        row(0, 0, 5000, 10, "10.000"),
        "[PERF] pe=0 e2e_us=1",
        row(1, 1023, 123456789012345, 999999999999999, "0.100"),
    ]

    found = parsed("profile", table(*rows) + "12 0 1 1 1.000\n" + table(row(2, 0, -1, 1, "-0.020")))

    assert [f["rows"] for _, f in found] == [
        [[0, 0, 5000, 10, 10.0], [1, 1023, 123456789012345, 999999999999999, 0.1]],
        [[2, 0, -1, 1, -0.02]],
    ]


def test_a_profile_table_without_its_end_is_told_at_the_end():
    text = table(row(0, 0, 5, 1, "0.100")).rsplit("=" * 60, 1)[0]

    assert len(parsed("profile", text)) == 1


SHMEM = """\
2026-01-02 03:04:05.000006 info 7 pid[7] [SHM_SHMEM init.cpp:10] The ACLSHMEM pe: 3 init success.
2026-01-02 03:04:05.000006 info 7 pid[7] [SHM_SHMEM init.cpp:11] nothing of note
x2026-01-02 03:04:05.000006 error 7 pid[7] [SHM_SHMEM store.cpp:99] 绑定失败 address in use for bind listen on
"""


def test_shmem_log_lines():
    found = [(f["level"], f["stage"], f["pe"], f["source"], f["line"]) for _, f in parsed("shmem", SHMEM)]

    assert found == [("info", "init", 3, "init.cpp", 10), ("error", None, None, "store.cpp", 99)]


def test_faults_of_the_stand_in(tree):
    text = "[SIM] fault=ub-overflow pe=1 block=3 file=src/k.cpp line=44 text=写出 UB 之外\n[SIM] fault=deadlock text=all wait\n[SIM] backend=sim\n"

    found = [(f["fault"], f["pe"], f["path"], f["line"], f["text"]) for _, f in parsed("sim", text, at(tree))]

    assert found == [
        ("ub-overflow", 1, f"{tree}/src/k.cpp", 44, "写出 UB 之外"),
        ("deadlock", None, None, None, "all wait"),
    ]


ALL = (
    CHECKER
    + SHMEM
    + table(row(0, 0, 5, 1, "0.100"))
    + "[PERF] pe=0 e2e_us=1\n[CASE] id=a result=PASS\nsrc/k.cpp:3:7: 错误：x\n[ 42%] Building 数据\n"
)


@settings(deadline=None, max_examples=100)
@given(st.lists(st.integers(0, 10_000), max_size=40), st.sampled_from(["utf-8", "gb18030"]))
def test_pieces_change_nothing(places, encoding):
    data = ALL.encode(encoding)
    edges = sorted({0, len(data), *(p % len(data) for p in places)})
    pieces = [data[a:b] for a, b in itertools.pairwise(edges)]
    for name in NAMES:
        # Of progress only the last state counts: what was in between nobody sees.
        last = -1 if name == "progress" else 0
        assert parsed(name, "", pieces=pieces)[last:] == parsed(name, data)[last:]


@settings(deadline=None, max_examples=100)
@given(st.binary(max_size=400))
def test_anything_is_taken(data):
    for word in (b"PE 0: PASS", b"BlockID FrameID Cycles Count AvgTime(us)\n", b"[SIM] fault=", b"a.cpp:1:1: error: ", b"CMake Error at x:1 (y):\n"):  # fmt: skip
        parsed(NAMES, word + data)


def test_a_parser_there_is_none_of():
    with pytest.raises(KeyError):
        make(["nothing"], Where("/"))
