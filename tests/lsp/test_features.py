"""Hover, completion, signature help, symbols and folding."""

from __future__ import annotations

import pytest

KERNEL = """\
#include "kernel_operator.h"
#include "shmem.h"
namespace demo {
__aicore__ inline void Copy(__gm__ float *dst, __gm__ float *src)  // 拷贝 😀
{
    aclshmem_float_put(dst, src, 16, 1);
    aclshmem_
}
}
int main()
{
    void *heap = aclshmem_malloc(64);
    aclshmem_
}
"""
README = """\
---
title: x
---
# 概述

正文

## 接口

```cpp
// # 不是标题
aclshmem_malloc(64);
```

# 结尾
"""


@pytest.fixture(scope="module")
def shared(raw, capabilities, tmp_path_factory):
    """One server for all of these: what they ask changes nothing."""
    folder = tmp_path_factory.mktemp("shared") / "work"
    client = raw()
    client.initialize(folder, capabilities=capabilities("vscode-1.9x"))
    yield client, folder
    client.kill()


@pytest.fixture
def server(shared):
    return shared[0]


@pytest.fixture
def work(shared):
    return shared[1]


@pytest.fixture
def kernel(server, work):
    return server.open(work / "custom-ops" / "demo" / "src" / "demo_kernel.cpp", KERNEL, language="cpp")


def at(text, what, offset=0):
    index = text.index(what) + offset
    before = text[:index]
    line = before.count("\n")
    column = len(before.rpartition("\n")[2].encode("utf-16-le")) // 2
    return {"line": line, "character": column}


def ask(client, where, method, position, **more):
    return client.request(f"textDocument/{method}", {"textDocument": {"uri": where}, "position": position, **more})


def test_hover_on_a_name_of_the_api(server, kernel):
    found = ask(server, kernel, "hover", at(KERNEL, "aclshmem_malloc", 3))

    text = found["contents"]["value"]
    assert found["contents"]["kind"] == "markdown"
    assert "void * aclshmem_malloc(size_t size)" in text
    assert "symmetric heap" in text
    assert found["range"]["start"] == at(KERNEL, "aclshmem_malloc")


def test_hover_puts_the_side_the_code_runs_on_first(server, kernel):
    text = ask(server, kernel, "hover", at(KERNEL, "aclshmem_float_put", 3))["contents"]["value"]

    assert text.index("device (AICore)") < text.index("host")


def test_hover_is_in_chinese_and_plain_where_asked(start, work):
    client = start()
    client.initialize(work, locale="zh-cn")
    where = client.open(work / "custom-ops" / "demo" / "src" / "demo_kernel.cpp", KERNEL, language="cpp")

    contents = ask(client, where, "hover", at(KERNEL, "aclshmem_malloc", 3))["contents"]
    assert contents["kind"] == "plaintext"
    assert "对称堆" in contents["value"]
    assert "`" not in contents["value"]


def test_hover_on_a_finding_and_on_its_suppression_is_the_rules_page(server, run_sh):
    text = 'IPPORT="tcp://127.0.0.1:27010"\necho  # opdev: ignore[hardcoded-endpoint]\n'
    where = server.open(run_sh, text)
    server.pull(where)
    on_finding = ask(server, where, "hover", {"line": 0, "character": 12})
    on_name = ask(server, where, "hover", at(text, "hardcoded", 2))

    assert "hardcoded-endpoint" in on_finding["contents"]["value"]
    assert on_name["range"]["start"] == at(text, "hardcoded")
    assert len(on_name["contents"]["value"]) > 100


def test_hover_on_nothing_is_nothing(server, kernel):
    assert ask(server, kernel, "hover", at(KERNEL, "namespace", 1)) is None
    assert ask(server, kernel, "hover", {"line": 9999, "character": 9999}) is None


def test_completion_offers_what_the_side_can_call(server, kernel):
    device = {i["label"] for i in ask(server, kernel, "completion", at(KERNEL, "aclshmem_\n}\n}", 9))["items"]}
    host = {
        i["label"] for i in ask(server, kernel, "completion", at(KERNEL, "aclshmem_\n}\n", 9) | {"line": 12})["items"]
    }

    assert "aclshmem_malloc" in host - device
    assert "aclshmemx_mte_put_nbi" in device - host
    assert "aclshmem_barrier_all" in device & host


def test_completion_replaces_the_word_and_is_documented_when_looked_at(server, kernel):
    items = ask(server, kernel, "completion", at(KERNEL, "aclshmem_malloc", 9))["items"]
    item = next(i for i in items if i["label"] == "aclshmem_malloc")

    assert item["textEdit"]["range"]["start"] == at(KERNEL, "aclshmem_malloc")
    assert item["textEdit"]["range"]["end"] == at(KERNEL, "aclshmem_malloc", 15)
    resolved = server.request("completionItem/resolve", item)
    assert "symmetric heap" in resolved["documentation"]["value"]
    assert resolved["detail"].startswith("void * aclshmem_malloc")


def test_completion_is_silent_where_it_has_nothing_to_say(server, kernel, run_sh):
    assert ask(server, kernel, "completion", at(KERNEL, "拷贝", 2)) is None
    assert ask(server, kernel, "completion", at(KERNEL, "dst, src", 2)) is None
    where = server.open(run_sh, "aclshmem_\n")
    assert ask(server, where, "completion", {"line": 0, "character": 9}) is None


def test_completion_of_rule_names_in_a_suppression(server, run_sh):
    text = 'IPPORT="tcp://127.0.0.1:27010"  # opdev: ignore[hard]\n'
    where = server.open(run_sh, text)
    server.pull(where)
    items = ask(server, where, "completion", at(text, "hard]", 4))["items"]

    item = next(i for i in items if i["label"] == "hardcoded-endpoint")
    assert item["sortText"].startswith("0")
    assert item["textEdit"]["range"] == {"start": at(text, "hard]"), "end": at(text, "hard]", 4)}


@pytest.mark.parametrize(("after", "parameter"), [("put(", 0), ("dst,", 1), ("src, ", 2), ("16, 1", 3)])
def test_signature_help_follows_the_argument(server, kernel, after, parameter):
    position = at(
        KERNEL,
        "aclshmem_float_put(dst, src, 16, 1)",
        KERNEL[KERNEL.index("aclshmem_float_put(") :].index(after) + len(after),
    )
    found = ask(server, kernel, "signatureHelp", position)

    assert found["activeParameter"] == parameter
    signature = found["signatures"][found["activeSignature"]]
    assert "__gm__" in signature["label"]
    low, high = signature["parameters"][0]["label"]
    assert signature["label"][low:high] == "__gm__ float* dst"


def test_signature_help_knows_nested_and_half_written_calls(server, work):
    text = "__aicore__ void f()\n{\n    foo(1, aclshmem_float_put(a, bar(2, 3), \n"
    where = server.open(work / "custom-ops" / "demo" / "src" / "x_kernel.cpp", text, language="cpp")

    assert ask(server, where, "signatureHelp", at(text, "3), ", 4))["activeParameter"] == 2
    assert ask(server, where, "signatureHelp", at(text, "2, 3", 2)) is None


def test_symbols_are_a_tree(server, kernel, work):
    found = server.request("textDocument/documentSymbol", {"textDocument": {"uri": kernel}})
    assert [(s["name"], [c["name"].partition("(")[0] for c in s["children"]]) for s in found] == [
        ("demo", ["Copy"]),
        ("main", []),
    ]

    where = server.open(work / "custom-ops" / "demo" / "README.md", README, language="markdown")
    found = server.request("textDocument/documentSymbol", {"textDocument": {"uri": where}})
    assert [(s["name"], [c["name"] for c in s["children"]]) for s in found] == [("概述", ["接口"]), ("结尾", [])]
    assert found[0]["range"]["end"]["line"] == 14


def test_symbols_are_flat_for_a_client_that_knows_no_tree(start, work):
    client = start()
    client.initialize(work)
    where = client.open(work / "custom-ops" / "demo" / "README.md", README, language="markdown")

    found = client.request("textDocument/documentSymbol", {"textDocument": {"uri": where}})
    assert [(s["name"], s.get("containerName")) for s in found] == [("概述", None), ("接口", "概述"), ("结尾", None)]


@pytest.mark.parametrize(
    ("name", "language", "text", "names"),
    [
        ("scripts/a.sh", "shellscript", "f() { :; }\nfunction g { :; }\n", ["f", "g"]),
        ("scripts/a.py", "python", "class A:\n    def m(self): pass\ndef f(): pass\n", ["A", "f"]),
        ("CMakeLists.txt", "cmake", "function(build name)\nendfunction()\nmacro(m)\nendmacro()\n", ["build", "m"]),
        ("a.json", "json", "{}\n", []),
    ],
)
def test_symbols_of_other_languages(server, work, name, language, text, names):
    where = server.open(work / "custom-ops" / "demo" / name, text, language=language)

    found = server.request("textDocument/documentSymbol", {"textDocument": {"uri": where}})
    assert [s["name"] for s in found] == names


def test_folds_of_markdown(server, work, run_sh):
    where = server.open(work / "custom-ops" / "demo" / "README.md", README, language="markdown")
    found = server.request("textDocument/foldingRange", {"textDocument": {"uri": where}})

    assert {(f["startLine"], f["endLine"]) for f in found} == {(3, 12), (7, 12), (9, 12)}
    assert server.request("textDocument/foldingRange", {"textDocument": {"uri": server.open(run_sh, "x\n")}}) is None


@pytest.mark.parametrize("method", ["hover", "completion", "signatureHelp"])
def test_odd_texts_are_answered(server, work, method):
    for text in ("", "\n", "(", "aclshmem_", "opdev: ignore[", '"', "/*", "```", "```cpp\n(", "\x00\xff😀"):
        for name, language in (("a_kernel.cpp", "cpp"), ("README.md", "markdown"), ("a.sh", "shellscript")):
            where = server.open(work / "custom-ops" / "demo" / name, text, language=language)
            for character in (0, 1, 99):
                ask(server, where, method, {"line": 0, "character": character})
