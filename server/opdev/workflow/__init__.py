"""PyPTO's workflow on the command line: `opdev state`, `opdev hook`, and the gate that older hooks call."""
