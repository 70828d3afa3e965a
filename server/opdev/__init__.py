"""opdev: editor backend and CI linter for Ascend SHMEM and PyPTO operator developers."""

__version__ = "0.1.0"
