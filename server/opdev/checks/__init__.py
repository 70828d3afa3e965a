"""Checks a query cannot say, one module a family.  A rule's page names its check."""
