"""Framing, and the order of things."""

from __future__ import annotations

import io
import json

import pytest

from opdev.lsp import wire


def read(data: bytes):
    inbox = wire.Inbox()
    wire.read_messages(io.BytesIO(data), inbox)
    found = []
    while not isinstance(message := inbox.get(), wire.End):
        found.append(message)
    return found


def test_messages_come_in_order_with_text_as_written():
    text = "注释 😀 \f \u2028"
    data = wire.frame({"a": text}) + wire.frame({"b": 2})

    assert read(data) == [{"a": text}, {"b": 2}]


def test_half_an_emoji_goes_out_as_an_escape():
    framed = wire.frame({"x": "\ud83d"})

    assert json.loads(framed.partition(b"\r\n\r\n")[2]) == {"x": "\ud83d"}


@pytest.mark.parametrize("cut", [1, 20, 30, -1])
def test_a_message_cut_short_is_the_end(cut):
    whole = wire.frame({"method": "x", "params": [1, 2, 3]})

    assert read(wire.frame({"a": 1}) + whole[:cut]) == [{"a": 1}]


def test_cancelled_ids_are_known_before_their_turn():
    inbox = wire.Inbox()
    cancel = {"method": "$/cancelRequest", "params": {"id": 7}}
    wire.read_messages(io.BytesIO(wire.frame({"id": 7, "method": "x"}) + wire.frame(cancel)), inbox)

    assert inbox.get() == {"id": 7, "method": "x"}
    assert inbox.cancelled == {7}


def test_a_client_that_stops_reading_stops_nothing_else():
    class Deaf(io.RawIOBase):
        def write(self, _):
            raise BrokenPipeError

    outbox = wire.Outbox(Deaf())
    for _ in range(10):
        outbox.send({"x": 1})

    outbox.close(5)
