"""Arguing from documents of the user: what speakers read of them, and what a verdict rests on."""
