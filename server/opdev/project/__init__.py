"""Operators as a whole: where files belong, and what a rule may ask of the other files."""
