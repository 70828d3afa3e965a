"""Rules that are tree-sitter queries.

Captures: ``@hit`` is the range (else the first capture), ``@fix`` what ``replace`` in the front
matter replaces (else the hit); captures that start with ``_`` are for predicates only.  Every
other capture is an argument of the message, by its name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING

from opdev.rules.context import Context
from opdev.rules.model import Edit, Fix, Hit, Query, Rule
from opdev.syntax.languages import language

if TYPE_CHECKING:
    from tree_sitter import Node
    from tree_sitter import Query as Compiled

_PLACE = re.compile(r"\{(\w+)\}")


@cache
def compiled(lang: str, text: str) -> Compiled:
    """A query, compiled once; tree_sitter.QueryError for one that does not compile."""
    from tree_sitter import Query as Compile

    query: Compiled = Compile(language(lang), text)
    return query


def run(query: Query, rule: Rule, context: Context) -> Iterator[Hit]:
    """The hits of one query in the context's range."""
    from tree_sitter import QueryCursor

    cursor = QueryCursor(compiled(query.language, query.text))
    seen: set[tuple[int, int]] = set()
    node = context.node if context.node is not None else context.file.root
    for _, captures in cursor.matches(node):
        hit = _hit(captures, query, context, fixable=rule.fix is not None)
        if hit is not None and (hit.start, hit.end) not in seen:
            seen.add((hit.start, hit.end))
            yield hit


def _hit(captures: dict[str, list[Node]], query: Query, context: Context, *, fixable: bool) -> Hit | None:
    named = {name: nodes for name, nodes in captures.items() if nodes}
    shown = [name for name in named if not name.startswith("_") and name != "fix"]
    if not shown:
        return None
    anchor = named.get("hit") or named[shown[0]]
    start, end = anchor[0].start_byte, anchor[-1].end_byte
    args = {name: context.text(nodes[0]) for name, nodes in named.items()}
    fix = None
    if fixable and query.replace is not None:
        target = named.get("fix") or anchor
        text = _PLACE.sub(lambda m: str(args.get(m.group(1), m.group())), query.replace)
        fix = Fix((Edit(target[0].start_byte, target[-1].end_byte, text),))
    return Hit(start, end, args=args, fix=fix)
