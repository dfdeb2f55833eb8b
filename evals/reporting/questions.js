"use strict";
(function () {
  const data = JSON.parse(document.getElementById("data").textContent);
  const WORDS = { r: "right", w: "wrong", n: "withheld", u: "unparsed", f: "failed", s: "not scored" };
  const SIGNS = { r: "✓", w: "✗", n: "–", u: "?", f: "!", s: "·" };
  const SIZE = 50;
  const byId = (id) => document.getElementById(id);
  const [category, row, outcome, words, list, said, back, on] =
    ["by-category", "by-row", "by-outcome", "by-words", "list", "found", "back", "on"].map(byId);
  let found = [], page = 0;

  function element(name, text, kind) {
    const made = document.createElement(name);
    if (text !== undefined) made.textContent = text;
    if (kind) made.className = kind;
    return made;
  }
  function choices(select, first, names) {
    [first, ...names].forEach((name, number) => {
      const option = element("option", name);
      option.value = number - 1;
      select.append(option);
    });
  }
  choices(category, "all categories", data.categories);
  choices(row, "any row", data.rows);
  const used = new Set(data.questions.flatMap((q) => q[4].filter(Boolean).map((c) => c[0])));
  const ends = Object.keys(WORDS).filter((key) => used.has(key));
  const graded = (ends.includes("r") || ends.includes("w")) && data.rows.length > 1;
  choices(outcome, "any outcome", [...ends.map((key) => WORDS[key]), ...(graded ? ["rows differ"] : [])]);

  function fits(question) {
    if (category.value >= 0 && question[1] !== Number(category.value)) return false;
    const cells = row.value >= 0 ? [question[4][row.value]] : question[4];
    if (row.value >= 0 && !cells[0]) return false;
    if (Number(outcome.value) >= ends.length) {
      const known = question[4].filter(Boolean).map((cell) => cell[0] === "r");
      if (!(known.includes(true) && known.includes(false))) return false;
    } else if (outcome.value >= 0 && !cells.some((cell) => cell && cell[0] === ends[outcome.value])) {
      return false;
    }
    const wanted = words.value.trim().toLowerCase();
    return !wanted || (question[0] + " " + question[2]).toLowerCase().includes(wanted);
  }
  function mark(cell, name, short) {
    const text = cell[3] === null ? SIGNS[cell[0]] : String(cell[3]);
    const made = element(cell[4] ? "a" : "span", short ? text : undefined, "mark " + cell[0]);
    if (cell[4]) made.setAttribute("href", cell[4]);
    made.setAttribute("aria-label", name + ": " + WORDS[cell[0]]);
    made.title = name + ": " + WORDS[cell[0]];
    return made;
  }
  function answers(question) {
    const made = element("dl", undefined, "answers");
    if (question[3]) {
      made.append(element("dt", "right"), element("dd", question[3]));
      made.lastChild.dir = "auto";
    }
    question[4].forEach((cell, number) => {
      if (!cell) return;
      const said = element("dd", cell[1] + (cell[2] === null ? "" : " (" + cell[2] + ")"));
      said.dir = "auto";
      if (cell[4]) {
        const link = element("a", cell[4].endsWith(".html") ? "run" : "run.json");
        link.setAttribute("href", cell[4]);
        said.append(" ", link);
      }
      made.append(element("dt", data.rows[number] + ", " + WORDS[cell[0]]), said);
    });
    return made;
  }
  function line(question) {
    const made = element("tr");
    const about = element("td", undefined, "about");
    const more = element("details"), head = element("summary");
    const text = element("span", question[2] || question[0]);
    text.dir = "auto";
    head.append(text, " ", element("small", question[0] + " · " + data.categories[question[1]]));
    more.append(head);
    more.addEventListener("toggle", () => {
      if (more.open && more.children.length < 2) more.append(answers(question));
    });
    about.append(more);
    made.append(about);
    question[4].forEach((cell, number) => {
      const place = element("td", undefined, "end");
      place.dataset.row = data.rows[number];
      if (cell) place.append(mark(cell, data.rows[number], true));
      made.append(place);
    });
    return made;
  }
  function show() {
    const last = Math.max(0, Math.ceil(found.length / SIZE) - 1);
    page = Math.min(Math.max(page, 0), last);
    const from = page * SIZE, these = found.slice(from, from + SIZE);
    list.replaceChildren(...these.map(line));
    const all = data.questions.length.toLocaleString("en");
    const range = these.length ? from + 1 + "–" + (from + these.length) + " of " : "";
    said.textContent = range + found.length.toLocaleString("en") +
      (found.length === data.questions.length ? "" : " (of " + all + ")");
    back.disabled = page === 0;
    on.disabled = page === last;
  }
  function filter() {
    found = data.questions.filter(fits);
    page = 0;
    show();
  }
  [category, row, outcome].forEach((select) => select.addEventListener("change", filter));
  words.addEventListener("input", filter);
  back.addEventListener("click", () => { page -= 1; show(); });
  on.addEventListener("click", () => { page += 1; show(); });
  document.getElementById("browse").hidden = false;
  filter();
})();
