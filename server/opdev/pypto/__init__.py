"""PyPTO's workflow: the state file of an operator, the moves it allows, and where its parts stand."""
