"""The order of a function's calls and the paths through it, on which all synchronisation rules rest."""

from __future__ import annotations

import pytest

from opdev.kinds import classify
from opdev.source import Source
from opdev.syntax import cpp
from opdev.syntax.cpp_flow import Event, Flow, function_flow
from opdev.syntax.cpp_paths import explore
from opdev.syntax.cpp_text import atoms, names_assigned, split_args, squeeze
from opdev.syntax.file import File
from opdev.syntax.view import View


def flow(body: str) -> Flow | None:
    data = f"__aicore__ void f(int a, int b)\n{{\n{body}\n}}\n".encode()
    file = File(Source("/w/f.cpp", data), classify("/w/f.cpp", data))
    return function_flow(file, cpp.functions(View(file, 0, len(data)))[0])


def traces(body: str, *, loops_run: bool = False) -> set[tuple[str, str]]:
    """(way out, names of the calls made) of every path; at most four calls a path."""
    found = flow(body)
    assert found is not None

    def step(event: Event, state: str) -> str:
        return (state + event.name)[:4]

    ends = explore(found.body, "", step, repeated=found.repeated, loops_run=loops_run)
    assert ends is not None
    return {(jump.kind if jump else "", trace) for jump, trace in ends}


def test_branches_and_returns() -> None:
    assert traces("A(); if (a) { B(); return; } C();") == {("return", "AB"), ("", "AC")}


def test_a_condition_asked_twice_keeps_its_answer() -> None:
    assert traces("if (a != 0) { A(); } B(); if (a) { C(); }") == {("", "ABC"), ("", "B")}
    assert traces("if (a < b) A(); if (a >= b) B();") == {("", "A"), ("", "B")}


def test_an_assignment_makes_a_condition_open_again() -> None:
    assert traces("if (a) A(); a = b; if (a) B();") == {("", "AB"), ("", "A"), ("", "B"), ("", "")}


def test_loops_run_not_once_or_many_times() -> None:
    assert traces("for (int i = 0; i < a; i++) { A(); } B();") == {
        ("", "B"),
        ("", "AB"),
        ("", "AAB"),
        ("", "AAAB"),
        ("", "AAAA"),
    }
    assert ("", "B") not in traces("while (a--) { A(); } B();", loops_run=True)
    assert ("", "B") not in traces("do { A(); } while (b); B();")


def test_breaks_and_continues() -> None:
    assert ("", "AC") in traces("while (true) { A(); if (a) break; B(); } C();")
    assert ("", "C") not in traces("while (true) { A(); if (a) break; B(); } C();")
    assert ("", "AAC") in traces("for (int i = 0; i < a; i++) { A(); if (i) continue; B(); } C();")


def test_switches_fall_through() -> None:
    assert traces("switch (a) { case 0: A(); case 1: B(); break; default: C(); }") == {("", "AB"), ("", "B"), ("", "C")}


def test_preprocessor_branches_are_alternatives() -> None:
    assert traces("#ifdef X\nA();\n#else\nB();\n#endif\nC();") == {("", "AC"), ("", "BC")}


def test_calls_carry_their_arguments() -> None:
    found = flow("x = AscendC::SetFlag<AscendC::HardEvent::MTE3_S>((int)(a), g(b , 1)); shmem_quiet(); q.Get<T>();")
    assert found is not None
    first = found.named("SetFlag")[0]
    assert first.targs == ("AscendC::HardEvent::MTE3_S",)
    assert first.args == ("(int)(a)", "g(b,1)")
    assert found.named("aclshmem_quiet")[0].written == "shmem_quiet"
    assert found.named("Get")[0].receiver == "."


def test_launches_and_lambdas() -> None:
    found = flow("k<T><<<a, nullptr, s>>>(b); auto h = [&]() { A(); }; h();")
    assert found is not None
    assert found.named("<<<")[0].args == ("a", "nullptr", "s")
    assert found.named("A") == []
    assert [e.name for e in found.events] == ["<<<", "{", "h"]


@pytest.mark.parametrize("body", ["goto end; end: A();", "if (a) { A() B(; }"])
def test_what_cannot_be_followed_has_no_flow(body: str) -> None:
    assert flow(body) is None


def test_too_many_states_is_no_answer() -> None:
    found = flow("".join(f"if (c{i}) {{ A{i}(); }}" for i in range(12)))
    assert found is not None
    assert explore(found.body, "", lambda event, state: state + event.name, most=50) is None


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("a = b == c;", {"a"}),
        ("x[i + 1] += 2; ++n; m--;", {"x", "n", "m"}),
        ("f(&out, in); if (p <= q) r <<= 1;", {"out", "r"}),
        ("for (int i = 0; i >= n; i = i + 1)", {"i"}),
    ],
)
def test_names_assigned(text: str, names: set[str]) -> None:
    assert names_assigned(text) == names


def test_conditions_in_one_spelling() -> None:
    assert atoms("a&&!b", holds=True) == (("a", True), ("b", False))
    assert atoms("a&&b", holds=False) == ()
    assert atoms("a||b", holds=False) == (("a", False), ("b", False))
    assert atoms("a!=0", holds=True) == atoms("a", holds=True)
    assert atoms("a<b", holds=True) == atoms("a>=b", holds=False)


def test_text() -> None:
    assert squeeze(" ( a  +\n b ) ") == "a+b"
    assert split_args("a, f(b, c), {1, 2}") == ["a", " f(b, c)", " {1, 2}"]
    assert split_args(" ") == []
