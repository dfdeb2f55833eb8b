/** The page on a program that serves runs: the list of runs, one run, two beside each other. */

import { signal } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";
import { events, get, json, key, locked, useKey } from "./data";
import type { Head } from "./data";
import { ask, calls, foldBelow, follow, live, nodes, pane, prompts, restart, run, take } from "./model";
import type { Call, RunRecord } from "./record";
import { RunPage } from "./run";
import { Figure } from "./turns";
import { short } from "./words";

const shown = signal(new URLSearchParams(location.search).get("run") ?? "");
const failed = signal("");

function go(id: string, event?: MouseEvent): void {
  event?.preventDefault();
  history.pushState(null, "", id ? `?run=${encodeURIComponent(id)}` : location.pathname);
  shown.value = id;
}

if (typeof addEventListener !== "undefined")
  addEventListener("popstate", () => (shown.value = new URLSearchParams(location.search).get("run") ?? ""));

/** Show a run and follow it to its end. */
async function watch(id: string, stop: AbortSignal): Promise<void> {
  const path = `debates/${encodeURIComponent(id)}`;
  const record = await json<RunRecord>(path, { signal: stop });
  restart(record, []);
  live.value = true;
  ask.value = async () => {
    const [made, texts] = await Promise.all([
      json<Call[]>(`${path}/calls`),
      json<{ [hash: string]: string }>(`${path}/prompts`),
    ]);
    calls.value = made;
    prompts.value = new Map(Object.entries(texts));
  };
  let first = true;
  for await (const told of events(id, 0, stop)) {
    take(told);
    if (!first || !nodes.value.size) continue;
    first = false;
    if (nodes.value.size > 60) foldBelow(2);
    pane.value = "tree";
    if (location.hash) follow();
  }
  live.value = false;
  // The record's own words on a contest are written when it has ended.
  if (!stop.aborted) run.value = await json<RunRecord>(path);
}

function One({ id }: { id: string }) {
  useEffect(() => {
    const stop = new AbortController();
    failed.value = "";
    watch(id, stop.signal).catch((error: Error) => {
      if (!stop.signal.aborted) failed.value = error.message;
    });
    return () => stop.abort();
  }, [id, key.value]);
  return (
    <>
      <nav class="crumbs"><a href={location.pathname} onClick={(event) => go("", event)}>‹ All runs</a></nav>
      {run.value?.run_id === id && nodes.value.size > 0 ? <RunPage /> : !failed.value && <p class="soft wait">Reading {id} …</p>}
    </>
  );
}

function List() {
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

function Key() {
  const enter = (event: SubmitEvent) => {
    event.preventDefault();
    useKey(String(new FormData(event.currentTarget as HTMLFormElement).get("key")));
  };
  return (
    <main class="list">
      <h1>This server asks for a key</h1>
      <form onSubmit={enter}>
        <label>Key <input name="key" type="password" autocomplete="off" required /></label> <button>Open</button>
      </form>
      <p class="soft">It is kept for this tab alone.</p>
    </main>
  );
}

export function Served() {
  return (
    <>
      {failed.value && !locked.value && <p class="note bad" role="alert">{failed.value}</p>}
      {locked.value ? <Key /> : shown.value ? <One id={shown.value} /> : <List />}
    </>
  );
}

