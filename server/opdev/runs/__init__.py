"""Runs: phases of an operator as child processes, with events that outlive whoever watches them."""
