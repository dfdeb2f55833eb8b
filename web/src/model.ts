/** What the page knows and shows: the run, the moment, what is open, what a person changed. */

import { batch, computed, signal } from "@preact/signals";
import { type Folded, Folding, orders } from "./fold";
import type { Call, Event, Node, RunRecord, Tree } from "./record";
import { confidences, noChanges, strengths } from "./strengths";
import { declaredOf, lookOf, settingsOf, texts, turnName } from "./words";

export type Run = Omit<RunRecord, "tree">;

/** All that is known of one run; the tree is folded from its events. */
export const run = signal<Run | null>(null);
export const calls = signal<Call[]>([]);
export const prompts = signal<Map<string, string>>(new Map());
/** Where each call's texts can be asked for; null in a file, which holds what it has. */
export const ask = signal<(() => Promise<void>) | null>(null);

let events: Event[] = [];
let folding = new Folding();
export const length = signal(0);
/** How many events are shown. */
export const at = signal(0);
export const live = signal(false);

/** The events so far. */
export const heard = (): Event[] => events;
export const eventAt = (n: number): Event | undefined => events[n - 1];

/** The tree of a run that is shown without its events. */
const whole = signal<Folded | null>(null);

/** Begin with another run: with its events, or with the tree of its record. */
export function restart(record: Run, begun: Event[], tree?: Tree): void {
  batch(() => {
    events = [];
    folding = new Folding();
    run.value = record;
    const { verdict, status, notices } = record;
    const map = <T>(of: { [id: string]: T }) => new Map(Object.entries(of));
    const told = { verdict, status, notices, calling: new Map() };
    whole.value = tree ? { ...told, nodes: map(tree.nodes), segments: map(tree.segments) } : null;
    calls.value = [];
    changes.value = noChanges();
    shut.value = new Set();
    at.value = length.value = 0;
    take(begun);
  });
}

/** Take up events that are new; one that is known already changes nothing. */
export function take(told: Event[]): void {
  const last = events.at(-1)?.n ?? 0;
  const fresh = told.filter((one) => one.n > last);
  if (!fresh.length) return;
  const atEnd = at.value === events.length;
  events.push(...fresh);
  batch(() => {
    length.value = events.length;
    if (atEnd) at.value = events.length;
  });
}

const order = computed(() => orders(run.value?.declared ?? {}, run.value?.protocol ?? ""));

export const folded = computed<Folded>(() => whole.value ?? folding.to(events, at.value).folded(order.value));

export const ROOT = "0";
export const nodes = computed(() => folded.value.nodes);
export const finished = computed(() => at.value === length.value);
export const usage = computed(() => (whole.value ? record.value.usage : folding.usage(nodes.value, order.value)));
export const verdict = computed(() => folded.value.verdict);
export const record = computed(() => run.value as unknown as RunRecord);
export const declared = computed(() => declaredOf(record.value));
export const look = computed(() => lookOf(record.value));
export const view = computed(() => {
  const own = declared.value.view ?? "rounds";
  return ["tree", "rounds", "two_sided", "arguments", "topics"].includes(own) ? own : "rounds";
});

// What a person tries out.

export const changes = signal(noChanges());
export const touched = computed(() => {
  const { set, dropped, flipped, voided } = changes.value;
  return set.size + dropped.size + flipped.size + voided.size;
});

/** Change something: `edit` gets sets and maps of its own. */
export function change(edit: (all: ReturnType<typeof noChanges>) => void): void {
  const { set, dropped, flipped, voided } = changes.value;
  const copy = {
    ...{ set: new Map(set), dropped: new Set(dropped) },
    ...{ flipped: new Set(flipped), voided: new Set(voided) },
  };
  edit(copy);
  changes.value = copy;
}

/** Whether the node's figures are strengths of arguments. */
export const isWeighed = (node: Node | undefined) =>
  declaredOf(record.value, node?.protocol).view === "arguments" && node?.scores.strength !== undefined;

/** The roots of the trees of arguments: the claim, or one below a question of another protocol. */
const weighedRoots = computed(() => {
  const roots: string[] = [];
  for (const node of nodes.value.values())
    if (isWeighed(node) && !isWeighed(nodes.value.get(node.parent ?? ""))) roots.push(node.id);
  return roots;
});

const figures = computed(() => {
  const found = new Map<string, number | undefined>();
  if (!touched.value) return found;
  for (const root of weighedRoots.value) {
    const settings = settingsOf(record.value, nodes.value.get(root)?.protocol);
    for (const [id, weight] of strengths(nodes.value, root, settings, changes.value)) found.set(id, weight.strength);
  }
  if (!weighedRoots.value.length)
    for (const [id, value] of confidences(nodes.value, ROOT, changes.value.set)) found.set(id, value);
  return found;
});

export const recorded = (node: Node): number | undefined =>
  node.scores.strength ?? node.verdict?.confidence ?? undefined;

/** Return the figure of a node: its strength or its confidence, with a person's changes. */
export function share(node: Node): number | undefined {
  const told = recorded(node);
  if (!touched.value || told === undefined) return told;
  return figures.value.has(node.id) ? figures.value.get(node.id) : told;
}

export const isOut = (node: Node) => node.dropped || changes.value.dropped.has(node.id);

// What is shown of the tree.

export const picked = signal(ROOT);
export const turn = signal("");
export const pane = signal<"tree" | "node">("node");
export const shut = signal<Set<string>>(new Set());
export const query = signal("");
export const sort = signal<"order" | "figure">("order");

const hay = new WeakMap<Node, string>();

function words(node: Node): string {
  let text = hay.get(node);
  if (text === undefined) {
    const said = node.transcript.flatMap((one) => texts(one.fields));
    const parts = [node.id, node.text, node.verdict?.answer ?? "", node.verdict?.rationale ?? "", ...node.notes];
    text = [...parts, ...said, ...texts(node.data), ...node.comparisons.map((one) => one.reason)]
      .join("\n")
      .toLowerCase();
    hay.set(node, text);
  }
  return text;
}

export const hits = computed<Set<string> | null>(() => {
  const wanted = query.value.trim().toLowerCase();
  if (!wanted) return null;
  return new Set([...nodes.value].filter(([, node]) => words(node).includes(wanted)).map(([id]) => id));
});

export interface Row {
  node: Node;
  level: number;
  below: number;
}

export const rows = computed<Row[]>(() => {
  const all: Row[] = [];
  const tree = nodes.value;
  let keep: Set<string> | null = null;
  if (hits.value) {
    keep = new Set();
    for (const id of hits.value)
      for (let up: string | null = id; up && !keep.has(up); up = tree.get(up)?.parent ?? null) keep.add(up);
  }
  const stack: [string, number][] = [[ROOT, 0]];
  while (stack.length) {
    const [id, level] = stack.pop()!;
    const node = tree.get(id);
    if (!node || (keep && !keep.has(id))) continue;
    let below = node.children.filter((child) => tree.has(child));
    if (sort.value === "figure")
      below = [...below].sort((a, b) => (share(tree.get(b)!) ?? -1) - (share(tree.get(a)!) ?? -1));
    all.push({ node, level, below: below.length });
    if (keep || !shut.value.has(id)) for (const child of below.reverse()) stack.push([child, level + 1]);
  }
  return all;
});

export function fold(id: string): void {
  const all = new Set(shut.value);
  if (!all.delete(id)) all.add(id);
  shut.value = all;
}

/** Fold all nodes below a depth. */
export function foldBelow(depth: number): void {
  const deep = [...nodes.value.values()].filter((node) => node.depth >= depth && node.children.length);
  shut.value = new Set(deep.map((node) => node.id));
}

/** Show a node, or a turn of it, and say so in the address. */
export function pick(id: string, turnOf = "", show = true): void {
  batch(() => {
    const open = new Set(shut.value);
    for (let up = nodes.value.get(id)?.parent; up; up = nodes.value.get(up)?.parent) open.delete(up);
    if (open.size < shut.value.size) shut.value = open;
    picked.value = id;
    turn.value = turnOf;
    if (show) pane.value = "node";
  });
  // Browsers count how often an address changes, so walking and playing leave it alone.
  if (show) history.replaceState(null, "", `#${encodeURIComponent(turnOf || id)}`);
}

/** Go where the address says; return whether that is there by now. */
export function follow(): boolean {
  const wanted = new URLSearchParams(`at=${location.hash.slice(1)}`).get("at")!;
  const node = nodes.value.get(wanted.split("/")[0]!);
  const named = node?.transcript.some((one) => turnName(node, one) === wanted);
  if (!node || (live.value && !named && wanted !== node.id)) return false;
  pick(node.id, named ? wanted : "");
  return true;
}

export const nodeNow = computed(() => nodes.value.get(picked.value) ?? nodes.value.get(ROOT));
