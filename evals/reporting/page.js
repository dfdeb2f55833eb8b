"use strict";
(function () {
  const data = JSON.parse(document.getElementById("data").textContent);
  const WORDS = { right: "right", wrong: "wrong", unanswered: "withheld", unparsed: "unparsed", failed: "failed", unscored: "not scored" };
  const SIGNS = { right: "✓", wrong: "✗", unanswered: "–", unparsed: "?", failed: "!", unscored: "·" };
  const SIZE = 50;
  const [category, row, outcome, words, list, range, back, on] =
    ["by-category", "by-row", "by-outcome", "by-words", "list", "found", "back", "on"].map((id) => document.getElementById(id));
  const questions = data.questions.map(([id, kind, text, right, cells]) => ({
    id, kind, text, right,
    cells: cells.map((cell, n) => cell && { row: data.rows[n], end: cell[0], answer: cell[1], sure: cell[2], mark: cell[3], run: cell[4] }),
  }));
  let shown = [], page = 0;

  function element(name, text, kind) {
    const made = document.createElement(name);
    if (text !== undefined) made.textContent = text;
    if (kind) made.className = kind;
    return made;
  }
  function own(name, text) {
    const made = element(name, text);
    made.dir = "auto";
    return made;
  }
  function linked(made, address) {
    made.setAttribute("href", address);
    return made;
  }
  function choices(select, first, values, names) {
    [["", first], ...values.map((value, n) => [value, (names || values)[n]])].forEach(([value, name]) => {
      const option = element("option", name);
      option.value = value;
      select.append(option);
    });
  }
  const ends = Object.keys(WORDS).filter((end) => questions.some((q) => q.cells.some((cell) => cell && cell.end === end)));
  const differ = data.rows.length > 1 && (ends.includes("right") || ends.includes("wrong"));
  choices(category, "all categories", [...new Set(questions.map((q) => q.kind))].sort());
  choices(row, "any method", data.rows.map((_, n) => String(n)), data.rows);
  choices(outcome, "any outcome", [...ends, ...(differ ? ["differ"] : [])], [...ends.map((end) => WORDS[end]), "methods differ"]);

  function fits(question) {
    if (category.value && question.kind !== category.value) return false;
    const cells = (row.value ? [question.cells[row.value]] : question.cells).filter(Boolean);
    if (row.value && !cells.length) return false;
    const right = new Set(question.cells.filter(Boolean).map((cell) => cell.end === "right"));
    if (outcome.value === "differ" ? right.size < 2 : outcome.value && !cells.some((cell) => cell.end === outcome.value)) return false;
    return (question.id + " " + question.text).toLowerCase().includes(words.value.trim().toLowerCase());
  }
  function mark(cell) {
    const made = element(cell.run ? "a" : "span", cell.mark === null ? SIGNS[cell.end] : String(cell.mark), "mark " + cell.end);
    made.title = cell.row + ": " + WORDS[cell.end];
    made.setAttribute("aria-label", made.title);
    return cell.run ? linked(made, cell.run) : made;
  }
  function answers(question) {
    const made = element("dl", undefined, "answers");
    if (question.right) made.append(element("dt", "right"), own("dd", question.right));
    question.cells.filter(Boolean).forEach((cell) => {
      const answer = own("dd", cell.answer + (cell.sure === null ? "" : " (" + cell.sure + ")"));
      if (cell.run) answer.append(" ", linked(element("a", cell.run.endsWith(".html") ? "run" : "run.json"), cell.run));
      made.append(element("dt", cell.row + ", " + WORDS[cell.end]), answer);
    });
    return made;
  }
  function line(question) {
    const made = element("tr"), about = element("td", undefined, "about");
    const more = element("details"), head = element("summary");
    head.append(own("span", question.text || question.id), " ", element("small", question.id + " · " + question.kind));
    more.append(head);
    more.addEventListener("toggle", () => {
      if (more.open && more.children.length < 2) more.append(answers(question));
    });
    about.append(more);
    made.append(about);
    question.cells.forEach((cell, n) => {
      const place = element("td", undefined, "end");
      place.dataset.row = data.rows[n];
      if (cell) place.append(mark(cell));
      made.append(place);
    });
    return made;
  }
  function show(next) {
    page = next;
    const from = page * SIZE, these = shown.slice(from, from + SIZE);
    list.replaceChildren(...these.map(line));
    range.textContent = (these.length ? from + 1 + "–" + (from + these.length) + " of " : "") + shown.length.toLocaleString("en") +
      (shown.length === questions.length ? "" : " (of " + questions.length.toLocaleString("en") + ")");
    back.disabled = page === 0;
    on.disabled = from + SIZE >= shown.length;
  }
  function filter() {
    shown = questions.filter(fits);
    show(0);
  }
  [category, row, outcome].forEach((select) => select.addEventListener("change", filter));
  words.addEventListener("input", filter);
  back.addEventListener("click", () => show(page - 1));
  on.addEventListener("click", () => show(page + 1));
  document.getElementById("browse").hidden = false;
  filter();

  const copy = document.getElementById("copy");
  if (!copy) return;
  const [form, text, copied] = ["form", "table-text", "copied"].map((id) => document.getElementById(id));
  function fill() {
    text.value = data.paper[form.value];
    copied.textContent = "";
  }
  // A served report may not use the clipboard's own interface; what is selected can be copied anywhere.
  document.getElementById("copy-table").addEventListener("click", () => {
    text.closest("details").open = true;
    text.select();
    copied.textContent = document.execCommand("copy") ? "copied" : "press Ctrl+C to copy";
  });
  form.addEventListener("change", fill);
  copy.hidden = false;
  fill();
})();
