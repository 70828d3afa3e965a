"""Progress: shown when it takes long, ended once, whatever the client answers and when."""

from __future__ import annotations

from concurrent.futures import Future

import pytest

from opdev.lsp.progress import Progress


class Client:
    def __init__(self):
        self.now = 0.0
        self.told = []
        self.asked = []

    def notify(self, method, params):
        assert method == "$/progress"
        self.told.append(params["value"]["kind"])

    def ask(self, method, params):
        assert method == "window/workDoneProgress/create"
        assert params["token"]
        future = Future()
        self.asked.append(future)
        return future


@pytest.fixture
def client():
    return Client()


@pytest.fixture
def progress(client):
    return Progress("x", client.notify, client.ask, lambda: client.now)


def test_short_work_shows_nothing(client, progress):
    progress.at("1")
    progress.end()

    assert (client.asked, client.told) == ([], [])


def test_long_work_is_begun_reported_now_and_then_and_ended(client, progress):
    client.now = 2
    progress.at("1")
    client.asked[0].set_result(None)
    for second in (2.1, 2.7, 2.8, 3.4):
        client.now = second
        progress.at("2")
    progress.end()
    progress.end()

    assert client.told == ["begin", "report", "report", "end"]


@pytest.mark.parametrize("answer", ["late", "refused", "cancelled"])
def test_work_given_up_before_the_client_answers_is_never_begun(client, progress, answer):
    """pygls #621."""
    client.now = 2
    progress.at("1")
    if answer == "refused":
        client.asked[0].set_exception(RuntimeError("no"))
        progress.at("2")
    if answer == "cancelled":
        client.asked[0].cancel()
    progress.end()
    if answer == "late":
        client.asked[0].set_result(None)

    assert client.told == []


def test_each_has_a_token_of_its_own(client, progress):
    assert progress.token != Progress("y", client.notify, client.ask).token
