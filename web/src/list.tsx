/** The list of runs, searched, filtered, sorted; the evaluations; and two runs beside each other. */

import { signal } from "@preact/signals";
import { useState } from "preact/hooks";
import { debate, get, json, titles, useReading } from "./data";
import { Ruling } from "./detail";
import { restart } from "./model";
import { acts } from "./act";
import { Figure, Go, Later, Reading, Search, Select, Some, Stance, To, Value } from "./parts";
import { Points } from "./sources";
import type { Head, Moved, RunRecord, Turn, Verdict } from "./record";
import { calibrated, count, isProbable, joined, label, percent, phaseOf, short, speaking, turnName, when } from "./record";

/** What is asked of the list, and the runs to compare: they outlast a look into a run. */
const asked = signal({ text: "", protocol: "", status: "", sort: "newest" });
const chosen = signal<string[]>([]);
const STATUSES = ["", "running", "waiting", "answered", "partial", "degraded", "unresolved"];
const SORTS = ["newest", "figure", "cost", "calls", "question"];

/** A run of the list; `again` where the one above it is of the same question. */
function Item({ one, again }: { one: Head; again: boolean }) {
  const { run_id: id, evaluated, contests, verdict, cost } = one;
  const known = verdict?.confidence;
  const facts = joined(
    titles.value[one.method] || (titles.value.loaded && label(one.method)), one.waits ? "waits for a person" : one.status !== "answered" && one.status, count(one.calls, "call"),
    cost != null && `cost ${Number(cost.toPrecision(3))}`, !again && when(one.started),
  );
  const others = chosen.value.filter((other) => other !== id);
  const has = others.length < chosen.value.length;
  const choose = () => (chosen.value = has ? others : [...others, id].slice(-2));
  return (
    <li class={again ? "again" : ""} title={id}>
      <input type="checkbox" aria-label={`Compare ${id}`} title="Compare" checked={has} onChange={choose} />
      <div>
        <To id={id}>{again ? `the same, ${when(one.started)}` : short(one.question, 160)}</To>
        <p class="answer" dir="auto">{short(verdict?.answer ?? "", 160)}</p>
        <p class={one.waits ? "warn" : ""}>
          {known != null && (isProbable(verdict)
            ? <>probability that the claim is true {percent(known)} · </> : <>confidence <Figure value={known} /> · </>)}
          {joined(calibrated(verdict), facts)}
        </p>
        {evaluated && <p>{evaluated.row} · {evaluated.item} of {evaluated.evaluation}</p>}
        {contests && <p>contests <To id={contests}>another run</To> · <To id={contests} other={id}>what moved</To></p>}
      </div>
    </li>
  );
}

interface Evaluation {
  name: string; title: string; data: string; questions: number; started: string; report: boolean;
  /** Why it cannot be read. */
  damaged?: string;
  rows: { name: string; method: string; judged: number; accuracy: number | null; right?: number | null; asked?: number }[];
  /** The pages that were written: report, audit, route. */
  pages?: { name: string; href: string }[];
}

function EvaluationItem({ name, title, data, questions, started, damaged, rows, pages = [] }: Evaluation) {
  const place = `../evaluations/${encodeURIComponent(name)}`;
  if (damaged) return <li>{name}<p class="soft">It cannot be read: {damaged}</p></li>;
  return (
    <li>
      {pages[0] ? <a href={`../${pages[0].href}`}>{title || name}</a> : title || name}
      <p class="soft">
        {count(questions, "question")} of {data} · {when(started)}
        {pages.map((page) => <> · <a key={page.name} href={`../${page.href}`}>{page.name}</a></>)}
        {" · "}<a href={`${place}/page/`}>its runs</a>
      </p>
      {rows.map((row) => (
        <p key={row.name}>
          <Figure value={row.asked ? (row.right ?? 0) / row.asked : row.accuracy} /> {row.name}{" "}
          <span class="soft">{joined(row.method, row.asked ? `${row.right ?? 0} of ${row.asked} right` : `${row.judged} judged`)}</span>
        </p>
      ))}
    </li>
  );
}

export function List() {
  const [page, setPage] = useState<{ heads: Head[]; protocols: string[]; more: boolean }>();
  const [evaluations, setEvaluations] = useState<Evaluation[]>([]);
  const heads = page?.heads ?? [];
  const read = async (before: Head[], signal?: AbortSignal) => {
    const query = new URLSearchParams({ ...asked.value, after: before.at(-1)?.run_id ?? "" });
    const answer = await get(`debates?${query}`, { signal });
    const protocols = (answer.headers.get("protocols") ?? "").split(",").filter(Boolean).map(decodeURIComponent);
    setPage({ heads: [...before, ...((await answer.json()) as Head[])], protocols, more: answer.headers.has("link") });
  };
  useReading((stop) => read([], stop), [asked.value]);
  useReading((signal) => json<Evaluation[]>("evaluations", { signal }).then(setEvaluations), []);
  const ask = (name: string) => (text: string) => (asked.value = { ...asked.value, [name]: text });
  const word = (choice: string) => choice || "all";
  const choices = { protocol: ["", ...(page?.protocols ?? [])], status: STATUSES, sort: SORTS };
  const [one, other] = [...chosen.value].sort();
  const searched = Boolean(asked.value.text || asked.value.protocol || asked.value.status);
  const inside = location.pathname.includes("/evaluations/");
  return (
    <main class="list">
      {inside && <p class="soft"><a href="../../../page/">‹ All debates and evaluations</a></p>}
      <h1>Debates</h1>
      <div class="tools">
        <Search words="Search in questions and answers" value={asked.value.text} use={ask("text")} />
        {Object.entries(choices).map(([name, all]) => (
          <label key={name}>
            {label(name)} <Select of={all} words={word} value={asked.value[name as "sort"]} use={ask(name)} />
          </label>
        ))}
      </div>
      {page && !heads.length && (searched
        ? <p class="soft">There is no such run.</p>
        : <p>
            There is no debate here yet. {acts.value ? <Go to="?new" kind="button">Begin one</Go>
              : <>Begin one with <code>dialectree verify "Tea has more caffeine than coffee."</code></>}
            {" "}or play a recorded one: <code>dialectree demo</code>
          </p>)}
      <ul class="plain runs">
        {heads.map((each, n) => <Item key={each.run_id} one={each} again={heads[n - 1]?.question === each.question} />)}
      </ul>
      {page?.more && <button onClick={() => void read(heads)}>Show more</button>}
      <div class="chosen" role="status">
        {one && !other && <>Choose another run to compare with {one}</>}
        {one && other && <To id={one} other={other}>Compare {one} with {other}</To>}
      </div>
      {evaluations.length > 0 && <h2>Evaluations</h2>}
      <ul class="plain evaluations">{evaluations.map((each) => <EvaluationItem key={each.name} {...each} />)}</ul>
    </main>
  );
}

/** The difference of two runs as the server tells it; in each pair the first run comes first. */
interface Difference {
  contest: boolean; changes: string[]; why: string; only: string[][];
  moved: Moved[];
  parted: { node: string; name: string; turns: (Turn | null)[] }[];
}

const NAMES = ["first", "second"];
const Facing = ({ of }: { of: preact.ComponentChildren[] }) => (
  <div class="facing">{of.map((one, n) => <div key={n} class={`turn side-${n}`}>{one}</div>)}</div>
);

/** A turn as both runs have it, with the fields that differ. */
function Pair({ turns, runs }: { turns: (Turn | null)[]; runs: RunRecord[] }) {
  const view = (turn: Turn | null, n: number) => {
    const of = runs[n]!;
    const node = turn && of.tree.nodes[turn.node];
    if (!node) return <p class="soft">Nothing was said here.</p>;
    const name = turnName(node, turn);
    const same = (key: string) => JSON.stringify(turn.fields[key]) === JSON.stringify(turns[1 - n]?.fields[key]);
    const differ = Object.entries(turn.fields).filter(([key]) => !same(key));
    return (
      <>
        <p class="who">{speaking(node, turn)} <span class="soft"><To id={of.run_id} at={name}>{name}</To></span></p>
        <Value value={Object.fromEntries(differ)} captions={phaseOf(of, turn)?.captions} />
        {JSON.stringify(turn.evidence) !== JSON.stringify(turns[1 - n]?.evidence) && <Points turn={turn} />}
      </>
    );
  };
  return <Facing of={turns.map(view)} />;
}

/** A node that moved, at which the runs part, or that one of them alone has. */
function Place({ id, found, runs }: { id: string; found: Difference; runs: RunRecord[] }) {
  const nodes = runs.map((one) => one.tree.nodes[id]);
  const node = nodes[0] ?? nodes[1]!;
  const parted = found.parted.filter((one) => one.node === id);
  const { before, after } = found.moved.find((one) => one.node === id) ?? {};
  const figure = (of?: Verdict | null) => <Figure value={of?.confidence} stance={node.stance} />;
  const texts = nodes.map((one) => one?.text ?? "no such node");
  const answers = [before, after].map((one) => one?.answer ?? "no answer");
  return (
    <li style={{ marginInlineStart: `${Math.min(4, node.depth)}rem` }}>
      <Stance of={node.stance} /><span class="id">{id}</span> <bdi class="words">{short(node.text, 160)}</bdi>
      <p class="soft">
        {before?.confidence !== after?.confidence && <>{figure(before)} → {figure(after)} · </>}
        in the {runs.map((run, n) => nodes[n] && <To key={n} id={run.run_id} at={id}>{NAMES[n]} run</To>)}
      </p>
      {[texts, answers].filter(([one, other]) => one !== other).map((both, n) => (
        <Facing key={n} of={both.map((one) => <p class="prose" dir="auto">{one}</p>)} />
      ))}
      {parted.length > 0 && (
        <Later name={`${count(parted.length, "turn")} said otherwise`}>
          {() => parted.map((one) => <Pair key={one.name} turns={one.turns} runs={runs} />)}
        </Later>
      )}
    </li>
  );
}

export function Compare({ ids }: { ids: string[] }) {
  const [both, setBoth] = useState<[Difference, ...RunRecord[]]>();
  useReading(async (signal) => {
    const [one, other] = ids.map(debate);
    const paths = [`${one}/compare/${encodeURIComponent(ids[1]!)}`, one!, other!];
    const told = (await Promise.all(paths.map((path) => json(path, { signal })))) as [Difference, ...RunRecord[]];
    // An id in a reply means no node of the run that was shown before.
    restart(told[1]!, [], { nodes: {}, segments: {} });
    setBoth(told);
  }, ids);
  if (!both) return <Reading what={ids.join(" and ")} />;
  const [{ contest, changes, moved, parted, only, why }, ...runs] = both;
  const [one, other] = runs.map((run) => run.input.question);
  const alike = one === other && runs[0]!.protocol === runs[1]!.protocol;
  const title = alike ? short(String(one), 400) : `Two runs of different ${one === other ? "protocols" : "questions"}`;
  const places = [...new Set([...[...moved, ...parted].map((each) => each.node), ...only.flat()])];
  places.sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
  const heads = runs.map((run, n) => (
    <>
      <p class="who">The {NAMES[n]} run: <To id={run.run_id}>{run.run_id}</To></p>
      <p class="soft">{joined(run.method, run.status, count(run.usage.calls, "call"), when(run.started))}</p>
      {!alike && <p class="prose" dir="auto">{String(run.input.question)}</p>}
      {run.verdict && <Ruling verdict={run.verdict} name="Verdict" />}
    </>
  ));
  return (
    <main class="list beside">
      <p class="kicker">{contest ? "A run and a contest of it" : "Two runs"}</p>
      <h1 dir="auto">{title}</h1>
      {!alike && <p class="note">Their nodes have nothing to do with each other, so only the verdicts stand here.</p>}
      <Facing of={heads} />
      <h2>{contest ? "What a person changed" : "What was asked otherwise"}</h2>
      <ul>{(changes.length ? changes : ["nothing"]).map((each) => <li key={each} dir="auto">{each}</li>)}</ul>
      {alike && (
        <>
          {parted[0] && <><h2>Where they part</h2><Pair turns={parted[0].turns} runs={runs} /></>}
          <h2>What moved</h2>
          <p class="soft" dir="auto">{why}</p>
          <Some of={places} each={(id) => <Place key={id} id={id} found={both[0]} runs={runs} />} />
        </>
      )}
    </main>
  );
}
