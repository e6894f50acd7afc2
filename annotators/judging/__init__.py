"""How language models judge: what they are asked of a unit, and how their answers become a rater's."""
