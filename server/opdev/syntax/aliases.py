"""Names people give a language in a fence or a query, and ours (no grammar is loaded here)."""

from __future__ import annotations

# Fence and query names people write for the languages above.
ALIASES = {
    "cpp": "cpp", "c++": "cpp", "c": "cpp", "cuda": "cpp", "cc": "cpp", "h": "cpp", "hpp": "cpp",
    "ascendc": "cpp", "bash": "bash", "sh": "bash", "shell": "bash", "console": "bash",
    "cmake": "cmake", "python": "python", "py": "python", "python3": "python",
    "yaml": "yaml", "yml": "yaml", "markdown": "markdown", "md": "markdown", "log": "log",
}  # fmt: skip
