"""What comes after an evaluation's run: tables, plots and a page, from results alone."""
