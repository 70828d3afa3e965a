"""Optimisation rounds: what an operator's own files were at each of them, what was measured, what was decided."""
