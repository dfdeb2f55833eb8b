/** The list of runs: searched, filtered, sorted, page by page; and the evaluations. */

import { signal } from "@preact/signals";
import { useState } from "preact/hooks";
import { get, json, useReading } from "./data";
import { Figure, Search, Select, To } from "./parts";
import type { Head } from "./record";
import { count, joined, label, short, when } from "./words";

/** What is asked of the list, and the runs to compare: they outlast a look into a run. */
const asked = signal({ text: "", protocol: "", status: "", sort: "newest" });
const chosen = signal<string[]>([]);
const STATUSES = ["", "running", "waiting", "answered", "partial", "degraded", "unresolved"];
const SORTS = ["newest", "figure", "cost", "calls", "question"];

/** A run of the list; `again` where the one above it is of the same question. */
function Item({ one, again }: { one: Head; again: boolean }) {
  const { run_id: id, evaluated, contests, verdict, cost } = one;
  const facts = joined(
    one.method, one.waits ? "waits for a person" : one.status, count(one.calls, "call"),
    cost != null && `cost ${Number(cost.toPrecision(3))}`, when(one.started), !again && id,
  );
  const others = chosen.value.filter((other) => other !== id);
  const has = others.length < chosen.value.length;
  const choose = () => (chosen.value = has ? others : [...others, id].slice(-2));
  return (
    <li class={again ? "again" : ""}>
      <input type="checkbox" aria-label={`Compare ${id}`} title="Compare" checked={has} onChange={choose} />
      <div>
        <To id={id}>{again ? id : short(one.question, 160)}</To>
        <p class="answer" dir="auto">{short(verdict?.answer ?? "", 160)}</p>
        <p class={one.waits ? "warn" : ""}>
          {verdict?.confidence != null && <Figure value={verdict.confidence} />} {facts}
        </p>
        {evaluated && <p>{evaluated.row} · {evaluated.item} of {evaluated.evaluation}</p>}
        {contests && <p>contests <To id={contests}>{contests}</To> · <To id={contests} other={id}>what moved</To></p>}
      </div>
    </li>
  );
}

interface Evaluation {
  name: string; title: string; data: string; questions: number; started: string; report: boolean;
  rows: { name: string; method: string; judged: number; accuracy: number | null }[];
}

function EvaluationItem({ name, title, data, questions, started, report, rows }: Evaluation) {
  const place = `../evaluations/${encodeURIComponent(name)}`;
  return (
    <li>
      {report ? <a href={`${place}/report.html`}>{title || name}</a> : title || name}
      <p class="soft">
        {count(questions, "question")} of {data} · {when(started)} · <a href={`${place}/page/`}>its runs</a>
      </p>
      {rows.map((row) => (
        <p key={row.name}>
          <Figure value={row.accuracy} /> {row.name} <span class="soft">{row.method} · {row.judged} judged</span>
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
    const found = (await answer.json()) as Head[];
    setPage({ heads: [...before, ...found], protocols, more: answer.headers.has("link") });
  };
  useReading((stop) => read([], stop), [asked.value]);
  useReading((signal) => json<Evaluation[]>("evaluations", { signal }).then(setEvaluations), []);
  const ask = (name: string) => (text: string) => (asked.value = { ...asked.value, [name]: text });
  const choices = { protocol: ["", ...(page?.protocols ?? [])], status: STATUSES, sort: SORTS };
  const [one, other] = [...chosen.value].sort();
  return (
    <main class="list">
      {location.pathname.includes("/evaluations/") && (
        <p class="soft"><a href="../../../page/">‹ All runs and evaluations</a></p>
      )}
      <h1>Debates</h1>
      <div class="tools">
        <Search words="Search in questions and answers" value={asked.value.text} use={ask("text")} />
        {Object.entries(choices).map(([name, all]) => (
          <label key={name}>
            {label(name)}{" "}
            <Select of={all} words={(one) => one || "all"} value={asked.value[name as "sort"]} use={ask(name)} />
          </label>
        ))}
      </div>
      {page && !heads.length && <p class="soft">There is no such run.</p>}
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
