"""Precision and performance over the wire are what the commands print, for every run and in every workspace."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import jsonschema
import pytest
from needed import package

sys.path.insert(0, str(Path(__file__).parent))

from operators import make, until

import opdev.lsp
from opdev.perf.document import schema

np = package("numpy")

SCHEMA = json.loads((Path(opdev.lsp.__file__).parent / "protocol.schema.json").read_text(encoding="utf-8"))
PAYLOAD = 8192.0


@pytest.fixture
def demo(tmp_path):
    op = make(tmp_path / "repo 仓")
    intake = op.root / "docs/phase0_intake.yaml"
    intake.write_text(intake.read_text().replace("performance_required: false", "performance_required: true"))
    yield op
    op.end()


@pytest.fixture
def outputs(demo):
    """Two PEs of eight halves; the second one has a wrong element."""
    golden = np.arange(8, dtype=np.float16)
    demo.write("data/config.json", json.dumps({"n_pes": 2, "dtype": "float16", "expected_elems": 8}))
    for pe in (0, 1):
        output = golden.copy()
        output[5] += pe
        (demo.root / "output").mkdir(exist_ok=True)
        (demo.root / f"output/output_pe{pe}.bin").write_bytes(output.tobytes())
        (demo.root / f"data/golden_pe{pe}.bin").write_bytes(golden.tobytes())
    return demo


@pytest.fixture
def edit(start):
    def edit(op, **more):
        client = start("--log-level", "info")
        client.initialize(op.repo, **more)
        return client

    return edit


def asked(client, name, **params):
    result = client.request(name, params)
    shape = {"$ref": SCHEMA["messages"][name]["result"]["$ref"], "$defs": SCHEMA["$defs"]}
    jsonschema.Draft202012Validator(shape).validate(result)
    return result


def refused(client, name, **params):
    return client.answer(client.send(name, params))["error"]


def said(op, *words):
    return json.loads(op.opdev(*words, "--format", "json").stdout)


def measured(op, bus):
    """A run of phase 6 on this machine whose program says it has so many GB/s."""
    kernel = PAYLOAD / bus / 1e3
    lines = [
        f"[PERF] pe={pe} e2e_us={2 * kernel:.6g} kernel_us={kernel:.6g} algo_bandwidth_GBps={bus / 2:.6g} e2e_bus_bandwidth_GBps={bus / 2:.6g} "
        f"kernel_bus_bandwidth_GBps={bus:.6g} bandwidth_utilization_pct={bus / 196 * 100:.6g} payload_bytes=8192 bus_factor=1 peak_bandwidth_GBps=196"
        for pe in (0, 1)
    ]  # fmt: skip
    op.write("scripts/perf.sh", "\n".join(f"echo '{line}'" for line in lines))
    op.opdev("run", "6", "--executor", "host", "--count", "4096")
    return op.runs()[-1].id


def timeless(document):
    return {**document, "seconds": 0}


def test_precision_is_what_the_command_prints(edit, outputs):
    client = edit(outputs)
    found = asked(client, "opdev/precision", root=outputs.root.as_uri())

    assert found["ofRun"] is None
    assert timeless(found["document"]) == timeless(said(outputs, "precision"))
    assert [r["verdict"] for r in found["document"]["results"]] == ["pass", "fail"]
    assert found["document"]["results"][1]["mismatches"][0]["index"] == 5


def test_outputs_of_another_time_are_not_said_to_be_of_a_run(edit, outputs):
    client = edit(outputs)
    measured(outputs, 10)
    run = outputs.runs()[-1]
    files = [outputs.root / f"output/output_pe{pe}.bin" for pe in (0, 1)]

    for path in files:
        os.utime(path, (run.status.started, run.status.started))
    assert asked(client, "opdev/precision", root=str(outputs.root), run=run.id)["ofRun"] is True
    os.utime(files[1], (run.status.started - 60, run.status.started - 60))
    assert asked(client, "opdev/precision", root=str(outputs.root), run=run.id)["ofRun"] is False


def test_nothing_to_judge_is_said_in_the_users_language(edit, demo):
    client = edit(demo, options={"lang": "zh"})
    error = refused(client, "opdev/precision", root=str(demo.root))

    assert error["code"] == -32803
    assert demo.opdev("precision", "--lang", "zh").stderr.strip().removeprefix("opdev precision: ") in error["message"]


def test_performance_is_what_the_command_prints(edit, demo):
    slow, fast = measured(demo, 10), measured(demo, 20)
    client = edit(demo)
    newest = asked(client, "opdev/performance", root=str(demo.root))
    one = asked(client, "opdev/performance", root=str(demo.root), run=slow, csv=True)
    both = asked(client, "opdev/performance", root=str(demo.root), run=fast, against=slow)

    assert newest["document"] == said(demo, "perf", "show")
    assert one["document"] == said(demo, "perf", "show", slow)
    assert both["comparison"] == said(demo, "perf", "compare", fast, slow)
    assert (newest["comparison"], newest["csv"]) == (None, None)
    jsonschema.validate(newest["document"], schema())
    assert both["comparison"]["rows"][0]["figures"]["kernel_bus_bandwidth_GBps"]["a"] == 20
    assert both["comparison"]["rows"][0]["delta_pct"] == pytest.approx(100)
    demo.opdev("perf", "show", slow, "--csv", str(demo.root / "x.csv"))
    assert one["csv"] == (demo.root / "x.csv").read_text()
    (summary,) = [e["document"] for e in demo.events(slow) if e["type"] == "perf-summary"]
    assert one["document"] == summary


def test_rounds_come_along(edit, demo):
    demo.opdev("rounds", "start", "两块缓冲")
    client = edit(demo)
    found = asked(client, "opdev/performance", root=str(demo.root))["rounds"]

    assert found == said(demo, "rounds")["rounds"]
    assert found[-1]["idea"] == "两块缓冲"


def test_both_are_answered_where_nothing_may_be_run(edit, outputs):
    # Programs that would tell: none of them is needed to read.
    for name in ("scripts/run.sh", "scripts/perf.sh", "scripts/check_result.py", "scripts/gen_data.py", "numpy.py"):
        outputs.write(name, f"touch {outputs.root}/ran\nopen({str(outputs.root / 'ran')!r}, 'w')\n")
    client = edit(outputs, options={"trusted": False})
    before = {p: p.stat().st_mtime_ns for p in outputs.root.rglob("*")}

    assert asked(client, "opdev/precision", root=str(outputs.root))["document"]["verdict"] == "fail"
    assert asked(client, "opdev/performance", root=str(outputs.root))["document"]["groups"] == []
    assert {p: p.stat().st_mtime_ns for p in outputs.root.rglob("*")} == before


def test_what_is_asked_wrongly_is_refused(edit, demo):
    client = edit(demo)

    assert (
        refused(client, "opdev/performance", root=str(demo.root), run="20260101-000000-000000-abcdef")["code"] == -32803
    )
    assert refused(client, "opdev/performance", root=str(demo.root), against="x")["code"] in (-32602, -32803)
    assert refused(client, "opdev/precision", root=str(demo.root), shape="[1]")["code"] == -32602


def test_a_cancelled_request_leaves_no_process(edit, outputs):
    fifo = outputs.root / "output/output_pe0.bin"
    fifo.unlink()
    os.mkfifo(fifo)  # Reading it waits for ever.
    client = edit(outputs)
    request = client.send("opdev/precision", {"root": str(outputs.root)})

    def judging():
        found = []
        for entry in Path("/proc").glob("[0-9]*/cmdline"):
            try:
                words = entry.read_bytes().split(b"\0")
            except OSError:
                continue
            if b"precision" in words and str(outputs.root).encode() in words:
                found.append(entry)
        return found

    until(judging, what="the child")
    client.notify("$/cancelRequest", {"id": request})
    assert client.answer(request)["error"]["code"] == -32800
    until(lambda: not judging(), what="its end")
