"""Do the work of every door: start, follow, resume, contest, estimate."""
