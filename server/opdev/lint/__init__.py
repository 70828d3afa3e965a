"""The command-line face: opdev-lint, its outputs, and the tools for rule authors."""
