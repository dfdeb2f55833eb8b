/** What a person takes home: a memo of the run, and another question about its documents. */

import { acts, trying } from "./act";
import { debate, get } from "./data";
import { ask, finished, live, record, sources } from "./model";
import { Go } from "./parts";

const FORMATS = { docx: "Word", html: "web page", md: "Markdown" };

/** Fetch a memo with the key that the page has, and hand it to the person as a file. */
async function save(format: string): Promise<void> {
  const id = record.value.run_id;
  const content = await (await get(`${debate(id)}/memo?format=${format}`)).blob();
  const link = Object.assign(document.createElement("a"), { href: URL.createObjectURL(content), download: `${id}.${format}` });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

export function TakeHome() {
  if (!finished.value || live.value) return null;
  const id = record.value.run_id;
  if (!ask.value) return <p class="soft">A memo of it: <code>dialectree export memo {id} --format docx --out memo.docx</code></p>;
  const again = acts.value && sources.value.some((one) => one.digest);
  return (
    <p class="take">
      <span class="soft">Memo: </span>
      {Object.entries(FORMATS).map(([format, name]) => (
        <button key={format} onClick={() => trying(() => save(format))}>{name}</button>
      ))}
      {again && <Go to={`?new&from=${encodeURIComponent(id)}`}>Ask something else about these documents</Go>}
    </p>
  );
}
