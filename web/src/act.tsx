/** What a person does to a run by the routes of a server: begin, stop, go on, answer; say otherwise, contest. */

import { signal } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";
import { address, again, debate, failed, json, open, pause, post, posted, sent } from "./data";
import {
  changes, finished, folded, heard, isWeighed, live, nodes, record, recorded, ROOT, type Run, share, touched,
} from "./model";
import { entered, Link, More, typed } from "./parts";
import { noChanges } from "./strengths";
import { count, type Declared, type Event, type Fields, figure, label, short, type Texts } from "./record";

/** A request that a run has stopped for. */
interface Stop { id: string; node: string; request: string; transcript: string; labels: string[]; }
/** One change, as `contest` takes it. */
interface Change { change: string; where: string; text?: string; }

/** True where the program that serves lets runs be begun and changed. */
export const acts = signal(false);
export const stops = signal<Stop[]>([]);
/** A run on which nobody works any more, such as one whose server was killed. */
const left = signal("");
/** Where a person is asked and has not answered, as the events tell it. */
const asked = new Set<string>();
/** A run that was begun or taken up here a moment ago, with its events so far. */
export const begun = signal<(Run & { events: Event[] }) | null>(null);

/** True where the server has no threads: it begins runs itself. */
export const own = signal(false);
/** Begin a run; return its id. The run does not need the page from then on. */
export async function begin(graph: string, declared: Declared, wanted: object, context: Fields): Promise<string> {
  const route = `protocols/${encodeURIComponent(graph)}`;
  if (own.value) return (await post<{ run_id: string }>(`${route}/start`, wanted)).run_id;
  const { input } = await post<{ input: Fields }>(`${route}/prepare`, wanted);
  const { thread_id: thread } = await post<{ thread_id: string }>("threads", {});
  const ways = { stream_mode: ["custom"], stream_subgraphs: true, on_disconnect: "continue" };
  const body = posted({ assistant_id: graph, input, context, ...ways });
  for await (const some of sent(`threads/${thread}/runs/stream`, body))
    for (const { kind, data } of some) {
      const told = data as unknown as Event & { message?: string };
      if (kind === "error") throw new Error(told.message ?? JSON.stringify(data));
      if (!kind.startsWith("custom") || told.kind !== "began") continue;
      begun.value = {
        ...(told.data as unknown as Run), run_id: told.run_id, thread, started: told.t, declared: { [graph]: declared },
        status: "running", verdict: null, notices: [], contest: null, ended: null, demonstration: false, events: [told],
      };
      return told.run_id;
    }
  throw new Error("the server ended the run before it began");
}

/** Whether a thread of the server drives the run; a contest has none of its own. */
const hosted = (run: Run) => Boolean(run.thread) && !run.contest;

async function go(run: Run, what: object): Promise<void> {
  const { metadata } = await json<{ metadata?: { graph_id?: string } }>(`threads/${run.thread}`);
  const graph = metadata?.graph_id ?? run.method;
  await post(`threads/${run.thread}/runs`, { assistant_id: graph, multitask_strategy: "enqueue", ...what });
}

/** Break a run off; return whether anybody worked on it. */
async function halt(run: Run): Promise<boolean> {
  if (!hosted(run)) return (await post<Run>(`${debate(run.run_id)}/cancel`)).status !== "running";
  const all = await json<{ run_id: string; status: string }[]>(`threads/${run.thread}/runs`);
  const busy = all.filter((one) => ["running", "pending"].includes(one.status));
  await Promise.all(busy.map((one) => post(`threads/${run.thread}/runs/${one.run_id}/cancel`)));
  return busy.length > 0;
}

/** Take note of who is asked; a run in a thread is stopped by its host a moment after it says so. */
export async function hearOf(run: Run, told: Event[]): Promise<void> {
  const known = new Set(asked);
  for (const { kind, node } of told)
    if (kind === "began") asked.clear();
    else if (kind === "asked") asked.add(node);
    else if (kind === "answered") asked.delete(node);
  stops.value = stops.value.filter((one) => asked.has(one.node));
  if ([...asked].every((node) => known.has(node))) return;
  for (let tries = 0; tries < 40 && asked.size; tries++) {
    if (acts.value) stops.value = await requests(run);
    if (stops.value.length >= (hosted(run) ? asked.size : 1)) return;
    await pause(250);
  }
}

/** Return what a person is asked: by the thread of a run, or by the server's own run. */
async function requests(run: Run): Promise<Stop[]> {
  const stop = (id: string, { node = "", request = "", transcript = "", labels }: Texts): Stop =>
    ({ id, node, request, transcript, labels: labels ? labels.split(", ") : [] });
  if (!hosted(run)) {
    const one = await json<Texts | null>(`${debate(run.run_id)}/asked`);
    return one ? [stop(one.node ?? "", one)] : [];
  }
  type Interrupt = { id: string; value: { action_requests?: { args: Texts }[] } };
  const { tasks } = await json<{ tasks: { interrupts: Interrupt[] }[] }>(`threads/${run.thread}/state`);
  const all = tasks.flatMap((task) => task.interrupts);
  return all.flatMap(({ id, value }) => (value.action_requests ?? []).map(({ args }) => stop(id, args)));
}

/** What a person says instead, beside the figures that are tried out. */
export const said = signal<Change[]>([]);

/** All that a person changes here, as `contest` takes it. */
function wishes(): Change[] {
  const { set, dropped, flipped, voided } = changes.value;
  const each = (change: string, places: Iterable<string>) => [...places].map((where) => ({ change, where }));
  const weighed = [...set].filter(([id]) => isWeighed(nodes.value.get(id)));
  const figures = each("set", weighed.map(([id, value]) => `${id}=${value}`));
  return [...figures, ...each("drop", dropped), ...each("flip", flipped), ...each("void", voided), ...said.value];
}

/** Do something, and show what went wrong with it. */
export async function trying(work: () => Promise<unknown>): Promise<void> {
  failed.value = "";
  await work().catch((error: Error) => (failed.value = error.message));
}

export const quoted = (text: string) => (/^[\w./:=@-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);
/** The changes so far: the command for them, their price, and the contest itself. */
export function Trial() {
  const all = wishes();
  const route = `${debate(record.value.run_id)}/contest`;
  const [cost, setCost] = useState("");
  const may = acts.value && all.length > 0;
  const price = () => post<{ line: string }>(`${route}/estimate`, { changes: all });
  useEffect(() => {
    setCost("");
    if (!may) return;
    const ask = () => price().then(({ line }) => setCost(line), (error: Error) => setCost(error.message));
    const wait = setTimeout(ask, 300);
    return () => clearTimeout(wait);
  }, [JSON.stringify(all)]);
  const tried = touched.value + said.value.length;
  if (!tried) return null;
  const contest = () => trying(async () => {
    const { run_id } = await post<{ run_id: string }>(route, { changes: all }, { prefer: "respond-async" });
    open(address(run_id));
  });
  const clear = () => {
    said.value = [];
    changes.value = noChanges();
  };
  const words = all.map(({ change, where, text }) => `--${change} ${quoted(where)}${text ? ` ${quoted(text)}` : ""}`);
  const [before, after] = [recorded, share].map((of) => of(nodes.value.get(ROOT)!));
  const moved = before === after ? "" : `: ${figure(before)} → ${figure(after)}`;
  return (
    <div class="trial">
      <span><b>{count(tried, "change")}</b> tried out{moved}</span>
      {tried > all.length && <span class="soft">A confidence is only tried out: to contest it, rule otherwise.</span>}
      {words.length > 0 && <code>dialectree contest {record.value.run_id} {words.join(" ")}</code>}
      {may && <span class="soft" role="status">{cost || "…"}</span>}
      {may && finished.value && !live.value && <button class="main" onClick={contest}>Contest</button>}
      <button onClick={clear}>As recorded</button>
    </div>
  );
}

const NAMES: Texts = {
  replace: "Say this instead", verdict: "Rule this", drop: "Take it out", restore: "Bring it back",
  "add support": "Add this for it", "add attack": "Add this against it",
};
const WORDLESS = ["drop", "restore"];
/** What may be changed at a place; `add support` and `add attack` add an argument below it. */
export function Edit({ where, text, may, name, open }: {
  where: string; text?: string; may: string[]; name?: string; open?: boolean;
}) {
  const [now, setNow] = useState(text ?? "");
  const others = said.value.filter((one) => one.where.replace(/^(support|attack):/, "") !== where);
  const changed = others.length < said.value.length;
  const wish = (name: string) => {
    const [change = "", stance] = name.split(" ");
    const place = stance ? `${stance}:${where}` : where;
    const one = WORDLESS.includes(change) ? { change, where: place } : { change, where: place, text: now };
    said.value = [...others, one];
  };
  return (
    <More kind="more edit" open={open} name={changed ? "Changed" : (name ?? "Contest this")}>
      {text !== undefined &&
        <textarea aria-label={`New text for ${where}`} rows={3} dir="auto" value={now} onInput={typed(setNow)} />}
      {may.map((way) => (
        <button key={way} disabled={!WORDLESS.includes(way) && !now.trim()} onClick={() => wish(way)}>
          {NAMES[way]}
        </button>
      ))}
      {changed && <button onClick={() => (said.value = others)}>As it was</button>}
    </More>
  );
}

/** A label with the option that it stands for: `A: Yes`. */
function joinedLabel(one: string): string {
  const { options } = record.value.input;
  const text = Array.isArray(options) && /^[A-Z]$/.test(one) && options[one.charCodeAt(0) - 65];
  return text ? `${one}: ${short(String(text), 60)}` : label(one);
}

export function Request({ stop }: { stop: Stop }) {
  const send = (text: string) => void trying(async () => {
    if (hosted(record.value)) await go(record.value, { command: { resume: { [stop.id]: text } } });
    else await post(`${debate(record.value.run_id)}/answer`, { answer: text });
    stops.value = stops.value.filter((one) => one !== stop);
  });
  return (
    <form class="ask" onSubmit={entered("answer", send)}>
      <p class="name">The debate waits for you</p>
      <p class="prose" dir="auto">{stop.labels.length ? stop.request.replace(/ Reply with one of: [^]*$/, "") : stop.request}</p>
      {stop.transcript && <More name="What was said"><pre dir="auto">{stop.transcript}</pre></More>}
      {stop.labels.map((one) => (
        <button key={one} type="button" onClick={() => send(one)}><bdi>{joinedLabel(one)}</bdi></button>
      ))}
      {!stop.labels.length && <textarea name="answer" aria-label="Your answer" rows={2} dir="auto" required />}
      {!stop.labels.length && <button class="main">Answer</button>}
      <button type="button" onClick={() => send("")}>No answer</button>
    </form>
  );
}

/** Stop a run or go on with it, and where a person is asked. */
export function Acts() {
  const run = record.value;
  const dead = left.value === run.run_id;
  const over = dead || (!live.value && folded.value.status === "partial");
  const [stopping, setStopping] = useState(false);
  const stop = async () => {
    setStopping(true);
    await halt(run).then((any) => any || (left.value = run.run_id)).finally(() => setStopping(false));
  };
  const goOn = async () => {
    left.value = "";
    // Aegra takes no run without an input, unless it names a checkpoint.
    await (hosted(run) ? go(run, { checkpoint: { checkpoint_ns: "" } }) : post(`${debate(run.run_id)}/resume`));
    begun.value = { ...run, events: heard() };
    again.value++;
  };
  return acts.value && (
    <>
      {stops.value.map(({ id, node }) => (
        <p key={id} class="note asked" role="status">It waits for your answer about <Link id={node} most={60} /></p>
      ))}
      {live.value && !dead && !stops.value.length && (
        <button disabled={stopping} onClick={() => trying(stop)}>{stopping ? "Stopping …" : "Stop"}</button>
      )}
      {over && <button onClick={() => trying(goOn)}>Go on with it</button>}
    </>
  );
}
