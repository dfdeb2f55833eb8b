"use strict";
(function () {
  const data = JSON.parse(document.getElementById("data").textContent);
  const store = "dialectree-rating-" + data.name;
  const byId = (id) => document.getElementById(id);
  const left = byId("left"), told = byId("told");
  const [CODE, PART, MARK] = ["code", "part", "mark"].map((name) => data.columns.indexOf(name));
  const fields = new Map(data.lines.map((line) => [line[CODE] + "\u0000" + line[PART], line]));
  const inputs = () => [...document.querySelectorAll("input[type=radio]")];
  const place = (input) => input.dataset.code + "\u0000" + input.dataset.part;

  function keep() {
    const marks = [...fields.entries()].filter(([, line]) => line[MARK]).map(([key, line]) => [key, line[MARK]]);
    try { localStorage.setItem(store, JSON.stringify(marks)); } catch (error) { /* a private window */ }
  }
  function count() {
    const open = data.lines.filter((line) => !line[MARK]).length;
    left.textContent = open ? open + " of " + data.lines.length + " marks are open" : "every mark is given";
  }
  function set(key, mark) {
    const line = fields.get(key);
    if (!line) return false;
    const input = inputs().find((one) => place(one) === key && one.value === mark);
    if (!input) return false;
    input.checked = true;
    line[MARK] = mark;
    return true;
  }
  function quoted(text) {
    return /[",\n\r]/.test(text) ? '"' + text.replaceAll('"', '""') + '"' : text;
  }
  function cells(text) {
    const rows = [[""]];
    let inside = false;
    for (let at = 0; at < text.length; at += 1) {
      const sign = text[at], row = rows[rows.length - 1];
      if (inside && sign === '"' && text[at + 1] === '"') { row[row.length - 1] += '"'; at += 1; }
      else if (sign === '"') inside = !inside;
      else if (!inside && (sign === "," || sign === ";")) row.push("");
      else if (!inside && sign === "\n") rows.push([""]);
      else if (inside || sign !== "\r") row[row.length - 1] += sign;
    }
    return rows.filter((row) => row.length > 1);
  }
  document.addEventListener("change", (event) => {
    const input = event.target;
    if (input.type !== "radio") return;
    fields.get(place(input))[MARK] = input.value;
    keep();
    count();
  });
  byId("export").addEventListener("click", () => {
    const text = [data.columns, ...data.lines].map((line) => line.map(quoted).join(",")).join("\n") + "\n";
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
    link.download = "ratings.csv";
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  });
  byId("import").addEventListener("change", async (event) => {
    const [file] = event.target.files;
    if (!file) return;
    const [head, ...rows] = cells((await file.text()).replace(/^\uFEFF/, ""));
    const [code, part, mark] = ["code", "part", "mark"].map((name) => (head || []).indexOf(name));
    if (Math.min(code, part, mark) < 0) { told.textContent = "That file has no columns code, part and mark."; return; }
    const given = rows.filter((row) => row[mark]);
    const taken = given.filter((row) => set(row[code] + "\u0000" + row[part], row[mark].trim())).length;
    told.textContent = taken + " marks read" + (taken < given.length ? ", " + (given.length - taken) + " do not fit this sheet" : "");
    keep();
    count();
  });
  try {
    JSON.parse(localStorage.getItem(store) || "[]").forEach(([key, mark]) => set(key, mark));
  } catch (error) { /* nothing was kept */ }
  count();
})();
