"""Plain functions on numbers and lists, named as in the papers."""
