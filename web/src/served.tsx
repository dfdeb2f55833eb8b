/** The page on a program that serves runs: the list, or one run that is followed. */

import { useEffect } from "preact/hooks";
import { said } from "./act";
import { Compare } from "./compare";
import { events, json, key, locked, useKey } from "./data";
import { acts, begun, hearOf } from "./host";
import { List } from "./list";
import { ask, calls, foldBelow, follow, length, live, nodes, pane, picked, prompts, restart, ROOT, run, take } from "./model";
import type { Call, RunRecord } from "./record";
import { again, beside, failed, making, open, shown, useReading } from "./route";
import { RunPage } from "./run";
import { Start } from "./start";

/** Show a run and follow it to its end. */
async function watch(id: string, stop: AbortSignal): Promise<void> {
  const path = `debates/${encodeURIComponent(id)}`;
  const early = begun.value?.run_id === id ? begun.value : null;
  if (early) restart(early, early.events);
  const record = await json<RunRecord>(path, { signal: stop });
  if (stop.aborted) return;
  if (early) run.value = record;
  else restart(record, []);
  begun.value = null;
  said.value = [];
  picked.value = ROOT;
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
  let there = !location.hash;
  for await (const told of events(id, length.value, stop)) {
    take(told);
    void hearOf(record, told).catch((error: Error) => (failed.value = error.message));
    if (first && nodes.value.size) {
      first = false;
      if (nodes.value.size > 60) foldBelow(2);
      pane.value = "tree";
    }
    there ||= follow();
  }
  live.value = false;
  // The record's own words on a contest are written when it has ended.
  if (!stop.aborted) run.value = await json<RunRecord>(path);
}

function One({ id }: { id: string }) {
  useReading((stop) => watch(id, stop), [id, again.value]);
  return run.value?.run_id === id && length.value > 0 ? <RunPage /> : !failed.value && <p class="soft wait">Reading {id} …</p>;
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
  useEffect(() => {
    json<{ acts: boolean }>("protocols").then((all) => (acts.value = all.acts), () => {});
  }, [key.value]);
  const inside = shown.value || making.value;
  return (
    <>
      {failed.value && !locked.value && !making.value && <p class="note bad" role="alert">{failed.value}</p>}
      {!locked.value && (
        <nav class="crumbs">
          {inside && <a href={location.pathname} onClick={(event) => open("", event)}>‹ All runs</a>}
          {acts.value && !making.value && <a href="?new" onClick={(event) => open("?new", event)}>New debate</a>}
        </nav>
      )}
      {locked.value ? <Key />
        : making.value ? <Start />
        : beside.value ? <Compare ids={[shown.value, beside.value]} />
        : shown.value ? <One id={shown.value} /> : <List />}
    </>
  );
}
