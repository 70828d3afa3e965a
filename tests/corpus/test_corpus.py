"""The corpus: clean operators stay clean, and seeded ones show exactly what was put into them."""

from __future__ import annotations

import importlib.util
import sys
from collections import Counter
from pathlib import Path

import pytest

from opdev.lint.collect import collect
from opdev.lint.fixing import fix_files
from opdev.lint.session import Options, Session
from opdev.rules import store
from opdev.source import Source
from opdev.syntax.tree import errors


def _materialise():
    spec = importlib.util.spec_from_file_location("corpus_materialise", Path(__file__).with_name("materialise.py"))
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


corpus = _materialise()
CALLING_CARDS = {
    "bare-cmake", "hardcoded-endpoint", "unscoped-process-kill", "top-level-dev-import", "missing-contiguous",
    "lost-exit-status",
}  # fmt: skip


def session(root):
    return Session(Options(isolated=True, cwd=str(root)))


def files(root, folders):
    return collect([str(root / folder) for folder in folders], session(root).configs).files


def findings(root, folders):
    """(file, line, name, severity) of everything below ``folders``, how often each."""
    here = session(root)
    found = Counter()
    for file in files(root, folders):
        result = here.lint_path(file.path)
        assert result.problem is None, result
        found.update((r.path, r.at.line, r.rule, r.severity) for r in result.records)
    return found


def wanted(variant, root, entries):
    out = Counter()
    for entry in entries:
        path = variant.path(entry.file)
        line = corpus.line_of((root / path).read_text(encoding="utf-8"), entry.at)
        out[path, line, entry.name, entry.severity] += 1
    return out


def broken(root, folders):
    """Files of ``folders`` whose text does not parse, with the first line that does not."""
    here = session(root)
    out = {}
    for found in files(root, folders):
        file = here.file(Source.from_disk(found.path, Path(found.path).read_bytes()))
        if file is not None and file.language and errors(file.root):
            out[here.shown(found.path)] = errors(file.root)[0].start_point[0] + 1
    return out


def shown(counter):
    return "\n".join(
        f"  {path}:{line} {name} ({severity})" for path, line, name, severity in sorted(counter.elements())
    )


def assert_same(found, expected):
    if found != expected:
        pytest.fail(f"missing:\n{shown(expected - found)}\nnot expected:\n{shown(found - expected)}")


def test_clean_operators_are_clean(tmp_path):
    nothing = corpus.Variant(name="clean", operator=".")
    root = corpus.materialise(nothing, tmp_path / "tree")
    assert len(files(root, ["."])) > 60
    assert not broken(root, ["."])
    assert_same(findings(root, ["."]), Counter())


@pytest.mark.parametrize("name", corpus.names())
def test_seeded(name, tmp_path):
    variant = corpus.load(name)
    root = corpus.materialise(variant, tmp_path / "tree")
    assert_same(findings(root, variant.folders), wanted(variant, root, variant.expect))


@pytest.mark.parametrize("name", corpus.names())
def test_fixed(name, tmp_path):
    """Safe fixes take away what they say they do, leave the rest, and have nothing to do a second time."""
    variant = corpus.load(name)
    root = corpus.materialise(variant, tmp_path / "tree")
    were_broken = set(broken(root, variant.folders))
    here = session(root)
    first = fix_files(files(root, variant.folders), here, ("safe",), write=True, diff=False)
    assert not first.failed
    assert not first.broke
    assert not first.fighting
    assert bool(first.count) == any(entry.fixed for entry in variant.expect)

    left = [entry for entry in variant.expect if not entry.fixed]
    assert_same(findings(root, variant.folders), wanted(variant, root, (*left, *variant.after_fix)))
    assert set(broken(root, variant.folders)) <= were_broken

    before = {found.path: Path(found.path).read_bytes() for found in files(root, variant.folders)}
    second = fix_files(files(root, variant.folders), session(root), ("safe",), write=True, diff=False)
    assert second.count == 0
    assert before == {path: Path(path).read_bytes() for path in before}


def test_breadth():
    """The variants seed many rules, all calling cards among them, and name rules that exist."""
    variants = [corpus.load(name) for name in corpus.names()]
    seeded = {entry.name for variant in variants for entry in variant.expect}
    assert {variant.operator for variant in variants} == {
        "custom-ops/allgather", "custom-ops/alltoallv", "custom-ops/reduce_scatter", "custom-ops/put_signal",
        "custom-ops/matmul_allreduce", "examples/halo_exchange", "pypto/custom/softmax",
        "pypto/custom/ScaleAdd",
    }  # fmt: skip
    assert len(variants) >= 12
    assert len(seeded) >= 100
    assert seeded >= CALLING_CARDS
    assert seeded <= {rule.name for rule in store.load()}
