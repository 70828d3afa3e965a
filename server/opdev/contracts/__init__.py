"""The contracts of PyPTO operators as data: which keys there are, what they mean, what may stand in them.

Completion, hover and quick fixes are made of these tables; rules judge by the same vocabularies.
"""
