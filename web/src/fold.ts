/** Folds the events of a run into its tree, verdict and usage, as dialectree/records/folding.py. */

import type { Comparison, Declared, Event, Failure, Fields, Json, Node, Order, Retrieval } from "./record";
import type { Segment, Turn, Usage, Verdict } from "./record";

// What a record says where an event does not.
const TURN = {
  ...{ phase: "", role: "", speaker: "", round: 0, step: 0, take: 1 },
  ...{ side: null, label: null, names: null, protocol: "", fields: {} },
};
const CALL = { prompt_tokens: 0, completion_tokens: 0, cost: null as number | null, source: "model" };
const USAGE: Usage = {
  ...{ calls: 0, calls_from_cache: 0, attempts: 0, prompt_tokens: 0, completion_tokens: 0, cached_tokens: 0 },
  ...{ tokens_from_cache: 0, cost: null, cost_from_cache: null, wall_s: 0, embedding_s: 0, critical_path_calls: 0 },
};
const NODE = {
  ...{ parent: null, children: [], kind: "open", in_turn: false, protocol: "", round: 0, text: "", stance: null },
  ...{ depth: 0, status: "open", stopped: null, verdict: null, earlier: [], provenance: [], scores: {}, notes: [] },
  ...{ transcript: [], comparisons: [], retrievals: [], failures: [], data: {}, dropped: false, added: false },
};
const VERDICT = { answer: null, label: null, confidence: null, confidence_source: null, rationale: null, notes: [] };
const MET = { order: "support_first", reason: "", contested: null };
const GROUND = { page: null };
const FOUND = { score: null };
const SEGMENT = { page: null, offset: 0, heading: null, contested: false };
const RUN = { verdict: null as Verdict | null, status: "running", notices: [] as string[], usage: USAGE };

/** The run as its events tell it, with the calls under way, by their place. */
export interface Folded extends Readonly<typeof RUN> {
  nodes: Map<string, Node>; segments: Map<string, Segment>; calling: Map<string, Event>;
}

/** Return the orders of the phases: of the run's own protocol, and of those inside. */
export function orders(declared: { [protocol: string]: Declared }, own: string) {
  const inside = new Map<string, Order>(Object.entries(declared).map(([name, one]) => [name, one.order ?? {}]));
  const first = inside.get(own) ?? {};
  inside.delete(own);
  return { own: first, inside };
}
type Orders = ReturnType<typeof orders>;

/** Add an item, or put it in the place of the one that is alike in `names`. */
function put<T>(items: T[], item: T, ...names: (keyof T)[]): T[] {
  const place = items.findIndex((one) => names.every((name) => one[name] === item[name]));
  return place < 0 ? [...items, item] : items.with(place, item);
}

type Key = string | number | boolean | Key[];
function compare(one: Key, other: Key): number {
  if (!Array.isArray(one) || !Array.isArray(other)) return one < other ? -1 : one > other ? 1 : 0;
  for (let i = 0; i < Math.min(one.length, other.length); i++) {
    const differs = compare(one[i]!, other[i]!);
    if (differs) return differs;
  }
  return one.length - other.length;
}

function sortBy<T>(items: T[], key: (one: T) => Key): T[] {
  if (items.length < 2) return items;
  const keyed = items.map((one) => [key(one), one] as const);
  return keyed.sort((a, b) => compare(a[0], b[0])).map(([, one]) => one);
}

const number = (text: string) => (/^[0-9]{1,9}$/.test(text) ? Number(text) : -1);
const path = (id: string): Key => id.split(".").map(number);
/** What sorts `a:10` after `a:2`. */
const segmentPath = (id: string): Key => [id.split(":")[0]!, number(id.split(":").slice(1).join(":"))];

/** Leave out lists and texts that are empty, as a record does with what few have. */
function sparse<T extends object>(whole: T, ...names: (keyof T)[]): T {
  for (const name of names) if (!Object.keys(whole[name] ?? {}).length) delete whole[name];
  return whole;
}

/** Return a verdict as a record has it: what few have is left out where it says nothing. */
function verdictOf({ probability: _, ...told }: Fields): Verdict {
  const verdict = { ...VERDICT, ...told } as Verdict;
  for (const name of ["agreement", "local_confidence", "winner", "calibrated"] as const)
    if (verdict[name] == null) delete verdict[name];
  if ((verdict.take ?? 1) === 1) delete verdict.take;
  verdict.grounds = verdict.grounds?.map((one) => ({ ...GROUND, ...one }));
  const probable = ["probability", "P(claim)"].includes(verdict.confidence_source ?? "");
  if (probable && verdict.confidence !== null) verdict.probability = verdict.confidence;
  return sparse(verdict, "dissent", "grounds");
}

function turnOf({ node, data: { called: _, ...told } }: Event): Turn {
  const turn: Turn = { ...TURN, ...told, node };
  const evidence = turn.evidence?.map(({ item, ...one }) => (item ? { ...one, item } : one));
  return sparse({ ...turn, speaker: turn.speaker || turn.role, evidence }, "evidence", "rests_on");
}

const callKey = ({ node, data: { phase, role, speaker, round, take } }: Event) =>
  [node, phase, role, speaker, round, take].join("\u0000");

const finished = new WeakMap<Node, Node>();
/** Goes to any moment of a run, its events applied, undone or done again. Nodes are replaced, never changed. */
export class Folding {
  private run = RUN;
  private nodes = new Map<string, Node>();
  private segments = new Map<string, Segment>();
  private calling = new Map<string, Event>();
  private ids = new Set<string>(); // all that there have been, in the order of the tree
  private changes: ((forth: boolean) => void)[] = [];
  private ends = [0]; // how many changes there are after each number of events
  private place = 0;

  /** Go to the moment after the first `n` events. */
  to(events: Event[], n: number): this {
    this.move(this.ends[Math.min(n, this.ends.length - 1)]!);
    const known = this.ids.size;
    for (const event of events.slice(this.ends.length - 1, n)) {
      this.apply(event);
      this.ends.push(this.changes.length);
    }
    if (this.ids.size > known) this.ids = new Set(sortBy([...this.ids], path));
    return this;
  }

  private move(to: number): void {
    while (this.place > to) this.changes[--this.place]!(false);
    while (this.place < to) this.changes[this.place++]!(true);
  }

  private change(make: (forth: boolean) => void): void {
    this.changes.push(make);
    this.move(this.changes.length);
  }

  private set<K, V>(map: Map<K, V>, key: K, after?: V): void {
    const before = map.get(key);
    this.change((forth) => {
      const value = forth ? after : before;
      value === undefined ? map.delete(key) : map.set(key, value);
    });
  }

  private tell(more: Partial<typeof RUN>): void {
    const before = this.run;
    this.change((forth) => (this.run = forth ? { ...before, ...more } : before));
  }

  private apply(event: Event): void {
    const { kind, data } = event;
    const node = this.nodes.get(event.node);
    if (kind === "opened") this.open(event, node);
    else if (kind === "calling") this.set(this.calling, callKey(event), event);
    else if (kind === "called") {
      this.set(this.calling, callKey(event));
      this.tell({ usage: paid(this.run.usage, { ...CALL, ...data }) });
    } else if (kind === "concluded") this.tell({ verdict: verdictOf(data) });
    else if (kind === "resumed" || kind === "ended") {
      const { usage, status = "running", notices = [] } = data as unknown as typeof RUN;
      this.tell({ status, notices, usage: { ...this.run.usage, ...usage } });
      // Where failed calls are made again, what was told before is void.
      if (data.void) this.tell({ verdict: null });
      const over: Map<string, unknown>[] = data.void ? [this.calling, this.nodes, this.segments] : [this.calling];
      for (const map of over) for (const key of [...map.keys()]) this.set(map, key);
    } else if (node) {
      this.set(this.nodes, node.id, after(node, event));
      const segments = (kind === "retrieved" ? data.segments : []) as unknown as Segment[];
      for (const one of segments)
        this.set(this.segments, one.id, sparse({ ...SEGMENT, ...one }, "source", "sentences", "place"));
    }
  }

  private open({ node: id, data }: Event, before: Node | undefined): void {
    const { part, ...told } = data;
    const opened = { ...NODE, id, ...told } as Node;
    const above = this.nodes.get(opened.parent ?? "");
    if (part && above && !above.children.includes(id)) {
      const kind = ["open", "leaf"].includes(above.kind) ? "branch" : above.kind;
      this.set(this.nodes, above.id, { ...above, kind, children: [...above.children, id] });
    }
    const { text, parent, depth, stance, round } = opened;
    const now = before && { ...before, text, parent, depth, stance, round, data: { ...before.data, ...opened.data } };
    this.set(this.nodes, id, now ? { ...now, protocol: opened.protocol || now.protocol } : opened);
    this.ids.add(id);
  }

  /** Return the tree so far, its nodes in their order. */
  folded(order: Orders): Folded {
    const nodes = new Map<string, Node>();
    for (const id of this.ids) {
      const node = this.nodes.get(id);
      if (!node) continue;
      const above = this.nodes.get(node.parent ?? "");
      const hangs = !above || (nodes.has(above.id) && (above.kind === "open" || above.children.includes(id)));
      if (hangs) nodes.set(id, this.finished(node, order));
    }
    const segments = new Map(sortBy([...this.segments], ([id]) => segmentPath(id)));
    return { ...this.run, nodes, segments, calling: new Map(this.calling) };
  }

  /** Return a node sorted, without children that were not opened yet and what was compared of others. */
  private finished(node: Node, order: Orders): Node {
    const whole = node.children.every((id) => this.nodes.has(id));
    const before = whole && finished.get(node);
    if (before) return before;
    const children = node.children.filter((id) => this.nodes.has(id));
    const is = (id: string, stance: string) => children.includes(id) && this.nodes.get(id)!.stance === stance;
    const met = node.comparisons.filter((one) => is(one.supporter, "support") && is(one.attacker, "attack"));
    const done = {
      ...node, children,
      transcript: sortBy(node.transcript, (turn) => placeOf(turn, order)),
      comparisons: sortBy(met, (one) => [path(one.supporter), path(one.attacker), one.order]),
      retrievals: sortBy(node.retrievals, ({ of, paper }) => [of !== "topic", paper && of, paper]),
      failures: sortBy(node.failures, (one) => [one.role, one.speaker, one.fault]),
    };
    if (whole) finished.set(node, done);
    return done;
  }
}

/** Return what the calls of a run took with one more; the rest is reckoned when it ends. */
function paid(before: Usage, { prompt_tokens, completion_tokens, cost, source }: typeof CALL): Usage {
  const known = before.calls ? before.cost : 0;
  return {
    ...before,
    calls: before.calls + 1, calls_from_cache: before.calls_from_cache + Number(source === "cache"),
    prompt_tokens: before.prompt_tokens + prompt_tokens,
    completion_tokens: before.completion_tokens + completion_tokens,
    cost: known === null || cost === null ? null : known + cost,
  };
}

function after(node: Node, event: Event): Node {
  const { kind, data } = event;
  const told = (usual: object) => ({ ...usual, ...data }) as unknown;
  switch (kind) {
    case "spoke":
      return { ...node, transcript: put(node.transcript, turnOf(event), "phase", "role", "round", "take", "speaker") };
    case "compared":
      return { ...node, comparisons: put(node.comparisons, told(MET) as Comparison, "supporter", "attacker", "order") };
    case "retrieved": {
      const { segments: _, ...about } = told({ paper: "" }) as Retrieval & { segments: Segment[] };
      about.found = about.found.map((one) => ({ ...FOUND, ...one }));
      return { ...node, retrievals: put(node.retrievals, about, "paper", "of") };
    }
    case "failed":
      return { ...node, failures: put(node.failures, told({ speaker: "" }) as Failure, "role", "speaker", "fault") };
    case "scored": {
      const { ...scores } = node.scores;
      for (const [name, value] of Object.entries(data.scores as Fields)) {
        delete scores[name];
        if (typeof value === "number") scores[name] = value;
      }
      return { ...node, scores };
    }
    case "branched": return branched(node, data);
    case "settled": return settled({ ...node, data: merged(node.data, data) }, data);
    case "contested": {
      const { dropped = node.dropped, added = node.added, change } = data;
      return { ...node, notes: noted(node, change), dropped: Boolean(dropped), added: Boolean(added) };
    }
    default:
      return { ...node, notes: noted(node, data.note), data: merged(node.data, data) };
  }
}

function branched(node: Node, data: Fields): Node {
  const now = { ...node, children: (data.children as string[]).map(String), in_turn: Boolean(data.in_turn) };
  if (data.why != null)
    return { ...now, stopped: String(data.why), kind: ["open", "branch"].includes(now.kind) ? "leaf" : now.kind };
  return data.kind == null ? { ...now, kind: "branch", stopped: null } : { ...now, kind: String(data.kind) };
}

function settled(node: Node, data: Fields): Node {
  if (data.verdict == null)
    return { ...node, status: data.status === "answered" || node.verdict ? "answered" : "missing" };
  const verdict = verdictOf(data.verdict as Fields);
  const take = (one: Verdict) => one.take ?? 1;
  const others = [...node.earlier, ...(node.verdict ? [node.verdict] : [])];
  const all = sortBy([...others.filter((one) => take(one) !== take(verdict)), verdict], take);
  const last = all.at(-1)!;
  const provenance = last === verdict ? ((data.provenance ?? []) as string[]).map(String) : node.provenance;
  return { ...node, verdict: last, earlier: all.slice(0, -1), status: "answered", provenance };
}

const noted = ({ notes }: Node, text: Json | undefined) =>
  text == null || notes.includes(String(text)) ? notes : [...notes, String(text)];

const isMap = (value: Json | undefined): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);
function merged(old: Fields, data: Fields): Fields {
  const all = { ...old };
  for (const [name, value] of Object.entries((data.data ?? {}) as Fields)) {
    const before = all[name];
    all[name] = isMap(before) && isMap(value) ? { ...before, ...value } : value;
  }
  return all;
}

/** Return the key that sorts a turn: by pass, protocol, phase, step, speaker and round. */
function placeOf(turn: Turn, order: Orders): Key {
  const { phases = [], closing = [] } = order.inside.get(turn.protocol) ?? order.own;
  const depth = [...order.inside.keys()].indexOf(turn.protocol) + 1;
  const phase = phases.includes(turn.phase) ? phases.indexOf(turn.phase) : phases.length;
  const last = closing.includes(turn.phase);
  return [last, ...(last ? [-depth, turn.take] : [turn.take, depth]), phase, turn.step, turn.speaker, turn.round];
}

export const fold = (events: Event[], order: Orders) => new Folding().to(events, events.length).folded(order);
