"""The engine: a broken rule loses itself only, a stuck one too, and edits change nothing but time."""

from __future__ import annotations

import sys
import types

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from opdev.kinds import Place, classify
from opdev.rules import engine, store
from opdev.rules.engine import Cancelled, Linter
from opdev.rules.model import Hit, Rule
from opdev.rules.selection import Selection, activate
from opdev.rules.watchdog import Watchdog
from opdev.source import Source
from opdev.syntax.file import File

RULES = store.load()
TEXT = {"default": {"zh": "错", "en": "wrong"}}
KERNEL = """\
// 中文 😀 注释
constexpr int64_t UB = 190 * 1024;
template <typename T>
ACLSHMEM_DEVICE void first(__gm__ T *x) { aclshmemx_barrier_all_vec(); }
namespace a { class B { public: __aicore__ void Go() { aclshmemx_barrier_all_vec(); } }; }
extern "C" __global__ __aicore__ void k(GM_ADDR x) { if ASCEND_IS_AIV { aclshmemx_barrier_all_vec(); } }
"""
# What is kept by piece besides findings: constants, flags, where names stand, directives, bare macros.
BUSY = """\
#include "shmem.h"
constexpr uint64_t SIZE = 64 * 1024;
LIBRARY_MACRO(x)
namespace a {
#ifdef USE_MTE
__aicore__ inline void Move(__gm__ float *dst, __gm__ float *src, int pe) {
    __ubuf__ float *ub = reinterpret_cast<__ubuf__ float *>(uint64_t(SIZE * 3));
    aclshmemx_mte_put_nbi(dst, src, ub, (uint32_t)SIZE, 16, pe, EVENT_ID0);
    AscendC::SetFlag<AscendC::HardEvent::MTE3_MTE2>(EVENT_ID0);
#if 1
    aclshmemx_barrier_all_vec();
#endif
}
#endif
}
OTHER_MACRO(y)
extern "C" __global__ __aicore__ void k(GM_ADDR x) { aclshmem_barrier_all(); aclshmemi_sync_bit(); }
"""


def probe(name, check, scope="file", **more):
    module = sys.modules.setdefault("opdev.checks.probe_for_tests", types.ModuleType("probe_for_tests"))
    function = check.__name__
    setattr(module, function, check)
    engine.check_of.cache_clear()
    values = {
        "id": "SH001",
        "name": name,
        "severity": "error",
        "kinds": frozenset({"cpp", "shell"}),
        "languages": frozenset({"cpp", "bash"}),
        "messages": TEXT,
        "summary": TEXT["default"],
        "check": f"probe_for_tests.{function}",
        "scope": scope,
    }
    return Rule(**{**values, **more})


def file_of(text, path="/w/custom-ops/x/src/x_kernel.cpp", place=None):
    source = Source(path, text.encode())
    return File(
        source, classify(path, source.data, in_operator=True), place or Place("custom-ops", "x", "/w/custom-ops/x")
    )


def lint(file, *rules, **more):
    linter = Linter(watchdog=more.pop("watchdog", None))
    return linter.lint(file, Selection(tuple(rules)), **more)


def test_a_rule_that_raises_loses_itself_only(caplog):
    def raises(context):
        yield Hit(0, 1)
        raise KeyError("oops")

    def works(context):
        yield Hit(2, 3)

    found = lint(file_of("int a;"), probe("raises", raises), probe("works", works)).findings

    assert [(f.rule.name, f.start) for f in found] == [("internal-error", 0), ("works", 2)]
    assert "raises" in found[0].message("en")
    assert "KeyError" in found[0].message("zh")
    assert "raises" in caplog.text


def test_a_rule_that_never_ends_is_stopped_and_named(caplog):
    def endless(context):
        while True:
            pass
        yield

    def works(context):
        yield Hit(0, 1)

    found = lint(file_of("int a;"), probe("endless", endless), probe("works", works), watchdog=Watchdog(0.2)).findings

    assert {f.rule.name for f in found} == {"internal-error", "works"}
    assert any("endless" in f.message("en") and f.message_key == "timeout" for f in found)


def test_cancelling_stops_between_rules():
    def works(context):
        yield Hit(0, 1)

    with pytest.raises(Cancelled):
        lint(file_of("int a;"), probe("works", works), cancelled=lambda: True)


def test_rules_wake_only_for_their_words():
    seen = []

    def looks(context):
        seen.append(context.file.path)
        return iter(())

    rule = probe("looks", looks, needs=("aclshmem_malloc",))
    lint(file_of("int aclshmem_mallocator;"), rule)
    assert seen == []
    lint(file_of("x = aclshmem_malloc(1);"), rule)
    assert len(seen) == 1


@pytest.mark.parametrize(
    ("setting", "severity", "fixable"),
    [("off", None, None), ("soft", "warning", False), ("info", "info", True), ("on", "error", True)],
)
def test_profiles(setting, severity, fixable):
    rule = probe("p", lambda _: iter(()), profiles={"in-tree": setting})

    active = activate(rule, "in-tree")

    assert (active and (active.severity, active.fixable)) == (severity and (severity, fixable))
    assert activate(rule, "custom-ops").severity == "error"


def key(finding):
    return (finding.rule.name, finding.start, finding.end, finding.message_key, str(finding.fix))


EDITS = st.lists(
    st.tuples(st.integers(0, 800), st.integers(0, 30), st.sampled_from(["", "x", "\n", "{", "}", "/*", "*/", '"', "// 中\n", "barrier", "#if 0\n",
                                                                        "aclshmemx_barrier_all_vec();", "__gm__ ", "#", "namespace ", "SIZE", 'R"(', "\r\n"])),
    max_size=6,
)  # fmt: skip


@settings(deadline=None, max_examples=150)
@given(st.sampled_from([KERNEL, BUSY]), EDITS)
def test_incremental_equals_from_scratch(text, edits):
    """After any edits the spliced file and kept findings are those of a file read anew.

    How a parser recovers from errors may depend on the text before the edit: there the findings must be
    those of the very tree it made.
    """
    selection = Selection(RULES)
    linter = Linter()
    file = file_of(text)
    linter.lint(file, selection, incremental=True)
    for at, cut, new in edits:
        data = file.data
        start = min(at, len(data))
        end = min(start + cut, len(data))
        while start < len(data) and data[start] & 0xC0 == 0x80:
            start += 1
        while end < len(data) and data[end] & 0xC0 == 0x80:
            end += 1
        end = max(start, end)
        source = Source(file.path, data[:start] + new.encode() + data[end:])
        file = file.edited(source, start, end, start + len(new.encode()))

    fresh = file_of(file.data.decode())
    kept = linter.lint(file, selection, incremental=True)

    assert (file.code, file.nocomment, file.parse_text) == (fresh.code, fresh.nocomment, fresh.parse_text)
    if str(file.root) != str(fresh.root):
        assert fresh.root.has_error
        fresh.tree = file.tree
    assert [key(f) for f in kept.findings] == [key(f) for f in Linter().lint(fresh, selection).findings]


def test_segments_tile_the_file():
    file = file_of(KERNEL)

    ends = [s.end for s in file.segments]
    assert [s.start for s in file.segments] == [0, *ends[:-1]]
    assert ends[-1] == len(file.data)
    assert sum("Go" in file.source.text(s.start, s.end) for s in file.segments) == 1


def test_functions_of_a_class_template_are_definitions_of_their_own():
    file = file_of(
        """
template <typename T>
class Demo {
public:
    __aicore__ inline void Init(GM_ADDR gva) { gva_ = gva; }
    __aicore__ inline void Process() { SyncAll(); }
private:
    GM_ADDR gva_;
};
"""
    )

    functions = [file.source.text(s.start, s.end) for s in file.segments if s.node and "definition" in s.node.type]
    assert ["Init" in text for text in functions] == [True, False]
    assert ["Process" in text for text in functions] == [False, True]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\0",
        "int a;\0int b;",
        "/*",
        '"',
        'R"(',
        "#if 0",
        "{" * 500,
        "(" * 2000,
        "\ufeff",
        "a" * 100_000,
        "\r\r\r",
        "中" * 999,
        "<<<>>>" * 50,
    ],
)
@pytest.mark.parametrize(
    "path", ["src/x_kernel.cpp", "scripts/run.sh", "CMakeLists.txt", "scripts/a.py", "docs/design.md", "docs/c.yaml"]
)
def test_unterminated_and_odd_text_never_breaks_anything(text, path):
    file = file_of(text, f"/w/custom-ops/x/{path}")

    assert all(f.rule.name != "internal-error" for f in Linter().lint(file, Selection(RULES)).findings)
