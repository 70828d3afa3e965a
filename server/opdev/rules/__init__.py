"""Rules: their pages, compiled form, checks' view of a file, running, fixing, suppressing."""
