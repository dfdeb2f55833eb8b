/** Folds the events of a run into its tree, verdict and usage, as dialectree/records/folding.py. */

import type {
  Comparison, Declared, Event, Failure, Fields, Json, Node, Order, Place, Retrieval, Segment, Turn, Usage,
  Verdict,
} from "./record";

interface Called extends Place {
  attempts: number;
  prompt_tokens: number;
  completion_tokens: number;
  cached_tokens: number;
  cost: number | null;
  seconds: number;
  source: string;
  failed: boolean;
  began: number;
  ended: number;
}

/** The run as its events tell it. */
export interface Folded {
  nodes: Map<string, Node>;
  segments: Map<string, Segment>;
  verdict: Verdict | null;
  status: string;
  notices: string[];
  /** The calls under way, by their place, with the moment at which each began. */
  calling: Map<string, Event>;
}

export interface Orders {
  own: Order;
  inside: Map<string, Order>;
}

/** Return the orders of the phases of the protocols of a run, `own` being the run's. */
export function orders(declared: { [protocol: string]: Declared }, own: string): Orders {
  const others = Object.entries(declared).filter(([name]) => name !== own);
  return {
    own: declared[own]?.order ?? {},
    inside: new Map(others.map(([name, one]) => [name, one.order ?? {}])),
  };
}

const isMap = (value: Json | undefined): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function put<T>(items: T[], item: T, key: (one: T) => string): T[] {
  const mine = key(item);
  const place = items.findIndex((one) => key(one) === mine);
  return place < 0 ? [...items, item] : items.map((one, n) => (n === place ? item : one));
}

const join = (...parts: (string | number)[]) => parts.join("\u0000");
const turnKey = (t: Turn) => join(t.phase, t.role, t.round, t.take, t.speaker);
const pairKey = (c: Comparison) => join(c.supporter, c.attacker, c.order);
const queryKey = (r: Retrieval) => join(r.paper, r.of);
const failureKey = (f: Failure) => join(f.role, f.speaker, f.fault);
export const callKey = (node: string, data: Fields) =>
  join(node, ...["phase", "role", "speaker", "round", "take"].map((name) => String(data[name] ?? "")));

export function emptyNode(id: string): Node {
  return {
    ...{ id, parent: null, children: [], kind: "open", in_turn: false, protocol: "", round: 0 },
    ...{ text: "", stance: null, depth: 0, status: "open", stopped: null, verdict: null },
    ...{ earlier: [], provenance: [], scores: {}, transcript: [], comparisons: [], retrievals: [] },
    ...{ notes: [], failures: [], data: {}, dropped: false, added: false },
  };
}

/** Return a verdict as a record has it: what few have is left out where it says nothing. */
function verdictOf(data: Fields): Verdict {
  const { probability: _, agreement, dissent, local_confidence: local, winner, take, ...rest } = data;
  const verdict = {
    ...{ answer: null, label: null, confidence: null, confidence_source: null, rationale: null, notes: [] },
    ...rest,
  } as Verdict;
  if (agreement != null) verdict.agreement = agreement as number;
  if (isMap(dissent) && Object.keys(dissent).length) verdict.dissent = dissent as { [k: string]: string };
  if (local != null) verdict.local_confidence = local as number;
  if (winner != null) verdict.winner = winner as string;
  if (take != null && take !== 1) verdict.take = take as number;
  const probable = ["probability", "P(claim)"].includes(verdict.confidence_source ?? "");
  if (probable && verdict.confidence !== null) verdict.probability = verdict.confidence;
  return verdict;
}

const number = (text: string) => (/^[0-9]{1,9}$/.test(text) ? Number(text) : -1);
const pathKey = (id: string) => id.split(".").map(number);

function comparePaths(one: number[], other: number[]): number {
  for (let i = 0; i < Math.min(one.length, other.length); i++)
    if (one[i] !== other[i]) return one[i]! - other[i]!;
  return one.length - other.length;
}

type Key = (string | number | boolean)[];

function compareKeys(one: Key, other: Key): number {
  for (let i = 0; i < one.length; i++) {
    if (one[i]! < other[i]!) return -1;
    if (one[i]! > other[i]!) return 1;
  }
  return 0;
}

function sortBy<T>(items: T[], key: (one: T) => Key): T[] {
  if (items.length < 2) return items;
  return items
    .map((one) => [key(one), one] as const)
    .sort((a, b) => compareKeys(a[0], b[0]))
    .map(([, one]) => one);
}

/** Return a stamp in seconds since 1970, or 0 where it cannot be read. */
function moment(stamp: string): number {
  const [, whole, digits, zone] = /^(.*?)(\.\d+)?(Z|[+-]\d\d:\d\d)$/.exec(stamp) ?? [];
  const at = Date.parse(`${whole}${zone}`);
  return Number.isNaN(at) ? 0 : at / 1000 + Number(`0${digits ?? ""}`);
}

const rounded = (value: number, digits: number) => Number(value.toFixed(digits));

function covered(spans: [number, number][]): number {
  let total = 0;
  let until = 0;
  for (const [began, ended] of [...spans].sort((a, b) => a[0] - b[0] || a[1] - b[1]))
    if (began) {
      total += Math.max(0, ended - Math.max(began, until));
      until = Math.max(until, ended);
    }
  return rounded(total, 6);
}

function costOf(calls: Called[]): number | null {
  if (calls.some((call) => call.cost === null)) return null;
  return rounded(calls.reduce((sum, call) => sum + call.cost!, 0), 9);
}

/** Applies events one by one; nodes are never changed, but replaced. */
export class Folding {
  nodes = new Map<string, Node>();
  segments = new Map<string, Segment>();
  verdict: Verdict | null = null;
  status = "running";
  notices: string[] = [];
  calling = new Map<string, Event>();
  private ids: string[] = [];
  private calls = new Map<number, Called>();
  private void = new Set<number>();
  private took: { [name: string]: number } = {};

  /** Return another folding that goes on from here by itself. */
  copy(): Folding {
    const other = new Folding();
    Object.assign(other, this);
    other.nodes = new Map(this.nodes);
    other.segments = new Map(this.segments);
    other.calling = new Map(this.calling);
    other.calls = new Map(this.calls);
    other.void = new Set(this.void);
    return other;
  }

  apply(event: Event): void {
    const data = event.data;
    switch (event.kind) {
      case "began":
        return;
      case "calling":
        this.calling.set(callKey(event.node, data), event);
        return;
      case "called":
        this.calling.delete(callKey(event.node, data));
        this.called(event);
        return;
      case "resumed":
      case "ended":
        this.ofRun(event);
        return;
      case "concluded":
        this.verdict = verdictOf(data);
        return;
      case "opened":
        this.open(event);
        return;
    }
    const before = this.nodes.get(event.node);
    if (before === undefined) return;
    const node = { ...before };
    this.nodes.set(event.node, node);
    switch (event.kind) {
      case "spoke":
        node.transcript = put(node.transcript, turnOf(event), turnKey);
        return;
      case "compared": {
        const usual = { order: "support_first", reason: "", contested: null };
        node.comparisons = put(node.comparisons, { ...usual, ...data } as unknown as Comparison, pairKey);
        return;
      }
      case "retrieved": {
        const { segments, ...about } = data;
        node.retrievals = put(node.retrievals, about as unknown as Retrieval, queryKey);
        const usual = { page: null, offset: 0, heading: null, contested: false };
        for (const one of segments as unknown as Segment[]) this.segments.set(one.id, { ...usual, ...one });
        return;
      }
      case "failed":
        node.failures = put(node.failures, { speaker: "", ...data } as unknown as Failure, failureKey);
        return;
      default:
        applyTo(node, event);
    }
  }

  private called(event: Event): void {
    const usual = {
      ...{ node: event.node, phase: "", role: "", speaker: "", round: 0, step: 0, take: 1, attempts: 1 },
      ...{ prompt_tokens: 0, completion_tokens: 0, cached_tokens: 0, cost: null, seconds: 0 },
      ...{ source: "model", failed: false, began: 0, ended: moment(event.t) },
    };
    const call = { ...usual, ...event.data } as Called;
    call.speaker ||= call.role;
    call.began = call.ended && call.ended - call.seconds;
    this.calls.set(event.n || -1 - this.calls.size, call);
  }

  private ofRun(event: Event): void {
    const usage = event.data.usage as Fields;
    this.took = { wall_s: Number(usage.wall_s), embedding_s: Number(usage.embedding_s) };
    this.calling.clear();
    if (event.kind === "ended") {
      this.status = String(event.data.status);
      this.notices = event.data.notices as string[];
      return;
    }
    this.status = "running";
    this.notices = [];
    const made = event.data.void as number[] | undefined;
    if (made === undefined) return;
    this.nodes.clear();
    this.segments.clear();
    this.ids = [];
    this.verdict = null;
    for (const n of made) {
      if (this.calls.get(n)?.failed) this.calls.delete(n);
      this.void.add(n);
    }
  }

  private open(event: Event): void {
    const { part, ...told } = event.data;
    const opened = { ...emptyNode(event.node), ...told } as Node;
    const above = this.nodes.get(opened.parent ?? "");
    if (part && above && !above.children.includes(opened.id)) {
      const kind = ["open", "leaf"].includes(above.kind) ? "branch" : above.kind;
      this.nodes.set(above.id, { ...above, kind, children: [...above.children, opened.id] });
    }
    const before = this.nodes.get(event.node);
    if (before === undefined) this.insert(event.node);
    const node = before ?? opened;
    const { text, parent, depth, stance, round } = opened;
    const protocol = opened.protocol || node.protocol;
    const data = { ...node.data, ...opened.data };
    this.nodes.set(event.node, { ...node, text, parent, depth, stance, round, protocol, data });
  }

  /** Keep the ids in the order of the tree; `ids` is shared with copies, and so replaced. */
  private insert(id: string): void {
    const key = pathKey(id);
    let low = 0;
    let high = this.ids.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (comparePaths(pathKey(this.ids[middle]!), key) <= 0) low = middle + 1;
      else high = middle;
    }
    this.ids = [...this.ids.slice(0, low), id, ...this.ids.slice(low)];
  }

  /** Return the tree so far, its nodes in their order and their turns sorted. */
  folded(order: Orders): Folded {
    const hung = new Map<string, Node>();
    for (const id of this.ids) {
      const node = this.finished(this.nodes.get(id)!, order);
      const above = this.nodes.has(node.parent ?? "") ? hung.get(node.parent!) : null;
      if (above === null || (above && (above.kind === "open" || above.children.includes(id))))
        hung.set(id, node);
    }
    const { verdict, status, notices, calling } = this;
    return { nodes: hung, segments: this.segments, verdict, status, notices, calling };
  }

  private finished(node: Node, order: Orders): Node {
    let done = sortedNode(node, order);
    if (done.children.some((child) => !this.nodes.has(child)))
      done = { ...done, children: done.children.filter((child) => this.nodes.has(child)) };
    if (done.comparisons.length) {
      const stance = (id: string) => (done.children.includes(id) ? this.nodes.get(id)!.stance : null);
      const met = done.comparisons.filter(
        (one) => stance(one.supporter) === "support" && stance(one.attacker) === "attack",
      );
      if (met.length < done.comparisons.length) done = { ...done, comparisons: met };
    }
    return done;
  }

  usage(tree: Map<string, Node>, order: Orders): Usage {
    const calls = [...this.calls.values()];
    const cached = calls.filter((call) => call.source === "cache");
    const valid = [...this.calls].filter(([n]) => !this.void.has(n)).map(([, call]) => call);
    const sum = (of: Called[], figure: (call: Called) => number) =>
      of.reduce((total, call) => total + figure(call), 0);
    const cost = calls.length ? costOf(calls) : null;
    return {
      calls: calls.length,
      calls_from_cache: cached.length,
      attempts: sum(calls, (call) => call.attempts),
      prompt_tokens: sum(calls, (call) => call.prompt_tokens),
      completion_tokens: sum(calls, (call) => call.completion_tokens),
      cached_tokens: sum(calls, (call) => call.cached_tokens),
      tokens_from_cache: sum(cached, (call) => call.prompt_tokens + call.completion_tokens),
      cost,
      cost_from_cache: cost === null ? null : costOf(cached),
      wall_s: this.took.wall_s || covered(calls.map((call) => [call.began, call.ended])),
      embedding_s: this.took.embedding_s ?? 0,
      critical_path_calls: criticalPath(tree, valid, order),
    };
  }
}

function turnOf(event: Event): Turn {
  const usual = {
    ...{ node: event.node, phase: "", role: "", speaker: "", round: 0, step: 0, take: 1 },
    ...{ side: null, label: null, names: null, protocol: "", fields: {} },
  };
  const turn = { ...usual, ...event.data, node: event.node };
  delete (turn as Fields).called;
  turn.speaker ||= turn.role;
  return turn as Turn;
}

function applyTo(node: Node, event: Event): void {
  const data = event.data;
  switch (event.kind) {
    case "scored":
      node.scores = { ...node.scores };
      for (const [name, value] of Object.entries(data.scores as Fields)) {
        delete node.scores[name];
        if (typeof value === "number") node.scores[name] = value;
      }
      return;
    case "branched":
      branch(node, data);
      return;
    case "settled":
      settle(node, data);
      return;
    case "noted":
    case "asked":
    case "answered":
      note(node, data.note);
      node.data = merged(node.data, data);
      return;
    case "contested":
      note(node, data.change);
      node.dropped = Boolean(data.dropped ?? node.dropped);
      node.added = Boolean(data.added ?? node.added);
  }
}

function branch(node: Node, data: Fields): void {
  node.children = (data.children as string[]).map(String);
  node.in_turn = Boolean(data.in_turn ?? false);
  if (data.why != null) {
    node.stopped = String(data.why);
    if (["open", "branch"].includes(node.kind)) node.kind = "leaf";
  } else if (data.kind == null) {
    node.kind = "branch";
    node.stopped = null;
  } else node.kind = String(data.kind);
}

function settle(node: Node, data: Fields): void {
  node.data = merged(node.data, data);
  if (data.verdict == null) {
    node.status = data.status === "answered" || node.verdict !== null ? "answered" : "missing";
    return;
  }
  const verdict = verdictOf(data.verdict as Fields);
  const take = (one: Verdict) => one.take ?? 1;
  const others = [...node.earlier, ...(node.verdict ? [node.verdict] : [])];
  const all = [...others.filter((one) => take(one) !== take(verdict)), verdict];
  all.sort((one, other) => take(one) - take(other));
  node.verdict = all.pop()!;
  node.earlier = all;
  node.status = "answered";
  if (node.verdict === verdict) node.provenance = ((data.provenance ?? []) as string[]).map(String);
}

function note(node: Node, text: Json | undefined): void {
  if (text != null && !node.notes.includes(String(text))) node.notes = [...node.notes, String(text)];
}

function merged(old: Fields, data: Fields): Fields {
  const all = { ...old };
  for (const [name, value] of Object.entries((data.data ?? {}) as Fields)) {
    const before = all[name];
    all[name] = isMap(before) && isMap(value) ? { ...before, ...value } : value;
  }
  return all;
}

const sorted = new WeakMap<Node, Node>();

/** Return a node with its turns sorted by pass, protocol, phase, step, speaker and round. */
function sortedNode(node: Node, order: Orders): Node {
  const before = sorted.get(node);
  if (before) return before;
  const inside = [...order.inside.keys()];
  const place = (turn: Turn): Key => {
    const own = order.inside.get(turn.protocol) ?? order.own;
    const depth = inside.indexOf(turn.protocol) + 1;
    const phases = own.phases ?? [];
    const known = phases.includes(turn.phase) ? phases.indexOf(turn.phase) : phases.length;
    const closing = (own.closing ?? []).includes(turn.phase);
    const within = closing ? [-depth, turn.take] : [turn.take, depth];
    return [closing, ...within, known, turn.step, turn.speaker, turn.round];
  };
  const done = {
    ...node,
    transcript: sortBy(node.transcript, place),
    comparisons: [...node.comparisons].sort(
      (a, b) =>
        comparePaths(pathKey(a.supporter), pathKey(b.supporter)) ||
        comparePaths(pathKey(a.attacker), pathKey(b.attacker)) ||
        compareKeys([a.order], [b.order]),
    ),
    retrievals: sortBy(node.retrievals, (one) => [one.of !== "topic", one.of, one.paper]),
    failures: sortBy(node.failures, (one) => [one.role, one.speaker, one.fault]),
  };
  sorted.set(node, done);
  return done;
}

/** Return the longest chain of calls from the root down and back up, as records/ledger.py. */
function criticalPath(tree: Map<string, Node>, calls: Called[], order: Orders): number {
  const steps = new Map<string, { at: [string, number, string]; spoke: Map<string, number> }>();
  for (const call of calls) {
    const key = join(call.node, call.take, call.phase, call.step);
    let step = steps.get(key);
    if (!step) steps.set(key, (step = { at: [call.node, call.take, call.phase], spoke: new Map() }));
    const who = join(call.role, call.speaker, call.round);
    step.spoke.set(who, (step.spoke.get(who) ?? 0) + 1);
  }
  const chains = new Map<string, Map<string, number>>();
  const takes = new Set<number>();
  for (const { at, spoke } of steps.values()) {
    const [node, take, phase] = at;
    takes.add(take);
    const key = join(node, take);
    let phases = chains.get(key);
    if (!phases) chains.set(key, (phases = new Map()));
    phases.set(phase, (phases.get(phase) ?? 0) + Math.max(...spoke.values()));
  }
  const total = (figures: Iterable<number>) => [...figures].reduce((sum, one) => sum + one, 0);
  const below = (id: string, take: number): number => {
    const node = tree.get(id);
    const rounds = new Map<number, number>();
    (node?.children ?? []).forEach((child, place) => {
      const round = node!.in_turn ? place : (tree.get(child)?.round ?? 0);
      rounds.set(round, Math.max(rounds.get(round) ?? 0, below(child, take)));
    });
    const lengths = new Map(chains.get(join(id, take)));
    const own = order.inside.get(node?.protocol ?? "") ?? order.own;
    const pop = (phase: string) => {
      const length = lengths.get(phase) ?? 0;
      lengths.delete(phase);
      return length;
    };
    const besideAll = (own.beside_all ?? []).map(pop);
    const besideChildren = (own.beside_children ?? []).map(pop);
    const longest = Math.max(total(rounds.values()), ...besideChildren);
    return Math.max(total(lengths.values()) + longest, ...besideAll);
  };
  return total([...takes].map((take) => below("0", take)));
}

/** Return the segments by paper and number. */
export function sortedSegments(segments: Map<string, Segment>): Map<string, Segment> {
  const key = (id: string): Key => {
    const colon = id.indexOf(":");
    return colon < 0 ? [id, -1] : [id.slice(0, colon), number(id.slice(colon + 1))];
  };
  return new Map(sortBy([...segments], ([id]) => key(id)));
}

/** Fold all events at once; see `Folding` for one by one. */
export function fold(events: Event[], order: Orders) {
  const folding = new Folding();
  for (const event of events) folding.apply(event);
  const told = folding.folded(order);
  return { ...told, segments: sortedSegments(told.segments), usage: folding.usage(told.nodes, order) };
}
