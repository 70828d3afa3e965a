"""What a real clangd makes of it: no false error, definitions, hover, completion, and true errors all the same."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from opdev.clangd import write
from opdev.clangd.checking import check
from opdev.clangd.cli import main
from opdev.clangd.finding import roots
from opdev.clangd.headers import STAND_IN
from opdev.cli import main as opdev
from opdev.scaffold.options import KINDS


@pytest.fixture(autouse=True)
def no_cann(monkeypatch):
    for name in ("ASCEND_HOME_PATH", "ASCEND_TOOLKIT_HOME", "SHMEM_HOME_PATH"):
        monkeypatch.delenv(name, raising=False)


def complaints(clangd, files):
    return [(c.path, c.errors, c.broken) for c in check(clangd, files) if c.errors or c.broken]


def test_no_false_error_on_the_clean_operators(clangd, corpus):
    files = [path for root in roots(str(corpus)) for path in write(root).files]

    assert len([path for path in files if path.endswith("_kernel.cpp")]) == 6
    assert len([path for path in files if path.endswith("main.cpp")]) == 6
    assert complaints(clangd, files) == []


def test_no_false_error_on_what_opdev_new_writes(clangd, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for folder, name in (("include", "shmem.h"), ("src", "README")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / name).touch()
    (tmp_path / "version.info").touch()
    for kind in KINDS:
        mode = "in_tree_example" if kind == "broadcast" else "independent_project"
        assert opdev(["new", f"op_{kind.replace('-', '_')}", "--kind", kind, "--dtypes", "float16,int32", "--build-mode", mode, "--dir", str(tmp_path)]) == 0  # fmt: skip
    capsys.readouterr()
    written = [write(root) for root in roots(str(tmp_path))]

    assert len(written) == len(KINDS)
    sources = [path for one in written for path in one.files if path.endswith(".cpp")]
    assert len(sources) >= 2 * len(KINDS)
    assert any("baseline" in path for path in sources)
    assert complaints(clangd, sources) == []
    # The template keeps them out of git by itself.
    for one in written:
        assert [path for path in one.wrote if path.endswith(".gitignore")] == []


def test_definition_hover_and_completion(session, corpus):
    root = corpus / "custom-ops" / "put_signal"
    write(str(root))
    path = root / "src" / "put_signal_kernel.cpp"
    text = path.read_text(encoding="utf-8") + "\nvoid opdev_try()\n{\n    aclshmemx_signal\n}\n"
    client = session(root)
    uri = client.open(path, text)

    definition = client.at("textDocument/definition", uri, text, "aclshmemx_signal_op(")
    deadline = time.monotonic() + 60
    while True:
        hover = client.at("textDocument/hover", uri, text, "aclshmemx_signal_op(")["contents"]["value"]
        # Comments come with clangd's index of the headers, which is made beside.
        if "SET or ADD" in hover or time.monotonic() > deadline:
            break
    offered = client.at("textDocument/completion", uri, text, "    aclshmemx_signal\n", offset=20)["items"]

    assert [Path(d["uri"].removeprefix("file://")).as_posix() for d in definition] == [
        f"{STAND_IN}/opdev_sim/shmem/sync.h"
    ]
    assert "void aclshmemx_signal_op(int32_t *sig_addr, int32_t signal" in hover
    assert "SET or ADD on a peer signal word." in hover
    assert {"aclshmemx_signal_op", "aclshmemx_signal_op_on_stream"} <= {
        item["label"].split("(")[0].strip(" •") for item in offered
    }


def test_a_kernel_is_found_from_its_launch(session, corpus):
    root = corpus / "custom-ops" / "allgather"
    write(str(root))
    path = next(p for p in (root / "src").glob("*.cpp") if "<<<" in p.read_text(encoding="utf-8"))
    text = path.read_text(encoding="utf-8")
    name = text[: text.index("<<<")].split()[-1]
    client = session(root)
    uri = client.open(path, text)

    found = client.at("textDocument/definition", uri, text, f"{name}<<<")

    assert client.errors(uri) == []
    assert len(found) == 1
    assert found[0]["uri"].endswith("_kernel.cpp")


def test_true_errors_are_still_reported(session, corpus):
    root = corpus / "custom-ops" / "allgather"
    write(str(root))
    path = root / "src" / "main.cpp"
    text = path.read_text(encoding="utf-8")
    last = text.count("\n")
    client = session(root)

    uri = client.open(path, text + 'void *opdev_try()\n{\n    int n = "one";\n    return aclshmem_maloc(n);\n}\n')

    assert [line for line, _ in client.errors(uri)] == [last + 3, last + 4]
    assert "aclshmem_malloc" in client.errors(uri)[1][1]


def test_the_check_reports_by_file_and_line(clangd, corpus, capsys, monkeypatch):
    root = corpus / "custom-ops" / "alltoallv"
    kernel = root / "src" / "alltoallv_kernel.cpp"
    last = kernel.read_text(encoding="utf-8").count("\n")
    with open(kernel, "a", encoding="utf-8") as stream:
        stream.write("int opdev_try() { return opdev_missing; }\n")
    monkeypatch.chdir(root)

    assert main(["--check", "--lang", "en"]) == 1

    out = capsys.readouterr().out
    assert f"src/alltoallv_kernel.cpp:{last + 1}: error: " in out
    assert "clangd checked 4 files: 1 errors, 0 not finished" in out


def test_many_launches_in_a_file_do_not_hide_an_error(clangd, tmp_path):
    """clang stops after twenty errors; the silenced one of each launch would count."""
    root = tmp_path / "custom-ops" / "many"
    (root / "src").mkdir(parents=True)
    path = root / "src" / "many_kernel.cpp"
    launches = "    k<<<1, nullptr, stream>>>(n);\n" * 40
    path.write_text(
        f'#include "kernel_operator.h"\n__global__ __aicore__ void k(int n) {{}}\nvoid go(void *stream, int n)\n{{\n{launches}}}\n'
        "int wrong = missing;\n",
        encoding="utf-8",
    )

    (checked,) = check(clangd, write(str(root)).files)

    assert [(e.line, e.code) for e in checked.errors] == [(46, "undeclared_var_use")]
