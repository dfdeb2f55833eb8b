/** What the page knows and shows: the run, the moment, what is open, what a person changed. */

import { batch, computed, signal } from "@preact/signals";
import { type Folded, Folding, orders } from "./fold";
import { type Changes, confidences, noChanges, strengths } from "./strengths";
import type { Call, Event, Node, RunRecord, Source, Texts, Tree } from "./record";
import { declaredOf, label, lookOf, segmentId, settingsOf, sourceId, texts, turnName } from "./record";

export type Run = Omit<RunRecord, "tree">;

/** All that is known of one run; the tree is folded from its events. */
export const run = signal<Run | null>(null);
export const calls = signal<Call[]>([]);
export const prompts = signal<Map<string, string>>(new Map());
export function learn(made: Call[], texts: Texts): void {
  calls.value = made;
  prompts.value = new Map(Object.entries(texts));
}
/** Where each call's texts can be asked for; null in a file, which holds what it has. */
export const ask = signal<(() => Promise<void>) | null>(null);

let events: Event[] = [];
let folding = new Folding();
export const length = signal(0);
/** How many events are shown. */
export const at = signal(0);
export const live = signal(false);

export const heard = () => events;
/** The tree of a run that is shown without its events. */
const whole = signal<Folded | null>(null);

/** Begin with another run: with its events, or with the tree of its record. */
export function restart(record: Run, begun: Event[], tree?: Tree): void {
  batch(() => {
    events = [];
    folding = new Folding();
    run.value = record;
    const map = <T>(of: { [id: string]: T }) => new Map(Object.entries(of));
    whole.value = tree ? { ...record, calling: new Map(), nodes: map(tree.nodes), segments: map(tree.segments) } : null;
    calls.value = [];
    changes.value = noChanges();
    shut.value = new Set();
    source.value = "";
    at.value = length.value = 0;
    take(begun);
  });
}

/** Take up events that are new; one that is known already changes nothing. */
export function take(told: Event[]): void {
  const fresh = told.filter((one) => one.n > (events.at(-1)?.n ?? 0));
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
export const record = computed(() => run.value as unknown as RunRecord);
export const declared = computed(() => declaredOf(record.value));
/** The user's own documents, and what a retriever found besides; none in a run without any. */
export const sources = computed(() => {
  const given = record.value.input.sources;
  const all = new Map<string, Source>();
  for (const one of (Array.isArray(given) ? given : []) as unknown as Source[]) if (one?.id) all.set(one.id, one);
  for (const { id, source: name = "" } of folded.value.segments.values())
    if (name && !all.has(sourceId(id))) all.set(sourceId(id), { id: sourceId(id), name, title: name });
  return [...all.values()];
});
export const look = computed(() => lookOf(record.value));
/** Return the name of a field, a phase or a role for a reader. */
export const captionOf = (name: string) => look.value.captions?.[name] ?? label(name);

/** What a person tries out. */
export const changes = signal(noChanges());
export const touched = computed(() => Object.values(changes.value).reduce((sum, one) => sum + one.size, 0));

/** Change something: `edit` gets sets and maps of its own. */
export function change(edit: (all: Changes) => void): void {
  const copy = structuredClone(changes.value);
  edit(copy);
  changes.value = copy;
}

/** Whether the node's figures are strengths of arguments. */
export const isWeighed = (node: Node | undefined) =>
  declaredOf(record.value, node?.protocol).view === "arguments" && node?.scores.strength !== undefined;

const figures = computed(() => {
  const all = nodes.value;
  const found = new Map<string, number | undefined>();
  // A tree of arguments may stand for itself, or below a question of another protocol.
  const roots = [...all.values()].filter((node) => isWeighed(node) && !isWeighed(all.get(node.parent ?? "")));
  for (const { id, protocol } of roots)
    for (const [below, weight] of strengths(all, id, settingsOf(record.value, protocol), changes.value))
      found.set(below, weight.strength);
  return roots.length ? found : confidences(all, ROOT, changes.value.set);
});

export const isOut = (node: Node) => node.dropped || changes.value.dropped.has(node.id);
export const recorded = (node: Node) => node.scores.strength ?? node.verdict?.confidence ?? undefined;
/** Whether the confidences of the debate are products along its tree, as a trial would reckon them. */
export const multiplied = computed(() => {
  const reckoned = confidences(nodes.value, ROOT, new Map());
  return [...reckoned].every(([id, own]) => Math.abs(own - (recorded(nodes.value.get(id)!) ?? own)) < 1e-6);
});
/** Whether a person's changes give the node another figure. */
export const hasMoved = (node: Node) => touched.value > 0 && recorded(node) !== undefined && share(node) !== recorded(node);
/** Return the figure of a node: its strength or its confidence, with a person's changes. */
export function share(node: Node): number | undefined {
  const told = recorded(node);
  if (!touched.value || told === undefined) return told;
  return figures.value.has(node.id) ? figures.value.get(node.id) : told;
}

/** The node that is shown, and the turn of it that the address names. */
export const picked = signal(ROOT);
export const turn = signal("");
/** The source that is open beside it, or the segment or the sentence at which it is open: `s2`, `s2:17`, `s2:17.3`. */
export const source = signal("");
export const pane = signal<"tree" | "node">("node");
export const shut = signal<Set<string>>(new Set());
export const query = signal("");
export const sort = signal("as debated");

const hay = new WeakMap<Node, string>();
/** Return all that was said at a node, in small letters. */
function words(node: Node): string {
  const known = hay.get(node);
  if (known) return known;
  const { id, text, verdict, notes, transcript, comparisons, data } = node;
  const said = [id, text, verdict?.answer, verdict?.rationale, ...notes, ...comparisons.map((one) => one.reason)];
  const points = transcript.flatMap(({ evidence = [] }) => evidence.map((one) => one.point));
  const all = [...said, ...points, ...texts([data, ...transcript.map((one) => one.fields)])].join("\n").toLowerCase();
  hay.set(node, all);
  return all;
}

export const hits = computed<Set<string> | null>(() => {
  const wanted = query.value.trim().toLowerCase();
  const found = () => [...nodes.value.values()].filter((one) => words(one).includes(wanted));
  return wanted ? new Set(found().map((one) => one.id)) : null;
});

export interface Row { node: Node; level: number; below: number; }
export const rows = computed<Row[]>(() => {
  const tree = nodes.value;
  const keep = new Set<string>();
  for (const id of hits.value ?? [])
    for (let up: string | null | undefined = id; up && !keep.has(up); up = tree.get(up)?.parent) keep.add(up);
  const all: Row[] = [];
  const walk = (node: Node, level: number): void => {
    if (hits.value && !keep.has(node.id)) return;
    const below = node.children.flatMap((id) => tree.get(id) ?? []);
    if (sort.value === "by figure") below.sort((a, b) => (share(b) ?? -1) - (share(a) ?? -1));
    all.push({ node, level, below: below.length });
    if (hits.value || !shut.value.has(node.id)) for (const child of below) walk(child, level + 1);
  };
  if (tree.has(ROOT)) walk(tree.get(ROOT)!, 0);
  return all;
});

export function fold(id: string): void {
  const all = new Set(shut.value);
  if (!all.delete(id)) all.add(id);
  shut.value = all;
}

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
    if (show && matchMedia("(max-width: 50rem)").matches) source.value = ""; // it hides the node there
    if (show) pane.value = "node";
  });
  // Browsers count how often an address changes, so walking and playing leave it alone.
  if (show) history.replaceState(null, "", `#${encodeURIComponent(turnOf || id)}`);
}

/** Open a source beside the node, at a segment or a sentence of it, and say so in the address; "" closes it. */
export function openSource(id: string): void {
  source.value = id;
  history.replaceState(null, "", `#${encodeURIComponent(id || turn.value || picked.value)}`);
}

/** Go to a node, a turn, a source or a sentence; return whether it is there by now. */
export function goTo(wanted: string): boolean {
  if (sources.value.some((one) => one.id === sourceId(wanted))) {
    openSource(wanted);
    return wanted === sourceId(wanted) || folded.value.segments.has(segmentId(wanted));
  }
  const node = nodes.value.get(wanted.split("/")[0]!);
  const named = node?.transcript.some((one) => turnName(node, one) === wanted);
  if (!node || (live.value && !named && wanted !== node.id)) return false;
  pick(node.id, named ? wanted : "");
  return true;
}

/** Go where the address says; return whether that is there by now. */
export const follow = () => goTo(new URLSearchParams(`at=${location.hash.slice(1)}`).get("at")!);

/** Whether the newest turn of a live debate is brought into view. */
export const following = signal(false);
export function followNewest(): void {
  if (!live.value || !following.value) return;
  const newest = events.findLast((one) => one.kind === "spoke");
  const node = newest && nodes.value.get(newest.node);
  if (!node) return;
  pick(node.id, "", false);
  requestAnimationFrame(() => [...document.querySelectorAll(".detail .turn")].at(-1)?.scrollIntoView({ block: "nearest" }));
}

/** True while all nodes are laid out on paper, one below the other. */
export const printing = signal(false);
