"""Programs are started below a keeper, so that whatever happens to whoever started them, nothing is left running."""
