/** The page on a program that serves runs: the list, or one run that is followed. */

import { useEffect } from "preact/hooks";
import { events, json, key, locked, useKey } from "./data";
import { List } from "./list";
import { ask, calls, foldBelow, follow, live, nodes, pane, prompts, restart, run, take } from "./model";
import type { Call, RunRecord } from "./record";
import { failed, go, shown } from "./route";
import { RunPage } from "./run";

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

