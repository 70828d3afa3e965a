"""What a client may do wrong, or early, or late, and what it gets for it: one answer, and a server that goes on."""

from __future__ import annotations

import json

import pytest

HOVER = {"textDocument": {"uri": "file:///nowhere.cpp"}, "position": {"line": 0, "character": 0}}


@pytest.fixture
def server(start, work):
    client = start()
    client.initialize(work)
    return client


def error_of(client, method, params):
    return client.answer(client.send(method, params))["error"]


def test_a_request_before_initialize_is_refused(start):
    client = start()

    assert error_of(client, "textDocument/hover", HOVER)["code"] == -32002
    client.initialize()
    assert client.request("textDocument/hover", HOVER) is None


def test_a_notification_before_initialize_is_dropped(start, run_sh):
    client = start()
    where = client.open(run_sh, run_sh.read_text())
    client.initialize()

    client.idle()
    assert client.request("textDocument/documentSymbol", {"textDocument": {"uri": where}}) == []


def test_initialize_comes_once(server):
    assert error_of(server, "initialize", {"capabilities": {}})["code"] == -32600


def test_initialize_without_an_object_is_refused_and_may_be_repeated(start):
    client = start()

    assert error_of(client, "initialize", [1, 2])["code"] == -32602
    assert "hoverProvider" in client.initialize()


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("textDocument/hover", {"nope": 1}),
        ("textDocument/hover", None),
        ("textDocument/hover", {"textDocument": {"uri": 7}, "position": {"line": "x", "character": 0}}),
        ("textDocument/codeAction", {"textDocument": {"uri": "file:///x"}}),
        ("textDocument/diagnostic", {}),
        ("textDocument/diagnostic", {"textDocument": {"uri": None}}),
        ("workspace/diagnostic", {"previousResultIds": [{"uri": 1}]}),
    ],
)
def test_bad_params_are_answered(server, method, params):
    error = error_of(server, method, params)

    assert error["code"] == -32602
    assert method in error["message"]
    server.idle()


def test_an_unknown_request_is_answered_and_an_unknown_notification_ignored(server):
    assert error_of(server, "textDocument/moniker", {})["code"] == -32601
    assert error_of(server, "$/optional", {})["code"] == -32601
    server.notify("$/optional", {})
    server.notify("workspace/unheardOf", {"x": 1})
    server.idle()


def test_what_is_not_json_gets_a_parse_error(server):
    since = server.mark
    server.raw(b'Content-Length: 9\r\n\r\n{"id": 5,')

    found = server.wait(lambda m: m.get("error", {}).get("code") == -32700, "parse error", since)
    assert found["id"] is None
    server.idle()


@pytest.mark.parametrize("body", [b"[]", b"null", b"3", b'"x"', b'{"jsonrpc":"2.0"}', b'{"id":1}', b'{"jsonrpc":"2.0","id":[],"method":"x"}',
                                  b'{"jsonrpc":"1.0","id":1,"method":"x"}', b'{"jsonrpc":"2.0","method":3,"id":4}', b"\xff\xfe", b"[" * 100_000])  # fmt: skip
def test_what_is_no_message_gets_an_error(server, body):
    since = server.mark
    server.raw(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))

    server.wait(lambda m: m.get("error", {}).get("code") in (-32600, -32700), "error", since)
    server.idle()


@pytest.mark.parametrize(
    "header",
    [b"content-length: %d\r\n\r\n", b"Content-Type: application/vscode-jsonrpc; charset=utf-8\r\nCONTENT-LENGTH:%d\r\n\r\n", b"Content-Length: %d\n\n"],
)  # fmt: skip
def test_headers_are_read_in_any_spelling(server, header):
    body = json.dumps({"jsonrpc": "2.0", "id": "odd", "method": "textDocument/hover", "params": HOVER}).encode()
    server.raw(header % len(body) + body)

    assert server.answer("odd")["result"] is None


def test_a_length_that_cannot_be_costs_only_that_message(server):
    server.raw(b"Content-Length: many\r\n\r\n")
    server.raw(b"Content-Length: -4\r\n\r\n")

    server.idle()


def test_a_nested_message_is_only_data(server):
    inner = {"jsonrpc": "2.0", "method": "textDocument/hover", "id": 1, "params": {}}
    server.notify("workspace/didChangeConfiguration", {"settings": {"x": inner}})

    assert server.request("textDocument/hover", {**HOVER, "x": inner}) is None


def test_change_and_close_of_what_is_not_open_are_logged_only(server):
    server.change("file:///never.sh", 2, ((0, 0), (0, 1), "x"))
    server.close("file:///never.sh")
    server.idle()

    assert not [m for m in server.received if m.get("method", "").startswith("window/")]
    server.logged("close of file:///never.sh, which is not open")


def test_a_broken_change_changes_nothing(server, run_sh):
    where = server.open(run_sh, run_sh.read_text())
    found = server.diagnostics(where, len)
    server.notify("textDocument/didChange", {"textDocument": {"uri": where, "version": 2}, "contentChanges": [{"range": {"start": 1}, "text": "x"}]})  # fmt: skip
    server.notify("textDocument/didChange", {"textDocument": {"uri": where}, "contentChanges": "x"})
    server.change(where, 3, ((0, 0), (0, 0), "\n"))

    moved = server.diagnostics(where, len, version=3)
    assert moved[0]["range"]["start"]["line"] == found[0]["range"]["start"]["line"] + 1


def test_after_shutdown_requests_are_refused_and_exit_is_0(server):
    assert server.request("shutdown") is None
    assert error_of(server, "textDocument/hover", HOVER)["code"] == -32600
    server.notify("exit", None)

    assert server.ended() == 0


def test_exit_without_shutdown_is_1(server):
    server.notify("exit", None)

    assert server.ended() == 1


def test_exit_before_initialize_is_1(start):
    client = start()
    client.notify("exit", None)

    assert client.ended() == 1


def test_cancelled_requests_in_the_queue_never_run(start, faulty, work):
    """pygls #517."""
    client = start(script=faulty, env={"FAULTY": "slow-hover"})
    client.initialize(work)
    blocking = client.send("textDocument/hover", HOVER)
    client.wait(lambda m: m.get("method") == "test/hover", "hover begun")
    ids = [client.id() for _ in range(30)]
    client.write(
        *({"id": i, "method": "textDocument/hover", "params": HOVER} for i in ids),
        *({"method": "$/cancelRequest", "params": {"id": i}} for i in ids),
    )

    assert [client.answer(i)["error"]["code"] for i in ids] == [-32800] * 30
    assert client.answer(blocking)["result"] is None
    assert sum(m.get("method") == "test/hover" for m in client.received) <= 2


def test_a_cancelled_pull_is_answered_and_the_next_is_served(start, faulty, work, run_sh, capabilities):
    client = start(script=faulty, env={"FAULTY": "never-ends"})
    client.initialize(work, capabilities=capabilities("vscode-1.9x"), options={"lint": {"checkSeconds": 0.5}})
    where = client.open(run_sh, run_sh.read_text() + "# HANG\n")
    pull = client.send("textDocument/diagnostic", {"textDocument": {"uri": where}})
    client.notify("$/cancelRequest", {"id": pull})

    assert client.answer(pull)["error"]["code"] == -32800
    assert client.pull(where)["kind"] == "full"


def test_a_cancel_of_nothing_is_harmless(server):
    server.notify("$/cancelRequest", {"id": 12345})
    server.notify("$/cancelRequest", {})
    server.idle()


def test_the_answer_to_a_request_nobody_waits_for_is_harmless(start, work, capabilities):
    """pygls #621: an answer that comes after its request was given up."""
    client = start()
    client.mute = {"client/registerCapability", "workspace/configuration"}
    client.initialize(work, capabilities=capabilities("vscode-1.9x"))
    asked = client.wait(lambda m: m.get("method") == "workspace/configuration", "a request")
    assert client.request("shutdown") is None
    client.write({"id": asked["id"], "result": [{"lang": "zh"}]}, {"id": "unheard-of", "result": None}, {"id": None, "error": {"code": 1, "message": "x"}})  # fmt: skip
    client.notify("exit", None)

    assert client.ended() == 0
    assert b"Traceback" not in client.stderr


def test_a_big_document_in_one_message(start, work, run_sh):
    server = start()
    server.initialize(work, options={"lint": {"checkSeconds": 600}})
    text = run_sh.read_text() + "# 注释 😀 \f\n" * 200_000
    where = server.open(run_sh, text)
    assert len(text.encode()) > 3_000_000

    assert server.diagnostics(where, len)[0]["range"]["start"] == {"line": 2, "character": 7}
