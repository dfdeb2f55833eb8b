"""What every door does: start, follow, resume, contest, estimate."""
