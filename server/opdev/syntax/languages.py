"""The tree-sitter grammars opdev reads with, loaded when first needed.

Each grammar is a shared library: loading all of them would cost a one-file lint a third of its
budget, so a language is imported by the first file that is written in it.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module

from tree_sitter import Language, Parser

_MODULES = {
    "cpp": ("tree_sitter_cuda", "language"),
    "bash": ("tree_sitter_bash", "language"),
    "cmake": ("tree_sitter_cmake", "language"),
    "python": ("tree_sitter_python", "language"),
    "yaml": ("tree_sitter_yaml", "language"),
    "markdown": ("tree_sitter_markdown", "language"),
}


LINES = "log"
"""What is read line by line, without a grammar: logs."""


@cache
def language(name: str) -> Language:
    """The grammar of a language of ``_MODULES``; KeyError for any other name."""
    module, function = _MODULES[name]
    return Language(getattr(import_module(module), function)())


@cache
def parser(name: str) -> Parser:
    """A parser for a language of ``_MODULES`` (one a process: parsing holds the interpreter lock anyway)."""
    return Parser(language(name))
