/** How a record is put into words: figures, names of turns, captions. */

import type { Declared, DeclaredPhase, Fields, Json, Look, Node, RunRecord, Turn } from "./record";

/** Return a share with two decimals, or more where it would wrongly read as 0, 0.5 or 1. */
export function figure(value: number | null | undefined): string {
  if (value == null) return "–";
  for (let digits = 2; digits < 7; digits++) {
    const near: number = Number(value.toFixed(digits));
    if (near === value || ![0, 0.5, 1].includes(near)) return value.toFixed(digits);
  }
  return `${value > 0.5 ? "<" : ">"}${Number(value.toFixed(1))}`;
}

export function label(name: string): string {
  const words = name.replaceAll("_", " ").trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

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
  const all = (name: "scores" | "stops" | "tasks") => Object.assign({}, ...looks.map((one) => one[name]));
  return { ...Object.assign({}, ...looks), scores: all("scores"), stops: all("stops"), tasks: all("tasks") };
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
function speakerOf({ transcript }: Node, { take, speaker }: Turn): string {
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

/** Return every text in a value. */
export function texts(value: Json): string[] {
  if (typeof value === "string") return [value];
  if (Array.isArray(value)) return value.flatMap(texts);
  return value && typeof value === "object" ? Object.values(value).flatMap(texts) : [];
}
