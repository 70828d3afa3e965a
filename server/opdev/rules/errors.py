"""What can be wrong with a rule page (apart from the reader, so that a lint run need not load YAML)."""

from __future__ import annotations


class PageError(ValueError):
    """A page that cannot be used: file, line (1-based) and what to do."""

    def __init__(self, path: str, line: int, problem: str) -> None:
        super().__init__(f"{path}:{line}: {problem}")
        self.path, self.line, self.problem = path, line, problem
