"""PyPTO operators in simulation: a test runs in a child process, its outputs are judged by the precision standard."""
