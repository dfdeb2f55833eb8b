/** The user's own documents: what was retrieved of them, what speakers draw from it, how that was checked. */

import { computed } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { Edit, quoted } from "./act";
import { beside, debate, json } from "./data";
import { ask, captionOf, folded, nodes, openSource, printing, record, source, sources } from "./model";
import { Jump, Later, Listed, More, Notes, Part, Reading, Some } from "./parts";
import {
  count, type Fields, joined, label, type Node, piecesOf, type Point, type Retrieval, type Segment, segmentId, short,
  type Source, sourceId, speaking, type Texts, texts, type Turn, turnName,
} from "./record";

/** What the checker says of a point. */
interface Mark { point: string; verdict: string; reason: string; }
const MARKS: Texts = { yes: "✓ Borne out", no: "✗ Not borne out", contradicts: "⚠ Contradicted" };
const marked = (verdict: string) => MARKS[verdict] ?? verdict;

export function marksOf({ role, fields: { marks } }: Turn): Mark[] {
  const all = role === "checker" && Array.isArray(marks) ? (marks as Fields[]) : [];
  return all.filter((one) => typeof one?.point === "string") as unknown as Mark[];
}

/** The segments by source, the turns that cite a sentence by its id, the points by source, the marks by point. */
const drawn = computed(() => {
  const segments = new Map<string, Segment[]>(sources.value.map(({ id }) => [id, []]));
  for (const one of folded.value.segments.values()) segments.get(sourceId(one.id))?.push(one);
  const [citing, points] = [new Map<string, Set<string>>(), new Map<string, Set<string>>()];
  const marks = new Map<string, Mark>();
  const found = [...nodes.value.values()].flatMap(({ retrievals }) => retrievals);
  const total = Math.max(0, ...found.map(({ sentences = 0 }) => sentences));
  const add = (to: typeof citing, key: string, one: string) => to.set(key, (to.get(key) ?? new Set()).add(one));
  for (const node of nodes.value.values())
    for (const turn of node.transcript) {
      const { evidence = [], rests_on = [] } = turn;
      for (const one of marksOf(turn)) marks.set(one.point, one);
      for (const { id, sentences } of evidence) for (const one of sentences) add(points, sourceId(one), id);
      const cited = [...evidence.flatMap((one) => one.sentences), ...rests_on];
      for (const one of cited) add(citing, one, turnName(node, turn));
    }
  const shown = [...new Set(found.flatMap(({ shown = [] }) => shown))].filter((id) => !isDropped(id));
  const seen = shown.flatMap((id) => folded.value.segments.get(id)?.sentences ?? []).length;
  return { segments, citing, points, marks, seen: total > 0 && `${seen} of ${count(total, "sentence")} shown` };
});

/** Who speaks in a turn, by the turn's name. */
function citerOf(name: string): string {
  const node = nodes.value.get(name.split("/")[0]!);
  const turn = node?.transcript.find((one) => turnName(node, one) === name);
  return node && turn ? `${speaking(node, turn)}${turn.phase && `, ${captionOf(turn.phase).toLowerCase()}`}` : name;
}
const citersOf = (one: Segment) => new Set(piecesOf(one).flatMap(({ id }) => [...(drawn.value.citing.get(id) ?? [])]));

/** Whether a person took out a source, or a segment alone or with its source. */
const isDropped = (id: string) =>
  record.value.contest?.overrides?.some((one) => one.what === "dropped" && [id, sourceId(id)].includes(one.id));

/** What a person may do to a source or a segment; what an earlier contest did to it can be taken back. */
function Contesting({ id, text }: { id: string; text?: string }) {
  const now = isDropped(id) ? [] : text === undefined ? ["drop"] : ["replace", "drop"];
  const may = record.value.contest?.overrides?.some((one) => one.id === id) ? [...now, "restore"] : now;
  return may.length > 0 && <Edit key={id} where={id} text={now.length ? text : undefined} may={may} open={text === undefined} />;
}

/** What would move without a source: the turns that cite it, and the verdict. */
function Moves({ id }: { id: string }) {
  const { citing } = drawn.value;
  const turns = new Set([...citing].flatMap(([sentence, names]) => (sourceId(sentence) === id ? [...names] : [])));
  const decides = folded.value.verdict?.grounds?.some((one) => sourceId(one.id) === id);
  if (isDropped(id)) return null;
  return (
    <p class="soft">
      {turns.size ? `Without it, ${count(turns.size, "turn")} that cited it, and what followed, would be asked again.` : "Nobody cites it."}
      {decides && " The verdict rests on it."}
    </p>
  );
}

/** Where a sentence stands: on a page, or in a passage of a text without pages. */
const placeOf = (segment?: Segment) =>
  segment && (segment.page != null ? `, p. ${segment.page}` : `, ${segment.place || `passage ${segment.id.split(":")[1]}`}`);

/** Sentences, each by where it stands and with its words; the source opens at it. */
export function Cites({ of, name }: { of: string[]; name?: string }) {
  const { segments } = folded.value;
  const each = (id: string) => {
    const segment = segments.get(segmentId(id));
    const of = segment?.source || sources.value.find((one) => one.id === sourceId(id))?.name || `paper ${sourceId(id)}`;
    const place = <bdi>{of}{placeOf(segment)}</bdi>;
    const words = segment && piecesOf(segment).find((one) => one.id === id)?.words;
    return (
      <li key={id}>
        {beside.value ? place : <Jump to={id}>{place}</Jump>}{" "}
        {words && <q dir="auto">{short(words, printing.value ? Infinity : 240)}</q>}
      </li>
    );
  };
  return of.length > 0 && <>{name && <p class="name">{name}</p>}<ul class="cites">{of.map(each)}</ul></>;
}

/** Points with their sentences, and what the checker says of each. */
const Drawn = ({ of }: { of: Point[] }) => <>{of.map(({ id, item, point, sentences }) => {
  const mark = drawn.value.marks.get(id);
  return (
    <div key={id} class="point">
      <p class="prose" dir="auto">{item ? <span class="soft">{item}. </span> : ""}{point}</p>
      <Cites of={sentences} />
      {mark && <p class="check"><b>{marked(mark.verdict)}.</b> <bdi>{mark.reason}</bdi></p>}
    </div>
  );
})}</>;

/** What a turn draws from the sources, what a checker says in all, or what a ruling rests on. */
export function Points({ turn }: { turn: Turn }) {
  const { evidence = [], rests_on = [] } = turn;
  const all = marksOf(turn).map((one) => marked(one.verdict));
  return (
    <>
      {[...new Set(all)].map((one) => <p key={one}>{one}: {count(all.filter((mark) => mark === one).length, "point")}</p>)}
      {evidence.length > 0 && <p class="name">Evidence</p>}
      <Drawn of={evidence} />
      <Cites of={rests_on} name="Rests on" />
    </>
  );
}

/** The points for a node that was an item of a reply at its parent, such as an argument. */
export function OwnPoints({ node }: { node: Node }) {
  const said = nodes.value.get(node.parent ?? "")?.transcript ?? [];
  const own = said.flatMap(({ evidence = [], fields }) => evidence.filter(({ item }) =>
    item && Object.values(fields).some((all) => Array.isArray(all) && texts(all[item - 1]!).includes(node.text))));
  return own.length > 0 && <Part name="Evidence"><Drawn of={own.map((one) => ({ ...one, item: 0 }))} /></Part>;
}

/** What was searched for at a node, and what was found: the segments of papers by their ids. */
export const Searches = ({ of, name }: { of: Retrieval[]; name: string }) => (
  <Listed in={More} name={name} of={of} each={({ paper, of, query, found }) => (
    <li key={paper + of}>
      <span class="soft">{paper || label(of)}:</span> <bdi>{query || "all of the sources"}</bdi>{" "}
      <span class="soft">
        {paper ? found.map(({ id, score }) => `${id} (${score?.toFixed(2)})`).join(", ") : count(found.length, "segment")}
      </span>
    </li>
  )} />
);

function Facts({ of: { id, name, title, left_out = [] } }: { of: Source }) {
  const all = drawn.value.segments.get(id)!;
  const [points, left] = [drawn.value.points.get(id)?.size ?? 0, all.filter((one) => !citersOf(one).size).length];
  const facts = isDropped(id) ? "dropped by a person" : joined(
    `${all.length ? count(all.length, "segment") : "nothing"} retrieved`,
    all.length > 0 && `cited in ${count(points, "point")}`, left > 0 && `${left} cited by nobody`,
  );
  const unread = left_out.map(({ reason, words, pages }) =>
    `${reason} (${joined(count(words, "word"), pages.length > 0 && `p. ${short(pages.join(", "), 40)}`)})`).join(", ");
  const lines = [facts, unread && `Left out of it: ${unread}`].filter(Boolean);
  return <>{title !== name && <p dir="auto">{title}</p>}{lines.map((line) => <p key={line} class="soft">{line}</p>)}</>;
}

/** All sources, those that are cited most first. */
export function Sources() {
  const { segments, points, seen } = drawn.value;
  const rank = ({ id }: Source) => (points.get(id)?.size ?? 0) * 1e6 + segments.get(id)!.length;
  const all = [...sources.value].sort((one, other) => rank(other) - rank(one));
  const name = <>Sources <span class="soft">{joined(`${all.filter(rank).length} of ${all.length} retrieved`, seen)}</span></>;
  return all.length > 0 && (
    <More kind="phase" open={all.length < 9} name={name}>
      <Some of={all} each={(one) => (
        <li key={one.id}><Jump to={one.id}><bdi>{one.name}</bdi></Jump><Facts of={one} /></li>
      )} />
    </More>
  );
}

/** A segment with its words, who cites it, and what a person may do to it. */
export function SegmentView({ one, children }: { one: Segment; children?: ComponentChildren }) {
  const [at, { citing }] = [source.value, drawn.value];
  const [citers, out] = [[...citersOf(one)], isDropped(one.id)];
  const linked = (id: string) => (id === at ? "linked" : "");
  return (
    <li class={`segment ${linked(one.id)} ${out ? "void" : ""}`} tabIndex={-1}>
      <p class="soft">
        {one.source ? <Jump to={one.id}>passage {one.id.split(":")[1]}</Jump> : <span class="id">{one.id}</span>}{" "}
        {joined(one.page !== null && `page ${one.page}`, one.place, one.heading, out && "dropped by a person")}
        {one.contested && !out && <span class="moved"> written by a person</span>}
      </p>
      {children ?? <p class="prose" dir="auto">{piecesOf(one).map(({ id, words }) =>
        citing.has(id) || linked(id) ? <mark key={id} class={linked(id)} tabIndex={-1}>{words}</mark> : words,
      )}</p>}
      {!out && one.source && <p class="soft">
        {citers.length ? "Cited by" : "Cited by nobody"}
        {citers.map((to, n) => <>{n ? ", " : " "}<Jump to={to}>{citerOf(to)}</Jump></>)}
      </p>}
      <Contesting id={one.id} text={one.text} />
    </li>
  );
}

/** All that was read of a source, asked for when it is opened; a cited sentence leads to its segment. */
function Whole({ of: { name, path, digest } }: { of: Source }) {
  const [read, setRead] = useState<{ blocks: Segment[]; notices: string[] } | string>("");
  if (!digest) return null;
  if (!ask.value) return path && <p class="soft">All that was read: <code>dialectree sources {quoted(path)}</code></p>;
  const load = () => json<typeof read>(`${debate(record.value.run_id)}/sources/${digest}`)
    .then(setRead, (error: Error) => setRead(error.message));
  const cited = (id: string) => drawn.value.citing.has(id) && !folded.value.segments.get(segmentId(id))?.contested;
  const block = (one: Segment, n: number, all: Segment[]) => (
    <li key={n} class={`block block-${one.kind}`}>
      {one.page !== null && one.page !== all[n - 1]?.page && <p class="soft">Page {one.page}</p>}
      <p class="prose" dir="auto">{piecesOf(one).map(({ id, words }) =>
        cited(id) ? <Jump key={id} to={id}><mark>{words}</mark></Jump> : words,
      )}</p>
    </li>
  );
  return (
    <Later name="All that was read" ask={load}>
      {() => typeof read !== "string"
        ? <><Notes of={read.notices} kind="soft" /><Some of={read.blocks} least={200} each={block} /></>
        : read ? <Notes of={[read]} kind="note bad" /> : <Reading what={name} />}
    </Later>
  );
}

/** A source beside the node: all that was retrieved of it, in its order, open at what is linked. */
export function SourcePane() {
  const [box, at] = [useRef<HTMLDivElement>(null), source.value];
  const one = sources.value.find(({ id }) => id === sourceId(at));
  const all = drawn.value.segments.get(one?.id ?? "") ?? [];
  const place = all.findIndex(({ id }) => id === segmentId(at));
  useEffect(() => {
    const from = document.activeElement as HTMLElement | null;
    return () => void setTimeout(() => from?.focus());
  }, []);
  useEffect(() => {
    const linked = box.current?.querySelector<HTMLElement>(".linked");
    linked?.scrollIntoView({ block: "center" });
    linked?.focus({ preventScroll: true });
  }, [at]);
  if (!one) return null;
  const [close, key] = [() => openSource(""), (event: KeyboardEvent) => event.key === "Escape" && openSource("")];
  return (
    <div class="pane source" role="region" ref={box} aria-label="The source" tabIndex={0} onKeyDown={key}>
      <button onClick={close}>Close</button>
      <h2 dir="auto" tabIndex={-1} class={place < 0 ? "linked" : ""}>{one.name}</h2>
      <Facts of={one} />
      {place < 0 && at !== one.id && <p class="note">{at} has not been retrieved.</p>}
      <Contesting id={one.id} />
      <Moves id={one.id} />
      <Whole key={one.id} of={one} />
      <Some key={at} of={all} least={Math.max(25, place + 5)} each={(one) => <SegmentView key={one.id} one={one} />} />
    </div>
  );
}
