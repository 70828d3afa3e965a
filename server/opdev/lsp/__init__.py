"""The editor face: one module an LSP feature, session state in one place."""
