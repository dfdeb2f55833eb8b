/** The shapes of run.json and of a line of events.jsonl, as far as the page reads them, and their words. */

export type Json = null | boolean | number | string | Json[] | Fields;
export type Fields = { [name: string]: Json };
export type Texts = { [name: string]: string };
export type Stance = "support" | "attack";

/** A sentence of a source that a verdict rests on. */
export interface Ground { id: string; source: string; page: number | null; }
/** What a speaker draws from the sources, and the sentences behind it. */
export interface Point { id: string; point: string; sentences: string[]; item?: number; }
export interface Verdict {
  answer: string | null; label: string | null; confidence: number | null; confidence_source: string | null;
  rationale: string | null; notes: string[]; agreement?: number; dissent?: Texts; local_confidence?: number;
  winner?: string; take?: number; probability?: number; grounds?: Ground[]; calibrated?: { confidence: number; n: number };
}
interface Place {
  node: string; phase: string; role: string; speaker: string; round: number; step: number; take: number;
}
export interface Turn extends Place {
  side: string | null; label: string | null; names: string | null; protocol: string; fields: Fields;
  evidence?: Point[]; rests_on?: string[];
}
export interface Call extends Place {
  repair: number; prompt: string; model: string; attempts: number; started: string; ended: string; source: string;
  prompt_tokens: number; completion_tokens: number; cost: number | null; reply: string | null; error: string | null;
  sent?: { messages?: [string, string][]; served?: string };
}
export interface Comparison {
  supporter: string; attacker: string; winner: string; order: string; reason: string; contested: string | null;
}
/** A piece of a paper or a source; or a block of it, with its kind and the ids of its sentences. */
export interface Segment {
  id: string; text: string; page: number | null; heading: string | null; contested: boolean;
  source?: string; sentences?: [number, number][]; place?: string; kind?: string; ids?: string[];
}
interface Found { found: { id: string; score: number | null }[]; shown?: string[]; sentences?: number; }
export interface Retrieval extends Found { paper: string; of: string; query: string; }
/** A document of the user, as the input of a grounded run names it. */
export interface Source { id: string; name: string; title: string; digest?: string; path?: string; left_out?: LeftOut[]; }
interface LeftOut { reason: string; words: number; pages: number[]; }
export interface Failure { role: string; speaker: string; fault: string; }
export interface Node {
  id: string; parent: string | null; children: string[]; kind: string; in_turn: boolean; protocol: string;
  round: number; text: string; stance: Stance | null; depth: number; status: "open" | "answered" | "missing";
  stopped: string | null; verdict: Verdict | null; earlier: Verdict[]; provenance: string[];
  scores: { [name: string]: number }; transcript: Turn[]; comparisons: Comparison[]; retrievals: Retrieval[];
  notes: string[]; failures: Failure[]; data: Fields; dropped: boolean; added: boolean;
}
export interface Usage {
  calls: number; calls_from_cache: number; prompt_tokens: number; completion_tokens: number; cost: number | null;
  wall_s: number; critical_path_calls: number;
}
export interface DeclaredPhase { role: string; phase?: string; captions?: Texts; editable?: string[]; }
export interface Score { sign: string; meaning: string; above?: string; at_root?: [string, string]; beside?: string; }
export interface Look {
  captions?: Texts; facing?: string[]; together?: string[]; side?: string; tasks?: Texts; stops?: Texts;
  scores?: { [name: string]: Score }; signs?: string; weighing?: string[]; comparing?: string[];
}
export interface Order { phases?: string[]; closing?: string[]; }
export interface Declared {
  title: string; method?: string; summary?: string; view?: string; unit?: string; order?: Order; look?: Look;
  phases?: DeclaredPhase[];
}
export interface Tree { nodes: { [id: string]: Node }; segments: { [id: string]: Segment }; }
export interface Moved { node: string; before: Verdict | null; after: Verdict | null; }
export interface Contest {
  run: string; changes: string[]; before: number | null; after: number | null; why: string; moved?: Moved[];
  overrides?: { id: string; what: string }[];
}
export interface RunRecord {
  run_id: string; thread?: string | null; protocol: string; method: string; status: string; demonstration: boolean;
  input: Fields; settings: Fields; models: Texts; declared: { [protocol: string]: Declared }; contest: Contest | null;
  verdict: Verdict | null; tree: Tree; usage: Usage; notices: string[]; started: string; ended: string | null;
}
/** What a list shows of a run. */
export interface Head {
  run_id: string; protocol: string; method: string; status: string; question: string;
  verdict: Verdict | null; contests: string | null; evaluated: { evaluation: string; row: string; item: string } | null; waits: boolean;
  started: string; calls: number; cost: number | null;
}
export interface Event { n: number; t: string; run_id: string; node: string; kind: string; data: Fields; }

/** Return a share with two decimals, or more where it would wrongly read as 0, 0.5 or 1. */
export function figure(value: number | null | undefined): string {
  if (value == null) return "–";
  for (let digits = 2; digits < 7; digits++) {
    const near: number = Number(value.toFixed(digits));
    if (near === value || ![0, 0.5, 1].includes(near)) return value.toFixed(digits);
  }
  return `${value > 0.5 ? "<" : ">"}${Number(value.toFixed(1))}`;
}

/** Return a share in percent: `65 %`, with digits where it would wrongly read as 0, 50 or 100 %. */
export function percent(value: number): string {
  for (let digits = 0; digits < 4; digits++) {
    const near = Number((100 * value).toFixed(digits));
    if (Math.abs(near - 100 * value) < 1e-9 || ![0, 50, 100].includes(near)) return `${near.toFixed(digits)} %`;
  }
  return value > 0.5 ? "< 100 %" : "> 0 %";
}

const ORIGINS: Texts = {
  judge: "as the judge rated it", judges: "the judge's rating, times that of the weakest part", jury: "as the jury rated it",
  agreement: "the share of equal votes", person: "set by a person", "P(claim)": "computed from the arguments",
};
/** Return what a confidence is made of, in words. */
export const origin = ({ confidence_source: from }: Verdict) => from && (ORIGINS[from] ?? `by the ${label(from).toLowerCase()}`);
/** Whether a verdict's figure is the probability of a claim. */
export const isProbable = (of?: Verdict | null) => of?.probability != null || of?.confidence_source === "P(claim)";

/** Return the first `most` sentences of a text, at most `room` characters, and the rest. */
export function opening(text: string, most: number, room: number): [string, string] {
  const found = text.match(/[^]*?[.!?。！？]["”’)]*(?=\s|$)/g) ?? [];
  let first = "";
  for (const sentence of found.slice(0, most)) if ((first + sentence).length <= room) first += sentence;
    else break;
  if (!first && text.length <= room) first = text;
  return [first.trim(), text.slice(first.length).trim()];
}

/** Return the second figure of a verdict, as report/verdicts.py; empty without a calibration. */
export const calibrated = (verdict?: Verdict | null) =>
  verdict?.calibrated && `${figure(verdict.calibrated.confidence)} calibrated (n = ${verdict.calibrated.n.toLocaleString("en")})`;

export const label = (name: string) => name.replaceAll("_", " ").trim().replace(/^./, (first) => first.toUpperCase());

/** Return text that fits into `most` characters, cut between two words. */
export function short(text: string, most = 90): string {
  const flat = text.replace(/\s+/g, " ").trim();
  if (flat.length <= most) return flat;
  const cut = flat.slice(0, most);
  return `${cut.slice(0, Math.max(cut.lastIndexOf(" "), most / 2))} …`;
}

/** Return what there is to say, with dots between. */
export const joined = (...parts: (string | false | null | undefined)[]) => parts.filter(Boolean).join(" · ");
export const count = (number: number, unit: string) => `${number} ${unit}${number === 1 ? "" : "s"}`;
export const when = (stamp: string) => stamp && new Date(stamp).toLocaleString();

export const declaredOf = (record: RunRecord, protocol = ""): Declared =>
  record.declared[protocol || record.protocol] ?? { title: protocol || record.protocol };

/** Return what the protocols of a run declare of its look; the run's own comes first. */
export function lookOf(record: RunRecord): Look {
  const looks = [declaredOf(record), ...Object.values(record.declared)].map((one) => one.look ?? {}).reverse();
  const all = (name: "captions" | "scores" | "stops" | "tasks") => Object.assign({}, ...looks.map((one) => one[name]));
  return { ...Object.assign({}, ...looks), captions: all("captions"), scores: all("scores"), stops: all("stops"), tasks: all("tasks") };
}

/** Return the settings of a protocol that takes part in a run. */
export function settingsOf(record: RunRecord, protocol = ""): Fields {
  const inside = (settings: Fields): [string, Fields][] =>
    (Object.entries(settings.inner ?? {}) as [string, Fields][]).flatMap((one) => [one, ...inside(one[1])]);
  const found = inside(record.settings).find(([name]) => name === protocol);
  return found && protocol !== record.protocol ? found[1] : record.settings;
}

export function phaseOf(record: RunRecord, turn: Turn): DeclaredPhase | undefined {
  const ofRole = (declaredOf(record, turn.protocol).phases ?? []).filter((one) => one.role === turn.role);
  return ofRole.find((one) => one.phase === turn.phase) ?? ofRole.find((one) => !one.phase);
}

/** Return a speaker, by the label that they defend where labels tell the speakers of a pass apart. */
export function speakerOf({ transcript }: Node, { take, speaker }: Turn): string {
  const labels = new Map<string, string>();
  for (const one of transcript)
    if (one.take === take && one.label && !labels.has(one.speaker)) labels.set(one.speaker, one.label);
  return new Set(labels.values()).size === labels.size ? (labels.get(speaker) ?? speaker) : speaker;
}

/** Return the name by which a turn is contested and linked, as records/turns.py. */
export function turnName(node: Node, turn: Turn): string {
  const { role, round, take } = turn;
  const names = ["role", "speaker", "round", "take"] as const;
  const alike = (one: Turn) => names.every((name) => one[name] === turn[name]);
  const phases = new Set(node.transcript.filter(alike).map((one) => one.phase));
  const who = speakerOf(node, turn);
  const numbered = round && /^\d/.test(who) ? `${role}_${who}/${round}` : `${who}${round || ""}`;
  return `${node.id}/${numbered}${phases.size > 1 ? `/${turn.phase}` : ""}${take > 1 ? `@${take}` : ""}`;
}

/** Return who speaks, in words: `Debater A`, `Leaf judge`. */
export function speaking(node: Node, turn: Turn): string {
  const who = speakerOf(node, turn);
  return label(who === turn.role ? turn.role : `${turn.role} ${who.length < 2 ? who.toUpperCase() : who}`);
}

/** Of a sentence `s2:17.3`, the segment `s2:17` and the source `s2`. */
export const segmentId = (id: string) => id.replace(/\.\d+$/, "");
export const sourceId = (id: string) => id.split(":")[0]!;

/** Return the sentences of a segment or a block, and what stands between them; Python counts whole characters. */
export function piecesOf(of: Segment): { id: string; words: string }[] {
  const { text, sentences = [], ids = sentences.map((_, n) => `${of.id}.${n + 1}`) } = of;
  const letters = [...text];
  const cut = (id: string, from = 0, to = letters.length) => ({ id, words: letters.slice(from, to).join("") });
  const ends = [0, ...sentences.map(([, to]) => to)];
  const parts = sentences.flatMap(([from, to], n) => [cut("", ends[n], from), cut(ids[n]!, from, to)]);
  return [...parts, cut("", ends.at(-1))];
}

/** Return every text in a value. */
export function texts(value: Json): string[] {
  if (typeof value === "string") return [value];
  if (Array.isArray(value)) return value.flatMap(texts);
  return value && typeof value === "object" ? Object.values(value).flatMap(texts) : [];
}
