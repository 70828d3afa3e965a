"""Design documents made of text."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from opdev.design.document import document_of
from opdev.kinds import Place, classify
from opdev.source import Source
from opdev.syntax.file import File

PATH = "custom-ops/demo/docs/design.md"


def _document(text, path=PATH):
    data = text if isinstance(text, bytes) else text.encode()
    return document_of(File(Source(path, data), classify(path, data, in_operator=True), Place()))


def _design(yaml, before="# 设计 🚀\n\n## 2. Canonical DSL\n\n", after="\n## 3. 能力\n"):
    return _document(f"{before}```yaml\n{yaml}```\n{after}")


@pytest.fixture
def document():
    """A design document of a whole Markdown text."""
    return _document


@pytest.fixture
def design():
    """A design document of its YAML alone."""
    return _design


@pytest.fixture
def full():
    """A whole design without a fault, with texts replaced: (old, new) pairs, each of which must be there."""
    spec = importlib.util.spec_from_file_location("design_full", Path(__file__).with_name("full.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)

    def broken(*swaps, before="# 设计 🚀\n\n## 2. Canonical DSL\n\n"):
        text = module.YAML
        for old, new in swaps:
            assert text.count(old) == 1, (old, text.count(old))
            text = text.replace(old, new)
        return _design(text, before)

    return broken
