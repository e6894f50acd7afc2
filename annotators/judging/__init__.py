"""Language models as judges: their questions about a unit, and their answers as those of a rater."""
