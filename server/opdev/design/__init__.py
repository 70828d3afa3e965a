"""The Canonical DSL of docs/design.md."""
