"""clangd for operators: compile_commands.json and .clangd, with or without CANN.

``write`` is what the command, phase 3 and the editor call.
"""

from __future__ import annotations

from opdev.clangd.writing import Note, Written, write

__all__ = ["Note", "Written", "write"]
