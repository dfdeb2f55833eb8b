"""The report of an evaluation: tables, plots and a page, from results alone."""
