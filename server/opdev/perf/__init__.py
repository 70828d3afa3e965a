"""Performance: what logs of ``[PERF]`` lines say, whether it agrees with itself, and what may be concluded from it.

Logs come in as bytes, a document (``document.schema.json``) goes out; terminal, reports and panels draw that one.
Nothing here runs anything, and nothing here opens a gate.
"""
