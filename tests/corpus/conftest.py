"""The operators of the corpus are read, never run."""

collect_ignore = ["clean"]
