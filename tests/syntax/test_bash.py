"""Shell as checks see it: words after quote removal, the command that really runs, who owns an assignment."""

from __future__ import annotations

import pytest

from opdev.kinds import Kind
from opdev.source import Source
from opdev.syntax import bash
from opdev.syntax.file import File
from opdev.syntax.view import View


def view(text):
    data = text.encode()
    return View(File(Source("run.sh", data), Kind("bash", frozenset({"shell"}))), 0, len(data))


def only(text):
    found = bash.commands(view(text))
    assert len(found) == 1, found
    return found[0]


@pytest.mark.parametrize(
    ("word", "value"),
    [
        ("plain", "plain"),
        ("'single $X'", "single $X"),
        ('"double 中文"', "double 中文"),
        ('"a \\"b\\" \\$c \\n"', 'a "b" $c \\n'),
        ('"back\\\\slash"', "back\\slash"),
        ("a\\ b\\$c", "a b$c"),
        ("a\\\\b", "a\\b"),
        ("a\"b\"'c'", "abc"),
        ('--out="x y"', "--out=x y"),
        ('"two\\\nlines"', "twolines"),
        ("12", "12"),
        ("''", ""),
        ("*.sh", "*.sh"),
        ("$X", None),
        ('"$X"', None),
        ('"a${X:-b}"', None),
        ("a$(b)", None),
        ("`b`", None),
        ('--x="$Y"', None),
    ],
)
def test_words_after_quote_removal(word, value):
    first = bash.commands(view(f"cmd {word}\n"))[0]

    assert [w.value for w in first.words] == ["cmd", value]
    assert first.args[0].raw == word
    assert first.file.data[first.args[0].start : first.args[0].end].decode() == word


def test_loose_keeps_expansions_without_quotes():
    assert only("cmd \"a $X\"'b'\n").args[0].loose == "a $Xb"


@pytest.mark.parametrize(
    ("text", "effective"),
    [
        ("prog a", "prog a"),
        ("sudo prog a", "prog a"),
        ("sudo -E -u root prog", "prog"),
        ("sudo --user root -- prog", "prog"),
        ("sudo A=b prog", "prog"),
        ("env A=b C=d prog", "prog"),
        ("env -u A -i B=1 prog", "prog"),
        ("timeout 5 prog", "prog"),
        ("timeout -s KILL 5 prog", "prog"),
        ("timeout --signal=KILL -k 5 10 prog", "prog"),
        ("nice -n 10 ionice -c 3 prog", "prog"),
        ("stdbuf -oL -e 0 prog", "prog"),
        ("nohup setsid -w prog", "prog"),
        ("numactl -N 0 --membind=1 prog", "prog"),
        ("numactl --cpunodebind 0 prog", "prog"),
        ("taskset 0x3 prog", "prog"),
        ("taskset -c 0-3 prog", "prog"),
        ("exec -a name prog", "prog"),
        ("time -p prog", "prog"),
        ("command prog", "prog"),
        ("/usr/bin/env python3 x.py", "python3 x.py"),
        ("sudo -E env A=b timeout -s KILL 5 ./prog x", "./prog x"),
        ("command -v prog", "command -v prog"),
        ("env", ""),
        ("sudo bash -c 'prog'", "bash -c 'prog'"),
    ],
)
def test_wrappers_are_looked_through(text, effective):
    command = only(text + "\n")

    assert " ".join(w.raw for w in command.effective) == effective
    assert command.effective_name == (effective.split() or [""])[0].removeprefix("./")


@pytest.mark.parametrize(
    ("text", "name"),
    [("/usr/bin/python3 x", "python3"), ("./run.sh", "run.sh"), ('"$CMD" x', ""), ("'my prog'", "my prog")],
)
def test_the_name_is_without_folder_and_empty_where_it_expands(text, name):
    assert only(text + "\n").name == name


def test_commands_are_found_wherever_they_stand_in_text_order():
    text = """a | b && c
x=$(d "$(e)")
f() { g & }
if h; then ! i; elif [ -f j ]; then k; fi
while l; do m; done < n
( o ); { p; }
case $q in r) s ;; esac
cat <<EOF
not-a-command
EOF
[[ -n $t ]] || u <<< "v"
"""
    assert [c.name for c in bash.commands(view(text))] == [*list("abcdeghiklmops"), "cat", "u"]


def test_redirections_are_no_words():
    assert [[w.raw for w in c.words] for c in bash.commands(view("a x > out 2>&1 y\nb <<< word\nc <in\n"))] == [
        ["a", "x", "y"], ["b"], ["c"],
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "background"),
    [
        ("a &", "a"),
        ("a & b", "a"),
        ("a > out 2>&1 &", "a"),
        ("a | b &", "ab"),
        ("a && b &", "ab"),
        ("! a &", "a"),
        ("a && b", ""),
        ("a; b & c", "b"),
        ("while a; do b & done", "b"),
        ("f() { a & }", "a"),
        ("if a; then b & fi", "b"),
        ("( a; b & ) ; c", "b"),
        ("{ a; b; } &", ""),
        ("x=$(a) &", ""),
        ("timeout 5 a &", "timeout"),
    ],
)
def test_background(text, background):
    assert "".join(c.name for c in bash.commands(view(text + "\n")) if c.background) == background


def test_pipelines():
    found = {c.name: c.pipeline for c in bash.commands(view("a | b 2>&1 | c\nd > x\n"))}

    assert found["a"] is not None
    assert found["a"] == found["b"] == found["c"]
    assert found["d"] is None


def assigned(text):
    return [(a.name, a.raw, a.value, a.keyword, a.prefix, a.append) for a in bash.assignments(view(text))]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A=1\n", [("A", "1", "1", "", False, False)]),
        ("A=\n", [("A", "", "", "", False, False)]),
        ("A='x y' B=\"$z\"\n", [("A", "'x y'", "x y", "", False, False), ("B", '"$z"', None, "", False, False)]),
        ("export A=1 B\n", [("A", "1", "1", "export", False, False)]),
        ("local A=$(date)\n", [("A", "$(date)", None, "local", False, False)]),
        ("declare -x A=1\n", [("A", "1", "1", "declare", False, False)]),
        ("readonly A=1\n", [("A", "1", "1", "readonly", False, False)]),
        ("typeset -i A=1\n", [("A", "1", "1", "typeset", False, False)]),
        ("A=1 B=2 cmd\n", [("A", "1", "1", "", True, False), ("B", "2", "2", "", True, False)]),
        ("A=1 \\\n  cmd\n", [("A", "1", "1", "", True, False)]),
        ('PATH+=":/x"\n', [("PATH", '":/x"', ":/x", "", False, True)]),
        ("A=(1 '2 3')\n", [("A", "(1 '2 3')", None, "", False, False)]),
        ("A[0]=1\n", [("A[0]", "1", "1", "", False, False)]),
        ("cmd A=1\n", []),
        ("env A=1 cmd\n", []),
        # Assignments of one line do not belong to the command of the next.
        ("A=1 B=2\ncmd\n", [("A", "1", "1", "", False, False), ("B", "2", "2", "", False, False)]),
        ("A=1 B=2\nC=3\nD=4 cmd\n", [("A", "1", "1", "", False, False), ("B", "2", "2", "", False, False),
                                     ("C", "3", "3", "", False, False), ("D", "4", "4", "", True, False)]),
    ],
)  # fmt: skip
def test_assignments(text, expected):
    assert assigned(text) == expected


def test_a_command_has_its_own_assignments_only():
    found = bash.commands(view("A=1 B=2\nC=3 cmd x\n"))

    assert [(c.name, [a.name for a in c.assignments]) for c in found] == [("cmd", ["C"])]


def test_functions_and_loops():
    here = view("f() { a; }\nfunction g {\n  while b; do c; done\n}\nfor i in 1; do d; done\ne\n")
    nodes = {c.name: c.node for c in bash.commands(here)}

    assert sorted(bash.functions(here)) == ["f", "g"]
    assert bash.in_function(nodes["a"]) == bash.functions(here)["f"]
    assert bash.in_function(nodes["e"]) is None
    assert [name for name, node in nodes.items() if bash.in_loop(node)] == ["b", "c", "d"]


def test_echoed():
    assert [bash.is_echoed(c) for c in bash.commands(view("echo a\nprintf b\nmake c\n"))] == [True, True, False]
