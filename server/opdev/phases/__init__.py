"""The operator workflow: its phases, their gates, and where an interrupted operator stands.

Everything is computed from what lies on disk, so it works on operators that opdev did not create.
"""
