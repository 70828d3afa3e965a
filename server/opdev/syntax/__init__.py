"""Reading the field's languages: grammars, masking, embedded regions, and helpers per language."""
