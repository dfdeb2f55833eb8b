/** The list of runs: searched, filtered, page by page. */

import { useEffect, useState } from "preact/hooks";
import { get, key } from "./data";
import type { Head } from "./data";
import { failed, go } from "./route";
import { Figure } from "./turns";
import { short } from "./words";

export function List() {
  const [heads, setHeads] = useState<Head[] | null>(null);
  const [more, setMore] = useState("");
  const [text, setText] = useState("");
  const [status, setStatus] = useState("");
  const read = async (after: string, stop?: AbortSignal) => {
    const asked = new URLSearchParams({ text, status, after, limit: "100" });
    const answer = await get(`debates?${asked}`, { signal: stop });
    const found = (await answer.json()) as Head[];
    setMore(answer.headers.get("link") ? found.at(-1)!.run_id : "");
    setHeads((before) => (after ? [...(before ?? []), ...found] : found));
  };
  useEffect(() => {
    const stop = new AbortController();
    failed.value = "";
    const wait = setTimeout(() => {
      read("", stop.signal).catch((error: Error) => {
        if (!stop.signal.aborted) failed.value = error.message;
      });
    }, 150);
    return () => {
      clearTimeout(wait);
      stop.abort();
    };
  }, [text, status, key.value]);
  return (
    <main class="list">
      <h1>Debates</h1>
      <div class="tools">
        <input type="search" aria-label="Search in questions and answers" placeholder="Search in questions and answers" value={text} onInput={(event) => setText(event.currentTarget.value)} />
        <label>
          Status{" "}
          <select value={status} onChange={(event) => setStatus(event.currentTarget.value)}>
            <option value="">all</option>
            {["running", "answered", "partial", "degraded", "unresolved"].map((one) => <option key={one}>{one}</option>)}
          </select>
        </label>
      </div>
      {heads && !heads.length && <p class="soft">There is no such run.</p>}
      <ul class="plain runs">
        {(heads ?? []).map((one) => (
          <li key={one.run_id}>
            <a href={`?run=${encodeURIComponent(one.run_id)}`} onClick={(event) => go(one.run_id, event)} dir="auto">
              {short(one.question, 160)}
            </a>
            <p class="answer" dir="auto">{short(one.verdict?.answer ?? "", 160)}</p>
            <p class="soft">
              {one.verdict?.confidence != null && <Figure value={one.verdict.confidence} />}{" "}
              {[one.method, one.status, `${one.calls ?? 0} calls`, one.cost == null ? "" : `cost ${one.cost}`, when(one.started), one.run_id]
                .filter(Boolean)
                .join(" · ")}
            </p>
          </li>
        ))}
      </ul>
      {more && <button onClick={() => void read(more)}>Show more</button>}
    </main>
  );
}

const when = (stamp: string) => (stamp ? new Date(stamp).toLocaleString() : "");
