"""Do the work of every interface: start, follow, resume, contest, estimate."""
