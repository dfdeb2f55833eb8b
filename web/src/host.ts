/** What a server can do to a run: begin it, stop it, go on with it, answer it, contest it. */

import { signal } from "@preact/signals";
import { debate, json, pause, post, posted, sent } from "./data";
import type { Run } from "./model";
import type { Declared, Event, Fields, Texts } from "./record";

/** A request that a run has stopped for. */
export interface Stop { id: string; node: string; request: string; transcript: string; labels: string[]; }
/** One change, as `contest` takes it. */
export interface Change { change: string; where: string; text?: string; }

/** True where the program that serves lets runs be begun and changed. */
export const acts = signal(false);
export const stops = signal<Stop[]>([]);
/** Where a person is asked and has not answered, as the events tell it. */
const asked = new Set<string>();

/** A run that was begun or taken up here a moment ago, with its events so far. */
export const begun = signal<(Run & { events: Event[] }) | null>(null);

/** Begin a run in a thread of its own; return its id. The run does not need the page from then on. */
export async function begin(graph: string, declared: Declared, input: Fields, context: Fields): Promise<string> {
  const { thread_id: thread } = await post<{ thread_id: string }>("threads", {});
  const ways = { stream_mode: ["custom"], stream_subgraphs: true, on_disconnect: "continue" };
  const body = posted({ assistant_id: graph, input, context, ...ways });
  for await (const some of sent(`threads/${thread}/runs/stream`, body))
    for (const { kind, data } of some) {
      const told = data as unknown as Event & { message?: string };
      if (kind === "error") throw new Error(told.message ?? JSON.stringify(data));
      if (!kind.startsWith("custom") || told.kind !== "began") continue;
      begun.value = {
        ...(told.data as unknown as Run), ...{ run_id: told.run_id, thread, started: told.t, declared: { [graph]: declared } },
        ...{ status: "running", verdict: null, notices: [], contest: null, ended: null, demonstration: false }, events: [told],
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

/** Break a run off; what was paid stays in its folder. */
export async function halt(run: Run): Promise<void> {
  if (!hosted(run)) return void (await post(`${debate(run.run_id)}/cancel`));
  const all = await json<{ run_id: string; status: string }[]>(`threads/${run.thread}/runs`);
  const busy = all.filter((one) => ["running", "pending"].includes(one.status));
  await Promise.all(busy.map((one) => post(`threads/${run.thread}/runs/${one.run_id}/cancel`)));
}

/** Go on where a run was broken off. Aegra takes no run without an input, unless it names a checkpoint. */
export async function goOn(run: Run): Promise<void> {
  await (hosted(run) ? go(run, { checkpoint: { checkpoint_ns: "" } }) : post(`${debate(run.run_id)}/resume`));
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
  const stop = (id: string, args: Texts): Stop => {
    const { node = "", request = "", transcript = "", labels } = args;
    return { id, node, request, transcript, labels: labels ? labels.split(", ") : [] };
  };
  if (!hosted(run)) {
    const one = await json<Texts | null>(`${debate(run.run_id)}/asked`);
    return one ? [stop(one.node ?? "", one)] : [];
  }
  type Interrupt = { id: string; value: { action_requests?: { args: Texts }[] } };
  const { tasks } = await json<{ tasks: { interrupts: Interrupt[] }[] }>(`threads/${run.thread}/state`);
  return tasks.flatMap((task) => task.interrupts).flatMap(({ id, value }) => (value.action_requests ?? []).map(({ args }) => stop(id, args)));
}

export async function answer(run: Run, stop: Stop, text: string): Promise<void> {
  if (hosted(run)) await go(run, { command: { resume: { [stop.id]: text } } });
  else await post(`${debate(run.run_id)}/answer`, { answer: text });
  stops.value = stops.value.filter((one) => one !== stop);
}

export const price = async (run: Run, changes: Change[]) =>
  (await post<{ line: string }>(`${debate(run.run_id)}/contest/estimate`, { changes })).line;

/** Begin a contest; return the id of the new run. */
export const contest = async (run: Run, changes: Change[]) =>
  (await post<{ run_id: string }>(`${debate(run.run_id)}/contest`, { changes }, { prefer: "respond-async" })).run_id;
