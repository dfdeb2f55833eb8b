/** The page: a run that it holds, or the list, a run, two runs, a form of the program that serves it. */

import "./style.css";
import { render } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { acts, begun, hearOf, own, said } from "./act";
import {
  again, beside, debate, events, failed, held, json, key, locked, making, shown, titles, useAddress, useKey, useReading,
} from "./data";
import { Detail } from "./detail";
import { fold, Folding, orders } from "./fold";
import { Head, Tools } from "./head";
import { Compare, List } from "./list";
import {
  ask, at, foldBelow, follow, following, followNewest, learn, length, live, nodes, pane, pick, picked, printing, record, restart, ROOT, run, source,
  take, turn,
} from "./model";
import { entered, Failed, Go, Reading } from "./parts";
import { type Call, label, type RunRecord, short, type Texts } from "./record";
import { SourcePane } from "./sources";
import { type Offers, Start } from "./start";
import { confidences, noChanges, strengths } from "./strengths";
import { Tree } from "./tree";

const wrong = (error: Error) => (failed.value = error.message);

function showTree(): void {
  if (nodes.value.size > 60) foldBelow(2);
  pane.value = "tree";
}

/** Bring the tree and the node into view, if they are above or far below. */
function showMain(): void {
  const main = document.querySelector("main");
  const top = main?.getBoundingClientRect().top ?? 0;
  if (top < -1 || top > innerHeight * 0.55) main?.scrollIntoView();
}

function RunPage() {
  const many = nodes.value.size > 1;
  const { input, run_id: id } = record.value;
  const opened = useRef(ROOT);
  useEffect(() => {
    if (opened.current !== picked.value && !turn.value && !following.value) showMain();
    opened.current = picked.value;
  }, [picked.value]);
  useEffect(() => {
    document.title = short(String(input.question ?? id), 80);
    return () => void (document.title = "Debates");
  }, [id]);
  return (
    <div data-run={id} class={`run show-${many ? pane.value : "node"}${source.value && " sourced"}`}>
      <Head />
      <Tools />
      <main class={many ? "two" : "one"}>
        {many && <Tree />}
        <div class="pane detail" role="region" aria-label="The node" tabIndex={0}><Detail /></div>
        {source.value && <SourcePane />}
      </main>
    </div>
  );
}

/** Show a run and follow it to its end. */
async function watch(id: string, stop: AbortSignal): Promise<void> {
  const early = begun.value?.run_id === id ? begun.value : null;
  if (early) restart(early, early.events);
  const record = await json<RunRecord>(debate(id), { signal: stop });
  if (stop.aborted) return;
  if (early) run.value = record;
  else restart(record, []);
  begun.value = null;
  said.value = [];
  picked.value = ROOT;
  live.value = true;
  following.value = record.status === "running" && !location.hash;
  ask.value = async () => learn(await json<Call[]>(`${debate(id)}/calls`), await json<Texts>(`${debate(id)}/prompts`));
  let first = true;
  let there = !location.hash;
  for await (const told of events(id, length.value, stop)) {
    take(told);
    if (told.some((one) => one.kind === "spoke")) followNewest();
    void hearOf(record, told).catch(wrong);
    if (first && nodes.value.size) {
      first = false;
      showTree();
    }
    there ||= follow();
  }
  if (following.value && !stop.aborted) (pick(ROOT, "", false), scrollTo(0, 0)); // the answer is there now
  live.value = following.value = false;
  // The record's own words on a contest are written when it has ended.
  if (!stop.aborted) run.value = await json<RunRecord>(debate(id));
}

function One({ id }: { id: string }) {
  useReading((stop) => watch(id, stop), [id, again.value]);
  return run.value?.run_id === id && length.value > 0 ? <RunPage /> : <Reading what={id} />;
}

const Key = () => (
  <main class="list">
    <h1>This server asks for a key</h1>
    <form onSubmit={entered("key", useKey)}>
      <label>Key <input name="key" type="password" autocomplete="off" required /></label> <button>Open</button>
    </form>
    <p class="soft">It is kept for this tab alone.</p>
  </main>
);

function Served() {
  useEffect(() => {
    json<Offers>("protocols").then((all) => {
      acts.value = all.acts;
      own.value = Boolean(all.own);
      const named = all.protocols.flatMap((one) => [one, ...(one.methods ?? [])]);
      titles.value = { loaded: "yes", ...Object.fromEntries(named.map(({ name, title }) => [name, title || label(name)])) };
    }, wrong);
  }, [key.value]);
  if (locked.value) return <Key />;
  return (
    <>
      {!making.value && <Failed />}
      <nav class="crumbs">
        {(shown.value || making.value) && <Go to="">‹ All debates</Go>}
        {acts.value && !making.value && <Go to="?new" kind="button">New debate</Go>}
      </nav>
      {making.value ? <Start />
        : beside.value ? <Compare ids={[shown.value, beside.value]} />
        : shown.value ? <One id={shown.value} /> : <List />}
    </>
  );
}

async function begin(): Promise<void> {
  const told = await held();
  if (told) {
    restart(told.record, told.events, told.record.tree);
    learn(told.calls ?? [], told.prompts ?? {});
    showTree();
    if (location.hash) follow();
    addEventListener("hashchange", follow);
  } else useAddress();
  render(told ? <RunPage /> : <Served />, document.getElementById("app")!);
  const paper = document.body.appendChild(document.createElement("div"));
  paper.className = "paper";
  const print = (now: boolean) => {
    printing.value = now;
    const all = now && document.querySelector(".run") ? [...nodes.value.values()] : [];
    render(all.map((node) => <Detail key={node.id} node={node} />), paper);
  };
  addEventListener("beforeprint", () => print(true));
  addEventListener("afterprint", () => print(false));
}

// Tests run the script without a page, and steer it on one.
Object.assign(globalThis, { debate: { fold, Folding, orders, strengths, noChanges, confidences, at, events } });
if (typeof document !== "undefined") void begin();
