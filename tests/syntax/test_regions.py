"""Embedded code maps back to its host byte for byte, whatever stands around and before it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opdev.kinds import Kind, Place
from opdev.rules.engine import Linter
from opdev.rules.fixes import apply_edits, fix_to_the_end
from opdev.rules.model import Edit, Query, Rule
from opdev.rules.selection import Selection
from opdev.source import Source
from opdev.syntax.file import File

PLACE = Place("custom-ops", "demo", "/w/custom-ops/demo", None, "README.md")


def host(text, language="markdown"):
    kinds = {"markdown": {"doc", "readme"}, "bash": {"shell", "run-script"}}[language]
    data = text if isinstance(text, bytes) else text.encode()
    return File(Source("/w/custom-ops/demo/README.md", data), Kind(language, frozenset(kinds)), PLACE)


def holds(file):
    """The property of a map: each byte is where it says it is, and no two bytes are in one place."""
    for inner in file.regions:
        places = [inner.region.to_host(i) for i in range(len(inner.data))]
        assert bytes(file.data[p] for p in places) == inner.data
        assert places == sorted(set(places))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("```bash\na\n  b\n```\n", [("bash", "a\n  b\n")]),
        ("~~~bash\na\n```\nb\n~~~\n", [("bash", "a\n```\nb\n")]),
        ("~~~bash with `ticks`\na\n~~~\n", [("bash", "a\n")]),
        ("``` bash title=`x`\na\n```bash\nb\n```\n", [("bash", "b\n")]),
        ("```bash\r\na\r\n```\r\nx\r\n```python\r\nb\r\n```\r\n", [("bash", "a\r\n"), ("python", "b\r\n")]),
        ("````bash\n```\na\n```\n````\n", [("bash", "```\na\n```\n")]),
        (
            "````markdown\n```bash\na\n```\n````\n```bash\nb\n```\n",
            [("markdown", "```bash\na\n```\n"), ("bash", "b\n")],
        ),
        ("```bash\na\n", [("bash", "a\n")]),
        ("```bash\na", [("bash", "a")]),
        ("```bash\n```\n```\na\n```\n```c++\nb\n```", [("cpp", "b\n")]),
        ("---\ntitle: '```bash'\n---\n```bash\na\n```\n", [("bash", "a\n")]),
        ("- ```bash\n  a\n    b\n  ```\n", [("bash", "a\n  b\n")]),
        ("1. step\n\n   ```bash\n   a\n\n   b\n   ```\n", [("bash", "a\n\nb\n")]),
        ("10) ```sh\n    a\n    ```\n", [("bash", "a\n")]),
        ("- * ```bash\n    a\n    ```\n", [("bash", "a\n")]),
        ("-\t```bash\n\ta\n    \tb\n    ```\n", [("bash", "a\n\tb\n")]),
        ("    ```bash\n a\n    ```\n", [("bash", "a\n")]),
        ("> ```bash\n> a\n>b\n>\n> > c\n> ```\n", [("bash", "a\nb\n\n> c\n")]),
        ("> > ```bash\n> > a\n>> b\n> > ```\n", [("bash", "a\nb\n")]),
        ("> 1. x\n>\n>    ```bash\n>    a\n>      b\n>    ```\n", [("bash", "a\n  b\n")]),
        ("> ```bash\n> a\n\ntext\n\n```python\nb\n```\n", [("bash", "a\n"), ("python", "b\n")]),
        ("> ```bash\r\n> a\r\n> ```\r\n", [("bash", "a\r\n")]),
        ("中文 😀\n- 步骤\n  ```bash\n  echo '中文'\n  ```\n", [("bash", "echo '中文'\n")]),
        ("```no-such-language\na\n```\n```\nb\n```\n", []),
        ("```log\na\n```\n```bash\nb\n```\n", [("bash", "b\n")]),
        ("text ```bash\na\n```\n", []),
    ],
)
def test_fences(text, expected):
    file = host(text)

    assert [(f.language, f.data.decode()) for f in file.regions] == expected
    holds(file)


BLOCKS = st.sampled_from(
    [
        "- ",
        "> ",
        "> > ",
        "   ",
        "\t",
        "1. ",
        "> - ",
        "```bash\n",
        "~~~python\n",
        "````cpp info\n",
        "```\n",
        "~~~\n",
        "````\n",
        "\n",
        "\r\n",
        "echo 中文\n",
        "x = '😀'\r\n",
        "  y\n",
        ">z\n",
        "\u2028",
        "\x0c",
        "```",
    ]
)


@given(st.lists(BLOCKS, max_size=40).map("".join))
def test_every_byte_of_every_fence_maps_to_itself(text):
    holds(host(text))


WORDS = st.sampled_from(
    [
        "python3 - <<'EOF'\n",
        "bash <<-EOF\n",
        "cat <<A | python3 <<B\n",
        "EOF\n",
        "\tEOF\r\n",
        "A\n",
        "B\n",
        "\tif x:\n",
        "\t\t中 = 1\n",
        "\\\n",
        "# <<EOF\n",
        "<<<",
        '"',
        "'",
        "x=$((1<<2))\n",
        "\r\n",
        "\t\r\tz\n",
    ]
)


@given(st.lists(WORDS, max_size=40).map("".join))
def test_every_byte_of_every_here_document_maps_to_itself(text):
    holds(host(text, "bash"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("python3 - <<'EOF'\nx = 1\nEOF\necho\n", [("python", "x = 1\n")]),
        ("python3 - <<EOF\nx = '$HOME'\nEOF\n", [("python", "x = '$HOME'\n")]),
        ("python3 <<\\EOF\nx\nEOF\n", [("python", "x\n")]),
        ("python3 - <<'END-OF.py'\nx\nEND-OF.py\n", [("python", "x\n")]),
        ("python3 - <<-EOF\n\tif x:\n\t\ty()\n\tEOF\n", [("python", "if x:\ny()\n")]),
        ('"${PYTHON_CMD:-python3}" - <<PY\nx\nPY\n', [("python", "x\n")]),
        ('"$PYTHON" - "$a" <<PY\nx\nPY\n', [("python", "x\n")]),
        ("${PY:-/usr/bin/python3.11} -u - <<PY\nx\nPY\n", [("python", "x\n")]),
        ("PYTHONPATH=$PWD timeout 5 python3 - <<PY\nx\nPY\n", [("python", "x\n")]),
        ('out="$(python3 - <<PY\nx\nPY\n)"\n', [("python", "x\n")]),
        ("python3 - \\\n  a b \\\n  <<PY\nx\nPY\n", [("python", "x\n")]),
        ("python3 - <<A; bash -s -- 1 <<B\nx\nA\ny\nB\n", [("python", "x\n"), ("bash", "y\n")]),
        ("python3 <<A && cat <<B\nx\nA\ny\nB\nbash <<C\nz\nC\n", [("python", "x\n"), ("bash", "z\n")]),
        ("ssh host 'bash -s' <<'EOF'\nx\nEOF\n", [("bash", "x\n")]),
        ("sudo docker exec -i box bash <<EOF\nx\nEOF\n", [("bash", "x\n")]),
        ("cat <<'EOF' | docker exec -i box python3 -\nx\nEOF\n", [("python", "x\n")]),
        ("python3 - <<'EOF' > log 2>&1\nx\nEOF\n", [("python", "x\n")]),
        ("python3 - > log 2>&1 <<'EOF'\nx\nEOF\n", [("python", "x\n")]),
        ("python3 - <<'EOF'\r\nx\r\nEOF\r\n", [("python", "x\r\n")]),
        ("echo \"don't\"\npython3 - <<'EOF'\nx\nEOF\n", [("python", "x\n")]),
        # Not programs: data of a script, of another command, of a comment, of nobody.
        ("python3 run.py <<EOF\nx\nEOF\n", []),
        ("python3 -m json.tool <<EOF\n{}\nEOF\n", []),
        ("bash -c 'cat' <<EOF\nx\nEOF\n", []),
        ("python3 gen.py && cat <<EOF\nx\nEOF\n", []),
        ("cat > run.py <<EOF\nx\nEOF\n", []),
        ("# python3 - <<EOF\nx\nEOF\n", []),
        ("python3 - <<<EOF\nx\nEOF\n", []),
        ("python3 - <<EOF\nx\n", []),
        ("cat > run.sh <<'OUT'\npython3 - <<PY\nx\nPY\nOUT\n", []),
    ],
)
def test_here_documents(text, expected):
    file = host(text, "bash")

    assert [(f.language, f.data.decode()) for f in file.regions] == expected
    holds(file)


def test_a_here_document_in_a_here_document_is_found_once():
    outer = host("bash <<'OUT'\n  python3 - <<PY\nx\nPY\nOUT\n", "bash").regions

    assert [(f.language, f.data) for f in outer] == [("bash", b"  python3 - <<PY\nx\nPY\n")]
    assert [(f.language, f.data) for f in outer[0].regions] == [("python", b"x\n")]


TEXT = {"zh": "旧", "en": "old"}
OLD = Rule(
    "SH001", "old-command", "error", frozenset({"docs-fence", "heredoc"}), frozenset({"bash"}), {"default": TEXT}, TEXT,
    fix="safe", fixes={"default": TEXT},
    queries=(Query("bash", '((command) @hit (#match? @hit "^old"))', "new 一\n  more"),),
)  # fmt: skip


def lint(source, language="markdown"):
    return Linter().lint(host(source.data, language), Selection((OLD,))).findings


@pytest.mark.parametrize(
    ("before", "prefix", "after"),
    [
        ("", "", "```\n"),
        ("---\na: 1\n---\n中文 😀\n\n", "", "```\n"),
        ("- 步骤\n", "  ", "  ```\n"),
        ("", "> ", "> ```\n"),
        ("", "> > ", "> > ```\n"),
        ("```python\nx\n```\n", "\t", ""),
    ],
)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_a_finding_in_a_fence_has_its_exact_range(before, prefix, after, newline):
    text = f"{before}{prefix}```bash\n{prefix}echo '中文 😀'; old '中'\n{prefix}{{ old |\n{prefix}  cat; }}\n{after}"
    data = text.replace("\n", newline).encode()
    source = Source("README.md", data)
    first, second = data.index(b"old"), data.rindex(b"old")

    findings = lint(source)

    assert [(f.start, f.end) for f in findings] == [(first, first + len("old '中'".encode())), (second, second + 3)]
    assert {f.source.data for f in findings} == {data}


def edited(text, start, end, new):
    """The host after an edit in its one region, mapped as the engine maps it."""
    file = host(text, "bash" if "<<" in text else "markdown")
    region = file.regions[0].region
    low, high = region.range_to_host(start, end)
    return apply_edits(file.data, [Edit(low, high, new.replace("\n", "\n" + region.prefix))]).decode()


@pytest.mark.parametrize(
    ("opening", "prefix", "closing"),
    [
        ("- ```bash\n", "  ", "  ```\n"),
        ("> ```bash\n", "> ", "> ```\n"),
        ("> > - ```bash\n", "> >   ", "> >   ```\n"),
        ("\t```bash\n", "\t", "\t```\n"),
        ("```bash\n", "", "```\n"),
        ("\tbash <<-EOF\n", "\t", "\tEOF\n"),
    ],
)
@pytest.mark.parametrize(
    ("start", "end", "new", "lines"),
    [
        (0, 2, "", "b c"),
        (2, 4, "", "a c"),
        (4, 6, "", "a b"),
        (0, 0, "x\n", "x a b c"),
        (2, 2, "x\ny\n", "a x y b c"),
        (6, 6, "x\n", "a b c x"),
        (2, 3, "x\ny", "a x y c"),
        (0, 6, "x\n", "x"),
        (1, 1, "\nx", "a x b c"),
        (0, 4, "x\ny\n", "x y c"),
    ],
)
def test_edits_of_whole_lines_leave_every_line_its_prefix(opening, prefix, closing, start, end, new, lines):
    text = opening + "".join(f"{prefix}{line}\n" for line in "abc") + closing

    assert edited(text, start, end, new) == opening + "".join(f"{prefix}{x}\n" for x in lines.split()) + closing


@pytest.mark.parametrize(
    ("language", "opening", "prefix", "closing"),
    [
        ("markdown", "1. 运行：\n\n   ```bash\n", "   ", "   ```\n"),
        ("markdown", "> ```bash\n", "> ", "> ```\n"),
        ("markdown", "- ```bash\n", "  ", "  ```\n"),
        ("markdown", "```bash\n", "", "```\n"),
        ("bash", "if x; then\n\tbash <<-EOF\n", "\t\t", "\tEOF\nfi\n"),
    ],
)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_a_fix_of_several_lines_gives_each_its_prefix(language, opening, prefix, closing, newline):
    def text(*lines):
        return (opening + "".join(f"{prefix}{line}\n" for line in lines) + closing).replace("\n", newline)

    fixed = fix_to_the_end(
        Source("x", text("a", "old 1", "b; old 2", "c").encode()),
        lambda source: lint(source, language),
        lambda source: host(source.data, language),
        ("safe",),
    )

    assert fixed.data.decode() == text("a", "new 一", "  more", "b; new 一", "  more", "c")
    assert (fixed.broke, fixed.fighting) == ([], ())
