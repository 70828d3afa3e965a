"""`opdev precision` as people call it: files of every kind, exit status, what it prints."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from html.parser import HTMLParser

import jsonschema
import numpy as np
import pytest

from opdev.precision.cli import main


@pytest.fixture
def run(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def call(*arguments, lang="en"):
        try:
            status = main([*map(str, arguments), "--lang", lang])
        except SystemExit as stop:
            status = stop.code
        done = capsys.readouterr()
        return status, done.out, done.err

    return call


@pytest.fixture
def files(tmp_path):
    """golden and outputs of four PEs, of which PE 2 is wrong at one element."""
    rng = np.random.default_rng(0)
    golden = rng.standard_normal(800).astype(np.float16)
    golden.tofile(tmp_path / "golden.bin")
    for pe in range(4):
        output = golden.copy()
        if pe == 2:
            output[123] += 1
        output.tofile(tmp_path / f"output_pe{pe}.bin")
    return tmp_path


BOTH = ("--golden", ".", "--output", ".", "--dtype", "fp16", "--op-kind", "transport")


def test_exit_status_and_table(run, files):
    status, out, err = run(*BOTH)

    assert (status, err) == (1, "")
    assert re.search(r"^PE 2\s+✗ fail\s+float16\s+800\s+1\s+1\.0", out, re.M)
    assert "idx=123 [123]" in out
    assert "PEs 0, 1, 3 pass" in out
    assert (
        run("--golden", "golden.bin", "--output", "output_pe1.bin", "--dtype", "fp16", "--op-kind", "transport")[0] == 0
    )
    assert (
        run(
            "--golden",
            "golden.bin",
            "--output",
            "output_pe{pe}.bin",
            "--pes",
            2,
            "--dtype",
            "fp16",
            "--op-kind",
            "transport",
        )[0]
        == 0
    )


def test_chinese(run, files):
    status, out, _ = run(*BOTH, "--shape", "8,100", lang="zh")

    assert status == 1
    for text in (
        "不通过",
        "1 个元素超差",
        "超差的元素（前 1 个，共 1 个）",
        "idx=123 [1, 23]",
        "可能的原因（假设，待核实）",
        "只有 PE 2 不对",
    ):
        assert text in out
    assert "1 elements" not in out


@pytest.mark.parametrize("standard", ["shmem", "pypto"])
def test_json_follows_its_schema(run, files, standard):
    kind = ("--op-kind", "transport") if standard == "shmem" else ()
    status, out, _ = run(
        "--golden", ".", "--output", ".", "--dtype", "fp16", "--standard", standard, *kind, "--format", "json"
    )
    report = json.loads(out)
    schema = json.loads(run("--print-schema")[1])

    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(report, schema)
    assert (status, report["verdict"], report["standard"]) == (1, "fail", standard)
    assert report["results"][2]["mismatches"][0]["index"] == 123
    assert schema["$defs"]["Heat"]["properties"]["view"]["description"].startswith("The output as rows")


def test_json_of_what_json_cannot_say(run, files):
    raw = np.fromfile("output_pe2.bin", np.float16)
    raw[5] = np.nan
    raw[6] = -np.inf
    raw.tofile("output_pe2.bin")
    out = run(*BOTH, "--format", "json")[1]
    report = json.loads(out, parse_constant=pytest.fail)

    assert [m["actual"] for m in report["results"][2]["mismatches"]][:2] == ["nan", "-inf"]
    jsonschema.validate(report, json.loads(run("--print-schema")[1]))


class _Page(HTMLParser):
    def __init__(self):
        super().__init__()
        self.stack, self.tags, self.problems, self.text = [], [], [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in ("meta", "input", "line", "rect"):
            self.stack.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        if tag not in ("meta", "input", "line", "rect") and (not self.stack or self.stack.pop() != tag):
            self.problems.append(tag)

    def handle_data(self, data):
        self.text.append(data)


@pytest.mark.parametrize("lang", ["zh", "en"])
def test_the_page_stands_alone(run, files, lang):
    (files / "<b>&'\"").mkdir()
    np.zeros(800, np.float16).tofile(files / "output_pe2.bin")
    (files / "output_pe2.bin").rename(files / "<b>&'\"" / "output_pe2.bin")
    status, out, err = run("--golden", "golden.bin", "--output", files / "<b>&'\"" / "output_pe2.bin", "--dtype", "fp16",
                           "--op-kind", "transport", "--format", "html", "--write", "r.html", lang=lang)  # fmt: skip
    text = (files / "r.html").read_text(encoding="utf-8")
    page = _Page()
    page.feed(text)

    assert (status, out, err) == (1, "", "")
    assert (page.problems, page.stack) == ([], [])
    tags = {tag for tag, _ in page.tags}
    assert {"svg", "rect", "table"} <= tags
    assert not tags & {"script", "link", "img", "iframe", "b"}
    assert not re.search(r"(?:src|href)=|https?:|@import|url\(", text)
    assert "prefers-color-scheme:dark" in text
    checked = [a["id"] for tag, a in page.tags if tag == "input" and "checked" in a]
    assert checked == [lang]
    said = "".join(page.text)
    assert "possible causes" in said
    assert "可能的原因" in said


@pytest.mark.parametrize(
    ("make", "arguments", "said"),
    [
        (lambda _: None, (), "no such file"),
        (lambda p: p.write_bytes(b""), (), "is empty"),
        (lambda p: p.write_bytes(b"abc"), (), "no whole number of float16"),
        (lambda p: p.mkdir(), (), "no output whose name says its PE"),
        (lambda p: np.save(p.open("wb"), np.zeros(800, np.float32)), (), "the file has float32, asked was float16"),
        (lambda p: np.save(p.open("wb"), np.zeros(3, object), allow_pickle=True), (), "cannot be compared"),
        (lambda p: p.write_bytes(b"\x93NUMPY\x01\0"), (), "no sound .npy"),
        (lambda p: p.write_bytes(npy(800)[:-8]), (), "cut short"),
        (lambda p: np.zeros(800, np.float16).tofile(p), ("--shape", "7,7"), "49 elements, the file has 800"),
    ],
)
def test_what_cannot_be_judged_is_told_and_never_passes(run, files, make, arguments, said):
    make(files / "out.bin")
    status, out, err = run(
        "--golden", "golden.bin", "--output", "out.bin", "--dtype", "fp16", "--op-kind", "transport", *arguments
    )

    assert status == 2
    assert said in out + err
    assert "out.bin" in out + err
    assert "✓" not in out


def npy(count):
    from io import BytesIO

    stream = BytesIO()
    np.save(stream, np.zeros(count, np.float16))
    return stream.getvalue()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--golden", "golden.bin"), "go together"),
        (("--golden", "golden.bin", "--output", "output_pe0.bin"), "does not say its type"),
        (("--golden", "golden.bin", "--output", "output_pe0.bin", "--dtype", "fp17"), "unknown dtype fp17"),
        ((*BOTH, "--op", "."), "--op is for --op"),
        ((*BOTH, "--op-type", "COMPUTE_FLOAT", "--rtol", "0.1"), "looser than the standard"),
        ((*BOTH, "--standard", "pypto"), "leave out --op-kind"),
        (
            ("--golden", ".", "--output", ".", "--dtype", "fp16", "--standard", "pypto", "--rtol", "0"),
            "leave out --rtol",
        ),
        ((*BOTH, "--rtol", "nan"), "no finite number"),
        ((*BOTH, "--shape", "1,-2"), "not whole numbers"),
        ((*BOTH, "--pes", "0"), "above 0"),
        ((*BOTH, "--pes", "6"), "output_pe4.bin: no such file"),
        ((*BOTH, "--write", "no/where.html"), "cannot be written"),
        ((), "no operator's folder"),
    ],
)
def test_wrong_use_is_told(run, files, arguments, said):
    if "--op" in arguments:
        said = "is for --op"
    status, out, err = run(*arguments)

    assert status == 2
    assert said in out + err


def test_a_pe_left_out_is_no_pass(run, files):
    (files / "output_pe1.bin").unlink()
    (files / "output_pe2.bin").unlink()

    for output in (".", "output_pe{pe}.bin"):
        status, out, err = run(
            "--golden", ".", "--output", output, "--dtype", "fp16", "--op-kind", "transport", "--pes", 4
        )
        assert status == 2
        assert "PE 1" in err or "output_pe1.bin" in out
    assert run("--golden", ".", "--output", ".", "--dtype", "fp16", "--op-kind", "transport")[0] == 2


def test_a_golden_twice_as_large_gets_a_hint(run, files):
    np.fromfile("golden.bin", np.float16).astype(np.float32).tofile("golden.bin")

    status, out, _ = run(
        "--golden", "golden.bin", "--output", "output_pe0.bin", "--dtype", "fp16", "--op-kind", "transport"
    )
    assert status == 1
    assert "--golden-dtype float32" in out
    assert run("--golden", "golden.bin", "--output", "output_pe0.bin", "--dtype", "fp16", "--golden-dtype", "fp32", "--op-kind", "transport")[0] == 0  # fmt: skip


# .npy and .pt


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", ["<f2", ">f2", ">i4", "<f8"])
def test_npy_in_any_order(run, files, order, dtype):
    values = np.arange(7 * 11 * 3).reshape(7, 11, 3)
    np.save("golden.npy", values.astype(np.dtype(dtype).newbyteorder("=")))
    output = np.array(values, dtype=dtype, order=order)
    np.save("out.npy", output)
    standard = ("--standard", "pypto")
    assert run("--golden", "golden.npy", "--output", "out.npy", *standard)[0] == 0

    output[4, 5, 2] += 100
    np.save("out.npy", output)
    status, out, _ = run("--golden", "golden.npy", "--output", "out.npy", "--op-kind", "transport", "--format", "json")
    report = json.loads(out)["results"][0]
    assert (status, report["mismatches"][0]["coordinates"], report["mismatch_count"]) == (1, [4, 5, 2], 1)
    assert report["mismatches"][0]["difference"] == 100
    assert report["shape"] == [7, 11, 3]


def test_npy_of_another_shape(run, files):
    np.save("golden.npy", np.ones((4, 6), np.float32))
    np.save("out.npy", np.ones((6, 4), np.float32))
    status, out, _ = run("--golden", "golden.npy", "--output", "out.npy", "--standard", "pypto")

    assert status == 1
    assert "another shape: [6, 4] in the output, [4, 6] in the golden" in out


def test_npy_of_bfloat16(run, files):
    bits = np.full(64, 0x3F80, np.uint16)  # 1.0
    np.save("out.npy", bits.view("V2"))
    np.save("golden.npy", np.ones(64, np.float32))
    arguments = ("--golden", "golden.npy", "--output", "out.npy", "--standard", "pypto")

    assert run(*arguments)[0] == 2
    assert run(*arguments, "--dtype", "bf16")[0] == 0
    bits[3] = 0x4000  # 2.0
    np.save("out.npy", bits.view("V2"))
    status, out, _ = run(*arguments, "--dtype", "bf16")
    assert status == 1
    assert "actual 2  expected 1" in out


def test_an_empty_tensor_alone_is_no_pass(run, files):
    for name in ("out.npy", "right.npy"):
        np.save(name, np.ones((0, 4), np.float32))
    for standard in ("shmem", "pypto"):
        assert run("--golden", "right.npy", "--output", "out.npy", "--standard", standard)[0] == 2


def test_pt_without_torch_is_told(run, files):
    for name in ("out.pt", "right.pt"):
        (files / name).write_bytes(b"PK")
    (files / "no-torch").write_text("#!/bin/sh\necho no module named torch >&2\nexit 7\n")
    (files / "no-torch").chmod(0o755)
    status, out, _ = run(
        "--golden", "right.pt", "--output", "out.pt", "--torch-python", files / "no-torch", "--standard", "pypto"
    )

    assert status == 2
    assert "--torch-python" in out


SAVED = """
import torch
golden = {"y": torch.randn(5, 6), "n": torch.arange(4), "none": None, "b": torch.ones(3, 2, dtype=torch.bfloat16).T}
output = {name: None if t is None else t.clone() for name, t in golden.items()}
torch.save(golden, "golden.pt")
torch.save(output, "same.pt")
output["n"][2] = 9
output["none"] = torch.ones(1)
torch.save(output, "other.pt")
torch.save([golden["y"]], "fewer.pt")
"""


def test_pt_with_torch(run, files, torch_python):
    subprocess.run([torch_python, "-c", SAVED], cwd=files, check=True)

    def judged(output):
        words = ("--golden", "golden.pt", "--output", output, "--standard", "pypto", "--format", "json")
        return run(*words, "--torch-python", torch_python)

    status, out, _ = judged("same.pt")
    assert status == 0
    assert [(r["name"], r["dtype"], r["shape"]) for r in json.loads(out)["results"]] == [
        ("same.pt[y]", "float32", [5, 6]), ("same.pt[n]", "int64", [4]), ("same.pt[b]", "bfloat16", [2, 3]),
    ]  # fmt: skip
    status, out, _ = judged("other.pt")
    assert status == 1
    assert [r["verdict"] for r in json.loads(out)["results"]] == ["pass", "fail", "fail", "pass"]
    assert judged("fewer.pt")[0] == 1


def test_help_in_both_languages(run):
    for lang, text in (("zh", "精度标准"), ("en", "precision standard")):
        status, out, _ = run("--help", lang=lang)
        assert status == 0
        assert text in out


def test_a_process_of_its_own(files):
    code = subprocess.run(
        [sys.executable, "-m", "opdev.cli", "precision", *BOTH], cwd=files, capture_output=True, text=True, check=False
    )

    assert (code.returncode, code.stderr) == (1, "")


def test_the_command_line_imports_neither_torch_nor_numpy_before_it_must():
    code = "import sys, opdev.precision.cli, opdev.precision; sys.exit(bool({'torch', 'numpy', 'pydantic'} & set(sys.modules)))"

    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
