/** The answer with its reasons, how far a debate is, and the bar with search and time. */

import { useEffect, useState } from "preact/hooks";
import { Acts, Edit, stops, Trial } from "./act";
import {
  ask, at, captionOf, declared, finished, foldBelow, folded, following, followNewest, hasMoved, heard, hits, isOut, isWeighed, length,
  live, nodes, pick, query, record, recorded, ROOT, share, shut, sort, touched,
} from "./model";
import { Answer, Bar, Figure, Jump, Link, Listed, More, Notes, Part, Search, Select, Stance, To, typed, Value } from "./parts";
import { Cites } from "./sources";
import {
  calibrated, count, type Event, figure, isProbable, type Json, joined, label, type Node, opening, origin, percent, short, speaking, texts, type Turn, type Verdict, when,
} from "./record";
import { TakeHome } from "./take";

const DEMONSTRATION = "A model answered that is no better than chance: see how it works, and no more.";
const isIllustration = (note: string) => note.startsWith("an illustration:");
const moved = (before?: number | null, after?: number | null) => (
  <span class="share">{figure(before)} → {figure(after)}</span>
);

export function Contest() {
  const contest = record.value.contest;
  if (!contest) return null;
  const { run: id, before, after, moved: all = [] } = contest;
  return (
    <section class="contest">
      <p class="name">
        <span title={id}>This contests {ask.value ? <To id={id}>an earlier run</To> : "an earlier run"}</span>
        {ask.value && <> · <To id={id} other={record.value.run_id}>both beside each other</To></>}
      </p>
      <ul>{contest.changes.map((one) => <li key={one} dir="auto">{one}</li>)}</ul>
      {(before !== null || after !== null) && <p>{moved(before, after)}</p>}
      <p class="soft" dir="auto">{contest.why}</p>
      <Listed in={More} name={`${count(all.length, "node")} moved`} of={all} each={({ node, before, after }) => (
        <li key={node}><Link id={node} /> {moved(before?.confidence, after?.confidence)}</li>
      )} />
    </section>
  );
}

const took = (seconds: number) => (seconds >= 60 ? `${(seconds / 60).toFixed(1)} min` : `${seconds.toFixed(1)} s`);
/** What the calls so far took. */
function sums(): string {
  const of = folded.value.usage;
  return joined(
    count(of.calls, "call"), of.calls_from_cache > 0 && `${of.calls_from_cache} from the cache`,
    `${(of.prompt_tokens + of.completion_tokens).toLocaleString("en")} tokens`, of.cost !== null && `cost ${of.cost}`,
    of.wall_s > 0 && took(of.wall_s), of.critical_path_calls > 0 && `${of.critical_path_calls} calls after one another`,
  );
}

/** How the run was made: its id, what it took, its models and settings. */
export function Sums() {
  const { input, run_id: id, started, models, settings } = record.value;
  const { question: _, options: __, sources: ___, ...more } = input;
  return (
    <More name={`About this run: ${sums()}`}>
      <p class="soft">
        {joined(declared.value.method || declared.value.title, when(started))} · <span class="id">{id}</span> ·{" "}
        <code>dialectree show {id}</code>
      </p>
      {Object.keys(more).length > 0 && <Value value={more} />}
      <Part name="Models"><Value value={models} /></Part>
      <Part name="Settings"><Value value={settings} /></Part>
    </More>
  );
}

/** The figure of the verdict, in words: before and after a person's changes. */
function Sure({ of, root, value }: { of: Verdict | null; root?: Node; value?: number | null }) {
  if (value == null) return null;
  const probable = isWeighed(root) || isProbable(of);
  const trial = root && hasMoved(root);
  const words = probable
    ? `${percent(value)} probability that it is true`
    : `confidence ${figure(value)}`;
  const made = of?.calibrated && !trial ? `as the ${of.confidence_source} said; ${calibrated(of)}` : of && origin(of);
  const before = trial && recorded(root);
  return (
    <p class="sure">
      <Bar value={value} /> <b>{words}</b>{probable && Math.abs(value - 0.5) < 0.1 && ", close to undecided"} {made && <span class="soft">{made}</span>}
      {trial && <span class="moved"> tried out; it was {probable ? percent(before as number) : figure(before as number)}</span>}
    </p>
  );
}

/** The strongest argument on each side, as weighed now. */
function Strongest({ root }: { root: Node }) {
  const below = root.children.flatMap((id) => nodes.value.get(id) ?? []).filter((one) => !isOut(one));
  const best = (["support", "attack"] as const).flatMap((side) => {
    const ranked = below.filter((one) => one.stance === side).sort((a, b) => (share(b) ?? 0) - (share(a) ?? 0));
    return ranked.slice(0, 1);
  });
  return (
    <ul class="plain strongest">
      {best.map((one) => (
        <li key={one.id}>
          <Stance of={one.stance} /><Figure value={share(one)} stance={one.stance} />{" "}
          <Jump to={one.id} class="link"><bdi>{short(one.text, 280)}</bdi></Jump>
        </li>
      ))}
    </ul>
  );
}

/** The reasons in one or two sentences, and the sentence of a source that decides. */
function Why({ of, root }: { of: Verdict; root?: Node }) {
  const argued = isWeighed(root) && root!.children.some((id) => nodes.value.get(id)?.stance);
  const told = argued || of.rationale === of.answer || partsOf(of, root).length ? "" : of.rationale ?? "";
  const [first, rest] = opening(told, 2, 360);
  const [[lead, ...others], { notes }] = [(of.grounds ?? []).map((one) => one.id), of];
  return (
    <>
      {argued && <Strongest root={root!} />}
      {first && <p class="prose" dir="auto">{first}</p>}
      {rest && (first ? <More name="All the reasons"><p class="prose" dir="auto">{rest}</p></More>
        : <p class="prose" dir="auto">{rest}</p>)}
      {lead && <Cites of={[lead]} name="It rests on" />}
      {others.length > 0 && <More name={count(others.length, "more sentence")}><Cites of={others} /></More>}
      <Notes of={notes.filter((one) => !isIllustration(one))} />
    </>
  );
}

/** A sentence of an answer, and the topics and segments that it rests on. */
interface Said { part: string; text: string; nodes: Json; segments: Json; faults: Json; }

/** The sentences of an answer by their part; none once a person has given another answer. */
function partsOf(of: Verdict | null, root?: Node): [string, Said[]][] {
  const all = Array.isArray(root?.data.sentences) ? (root.data.sentences as unknown as Said[]) : [];
  const told = `${of?.answer ?? ""} ${of?.rationale ?? ""}`;
  if (!all.every((one) => typeof one?.text === "string" && told.includes(one.text))) return [];
  const parts = [...new Set(all.map(({ part }) => String(part)))];
  return parts.map((part) => [part, all.filter((one) => String(one.part) === part)]);
}

/** An answer of several sentences, in lists by their part. */
const Parted = ({ parts }: { parts: [string, Said[]][] }) => (
  <div class="parted">{parts.map(([part, all]) => (
    <section key={part}>
      <h2>{captionOf(part.replace(/y?$/, (end) => (end ? "ies" : "s")))}</h2>
      <ul>{all.map(({ text, nodes: topics, segments, faults }) => (
        <li key={text}>
          <span dir="auto">{text}</span>
          <Notes of={texts(faults)} />
          <Listed in={More} name="What it rests on" of={[...texts(topics), ...texts(segments)]}
            each={(id) => <li key={id}>{nodes.value.has(id) ? <Link id={id} /> : <Cites of={[id]} />}</li>} />
        </li>
      ))}</ul>
    </section>
  ))}</div>
);

/** The answer, once and whole: a short one large, a long one with its first sentence large. */
function Lead({ of, root }: { of: Verdict | null; root?: Node }) {
  if (of?.answer == null) {
    const over = !live.value && folded.value.status !== "running" && folded.value.status !== "partial";
    return <p class="lead none">{over ? "There is no answer." : "There is no answer yet."}</p>;
  }
  const value = root && share(root);
  const flips = root && isWeighed(root) && hasMoved(root) && value !== undefined && /^(True|False)$/.test(of.label ?? "");
  const parts = partsOf(of, root);
  if (parts.length) return <Parted parts={parts} />;
  const [first, rest] = opening(of.answer, 1, 170);
  if (flips) return <Answer kind="lead" of={{ ...of, label: null, answer: value > 0.5 ? "True" : "False" }} />;
  return (
    <>
      <Answer kind={first ? "lead" : "prose"} of={{ ...of, answer: first || of.answer }} />
      {first && rest && <p class="prose" dir="auto">{rest}</p>}
    </>
  );
}

/** The calls that a debate takes, as its beginning estimated them. */
function expected(): number | null {
  const began = heard().find((one) => one.kind === "began");
  const [least, most] = (began?.data.estimate ?? []) as number[];
  return least === undefined ? null : Math.max(Math.round((least + most!) / 2), folded.value.usage.calls);
}
const since = (told?: Event) => (told?.t ? Math.max(0, (Date.now() - Date.parse(told.t)) / 1000) : 0);

function who({ node: id, data }: Event): string {
  const node = nodes.value.get(id);
  return node ? speaking(node, { speaker: data.role, take: 1, ...data } as unknown as Turn) : captionOf(String(data.role));
}

/** How far a live debate is: the call, the phase, the time that is left; at first, what is prepared. */
function Progress() {
  const [, tick] = useState(0);
  useEffect(() => {
    const timer = live.value ? setInterval(() => tick((n) => n + 1), 1000) : undefined;
    return () => clearInterval(timer);
  }, [live.value]);
  const { calls } = folded.value.usage;
  const calling = [...folded.value.calling.values()];
  const about = expected();
  const phase = calling[0] && captionOf(String(calling[0].data.phase || calling[0].data.role));
  if (!calls && !calling.length)
    return <p role="status">Preparing: {record.value.input.sources ? "the sources are read and searched" : "the debate is set up"} …</p>;
  const left = about && calls ? ((about - calls) * since(heard()[0])) / calls : 0;
  const now = about && about > calls ? `call ${calls + 1} of about ${about}` : `call ${calls + 1}`;
  return (
    <div class="progress" role="status">
      {about && <progress max={about} value={calls} aria-label="Calls so far" />}
      <p>{joined(now, phase, left > 1 && `some ${took(Math.ceil(left)).replace(".0", "")} left`)}</p>
      <ul class="plain">{calling.slice(0, 4).map((one) => (
        <li key={one.n}>
          <b>{who(one)}</b> {WAITS[String(one.data.why)] ?? "writes"}
          {nodes.value.size > 1 && <> at <Link id={one.node} most={60} /></>} <span class="soft">{Math.round(since(one))} s</span>
        </li>
      ))}</ul>
      {calling.length > 4 && <p class="soft">and {calling.length - 4} more</p>}
      {nodes.value.size > 0 && (
        <button aria-pressed={following.value} onClick={() => ((following.value = !following.value), followNewest())}>
          Follow the newest turn
        </button>
      )}
    </div>
  );
}
const WAITS: { [why: string]: string } = {
  queued: "waits for its turn", starting: "waits for the model to start", rate_limit: "waits: the endpoint asks for a pause",
  retry: "tries again",
};

const BY_PERSON = "interrupted";
/** What was reached before a stop, and what going on would ask. */
function Stopped({ notices }: { notices: string[] }) {
  const about = expected();
  const { calls, wall_s: seconds } = folded.value.usage;
  const spoke = heard().findLast((one) => one.kind === "spoke");
  const rest = about ? Math.max(1, about - calls) : 0;
  const pace = calls && seconds ? `, some ${took((rest * seconds) / calls)}` : "";
  return (
    <p class="note">
      {notices.includes(BY_PERSON) ? "You stopped it" : "It stopped"} after {about ? `${calls} of about ${about} calls` : count(calls, "call")}
      {spoke && `; the last turn was in: ${captionOf(String(spoke.data.phase || spoke.data.role))}`}.
      {rest > 0 && ` Going on takes about ${count(rest, "call")} more${pace}; nothing is paid twice.`}
    </p>
  );
}

export function Head() {
  const of = record.value;
  const root = nodes.value.get(ROOT);
  const { method, title } = declared.value;
  const { verdict, status: told, notices } = folded.value;
  const status = told === "running" && finished.value && !live.value ? of.status : told; // a kill tells no end
  const value = root && (isWeighed(root) || touched.value) ? share(root) : verdict?.confidence;
  const given = of.input.options;
  const options = Array.isArray(given) ? given.map(String) : [];
  const letters = options.map((_, n) => String.fromCharCode(65 + n));
  const papers = (Array.isArray(of.input.papers) ? of.input.papers : []) as { name?: string; title?: string }[];
  const word = stops.value.length ? "waits for you" : status;
  return (
    <header data-status={word}>
      <p class="kicker">{method || title}{word !== "answered" && <> · <span class="warn">{word}</span></>}</p>
      <h1 dir="auto">{short(String(of.input.question ?? of.run_id), 400)}</h1>
      {options.length > 0 && <ul class="options">{options.map((text, n) => (
        <li key={n} class={letters[n] === verdict?.label ? "chosen" : ""} dir="auto">
          <span class="letter">{letters[n]}</span> {text}
        </li>
      ))}</ul>}
      {papers.length > 1 && <ul class="options">{papers.map(({ name, title }, n) => (
        <li key={n} dir="auto"><span class="soft">Paper {String.fromCharCode(97 + n)}:</span> {title || name}</li>
      ))}</ul>}
      {of.demonstration && <p class="note">{DEMONSTRATION}</p>}
      <Notes of={verdict?.notes.filter(isIllustration) ?? []} />
      {live.value && of.status === "running" && !verdict ? !stops.value.length && <Progress /> : (
        <div class="verdict" aria-live="polite">
          <Lead of={verdict} root={root} />
          <Sure of={verdict} root={root} value={value} />
          {verdict && <Why of={verdict} root={root} />}
        </div>
      )}
      {status === "partial" && !live.value && finished.value && <Stopped notices={notices} />}
      <Notes of={notices.filter((one) => one !== BY_PERSON)} />
      {root?.status === "answered" && (
        <div class="next">
          <Edit where={ROOT} name="Contest the answer" text={verdict?.label ?? verdict?.answer ?? ""}
            may={isWeighed(root) ? ["add support", "add attack"] : ["verdict"]} />
          <TakeHome />
        </div>
      )}
    </header>
  );
}

function Time() {
  const [playing, setPlaying] = useState(false);
  useEffect(() => {
    if (!playing) return;
    const timer = setInterval(() => {
      if (at.value >= length.value) return setPlaying(false);
      at.value += 1;
      const id = heard()[at.value - 1]!.node;
      if (nodes.value.has(id)) pick(id, "", false);
    }, Math.max(40, Math.min(500, 30_000 / length.value)));
    return () => clearInterval(timer);
  }, [playing]);
  const play = () => {
    if (!playing && finished.value) at.value = 1;
    setPlaying(!playing);
  };
  const { kind = "", node = ROOT } = heard()[at.value - 1] ?? {};
  const where = node !== ROOT && nodes.value.get(node);
  const said = `${label(kind)}${where ? `: ${short(where.text, 60)}` : ""}`;
  const place = `${at.value} of ${length.value}`;
  const moves = { min: "1", max: length.value, value: at.value, "aria-valuetext": `${place}: ${said}` };
  return (
    <div class="time">
      <button onClick={play} aria-label={playing ? "Pause" : "Play the events"}>{playing ? "❚❚" : "▶"}</button>
      <span class="soft">Replay</span>
      <input type="range" {...moves} aria-label="Event" onInput={typed((text) => (at.value = Number(text)))} />
      <span class="soft moment">{place}<span> · {said}</span></span>
      {!finished.value && <button onClick={() => (at.value = length.value)}>To the end</button>}
    </div>
  );
}

function Browse() {
  const folding = [...nodes.value.values()].some((node) => node.depth > 0 && node.children.length);
  return (
    <>
      <Search words="Search in all that was said" value={query.value} use={(text) => (query.value = text)} />
      {hits.value && <span class="soft" role="status">{hits.value.size} found</span>}
      <label>Sort <Select of={["as debated", "by figure"]} value={sort.value} use={(by) => (sort.value = by)} /></label>
      {folding && <button onClick={() => (shut.value = new Set())}>Unfold</button>}
      {folding && <button onClick={() => foldBelow(1)}>Fold</button>}
    </>
  );
}

export const Tools = () => (
  <section class="tools" aria-label="Search and time">
    {nodes.value.size > 1 && <Browse />}
    {length.value > 0 && <Time />}
    <Acts />
    <Trial />
    {live.value && <span class="soft">{sums()}</span>}
  </section>
);
