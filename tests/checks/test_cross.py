"""Code against design: damage on either side never raises, and a design that cannot be read contradicts nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from opdev.kinds import has_known_suffix
from opdev.project.operators import Operator, kind_of
from opdev.project.places import Places
from opdev.rules import store
from opdev.rules.engine import INTERNAL_ERROR, Linter
from opdev.rules.selection import Selection
from opdev.source import Source
from opdev.syntax.file import File

CLEAN = Path(__file__).parents[1] / "corpus" / "clean" / "custom-ops"
OPERATORS = ("allgather", "reduce_scatter", "matmul_allreduce", "put_signal", "alltoallv")
RULES = tuple(
    r
    for r in store.load()
    if (r.check or "").startswith("cross_") or r.name in ("internal-api", "target-name-mismatch")
)
DISK = {
    p.as_posix(): p.read_bytes() for p in sorted(CLEAN.rglob("*")) if p.is_file() and has_known_suffix(p.name)
}  # fmt: skip
HURT = [
    b"(",
    b"{",
    b"}",
    b"<<<",
    b">>>",
    b'"',
    b"\xff",
    b"\r",
    b"```\n",
    b": ",
    b"\n- ",
    b"&a *a ",
    b"case ",
    b"24",
    b"RDMA ",
    b"\xe6\xa0",
]


def findings(root, files):
    places = Places(files.__contains__)
    operator = Operator(root, places, files.get, [p for p in files if p.startswith(f"{root}/")])
    linter, selection = Linter(known=RULES), Selection(RULES)
    for path, raw in files.items():
        if not path.startswith(f"{root}/"):
            continue
        source = Source.from_disk(path, raw)
        kind = kind_of(path, source.data, in_operator=True)
        if kind:
            for found in linter.lint(File(source, kind, places.of(path)), selection, operator).findings:
                yield found, len(source.data)


@pytest.mark.parametrize("name", OPERATORS)
def test_the_clean_operators_agree_with_their_designs(name):
    assert not list(findings(f"{CLEAN.as_posix()}/{name}", DISK))


@pytest.mark.parametrize("name", [*OPERATORS, "torch_binding"])
def test_without_a_readable_design_nothing_contradicts_it(name):
    files = dict(DISK)
    for path, raw in DISK.items():
        if path.endswith("docs/design.md"):
            files[path] = raw.replace(b"```yaml", b"```text")
        elif path.endswith("main.cpp"):
            files[path] = raw.replace(b"BLOCK_DIM = 24", b"BLOCK_DIM = 20").replace(b"28.0 * 7", b"28.0")

    assert not list(findings(f"{CLEAN.as_posix()}/{name}", files))


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from([*OPERATORS, "torch_binding"]), st.randoms(use_true_random=False))
def test_damage_on_either_side_never_raises(name, chance):
    root = f"{CLEAN.as_posix()}/{name}"
    files = dict(DISK)
    own = [p for p in files if p.startswith(f"{root}/") and not p.endswith(".py")]
    for path in chance.sample(own, min(3, len(own))):
        data = bytearray(files[path])
        for _ in range(chance.randint(1, 8)):
            at = chance.randrange(len(data) + 1)
            if chance.random() < 0.5:
                del data[at : at + chance.randint(1, 200)]
            else:
                data[at:at] = chance.choice(HURT)
        files[path] = bytes(data)

    for found, size in findings(root, files):
        assert found.rule.name != INTERNAL_ERROR.name, found.args
        assert 0 <= found.start <= found.end <= size
        for related in found.related:
            limit = size if related.path is None else len(Source.from_disk(related.path, files[related.path]).data)
            assert 0 <= related.start <= related.end <= limit
