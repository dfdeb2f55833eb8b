// Let the keyboard scroll a table that is wider than the page.
document$.subscribe(() => {
  for (const table of document.querySelectorAll(".md-typeset__scrollwrap")) {
    if (table.scrollWidth > table.clientWidth) table.tabIndex = 0
  }
})
