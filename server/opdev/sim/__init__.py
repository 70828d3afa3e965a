"""The CPU stand-in: builds and runs an operator as it is, on a machine without an NPU."""
