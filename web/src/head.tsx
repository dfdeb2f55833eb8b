/** The verdict, what was changed, and the bar with search and time. */

import { useEffect, useState } from "preact/hooks";
import { Acts, Trial } from "./act";
import {
  ask, at, declared, finished, foldBelow, folded, heard, hits, isWeighed, length, live, nodes, pick, query, record,
  recorded, ROOT, share, shut, sort, touched,
} from "./model";
import { Answer, Link, Listed, More, Notes, Part, Search, Select, To, typed, Value } from "./parts";
import { calibrated, count, figure, joined, label, short } from "./record";

const DEMONSTRATION = "A model answered that is no better than chance: see how it works, and no more.";
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
        This run contests {ask.value ? <To id={id}>{id}</To> : id}
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

/** What the calls so far took. */
function sums(): string {
  const of = folded.value.usage;
  const took = of.wall_s >= 60 ? `${(of.wall_s / 60).toFixed(1)} min` : `${of.wall_s.toFixed(1)} s`;
  return joined(
    count(of.calls, "call"), of.calls_from_cache > 0 && `${of.calls_from_cache} from the cache`,
    `${(of.prompt_tokens + of.completion_tokens).toLocaleString("en")} tokens`, of.cost !== null && `cost ${of.cost}`,
    of.wall_s > 0 && took, of.critical_path_calls > 0 && `${of.critical_path_calls} calls after one another`,
  );
}

export function Sums() {
  const { question: _, options: __, sources: ___, ...more } = record.value.input;
  return (
    <More name={sums()}>
      {Object.keys(more).length > 0 && <Value value={more} />}
      <Part name="Models"><Value value={record.value.models} /></Part>
      <Part name="Settings"><Value value={record.value.settings} /></Part>
    </More>
  );
}

export function Head() {
  const of = record.value;
  const root = nodes.value.get(ROOT);
  const { method, title } = declared.value;
  const { verdict, status: told, notices } = folded.value;
  const status = told === "running" && finished.value && !live.value ? of.status : told; // a kill tells no end
  const weighed = isWeighed(root);
  const value = root && (weighed || touched.value) ? share(root) : verdict?.confidence;
  const before = root && recorded(root);
  const given = of.input.options;
  const none = verdict ? "There is no answer." : "There is no verdict yet.";
  const options = Array.isArray(given) ? given.map(String) : [];
  const letters = options.map((_, n) => String.fromCharCode(65 + n));
  return (
    <header>
      <div>
        <p class="kicker">
          {method || title} · {of.run_id} · <span class={status === "answered" ? "" : "warn"}>{status}</span>
        </p>
        <h1 dir="auto">{short(String(of.input.question ?? of.run_id), 400)}</h1>
        {options.length > 0 && <ul class="options">{options.map((text, n) => (
          <li key={n} class={letters[n] === verdict?.label ? "chosen" : ""} dir="auto">
            <span class="letter">{letters[n]}</span> {text}
          </li>
        ))}</ul>}
        {!letters.includes(verdict?.label ?? "") && <Answer of={verdict} none={none} />}
        {of.demonstration && <p class="note">{DEMONSTRATION}</p>}
        <Notes of={notices} />
      </div>
      {value != null && (
        <div class="big" aria-live="polite">
          <span class="share">{figure(value)}</span>
          <span class="soft">{weighed ? "probability of the claim" : "confidence"}</span>
          {!touched.value && verdict?.calibrated && (
            <span class="soft">as the {verdict.confidence_source} said; {calibrated(verdict)}</span>
          )}
          {touched.value > 0 && before !== undefined && <span class="moved">was {figure(before)}</span>}
        </div>
      )}
    </header>
  );
}

/** Those who speak at this moment, and for how long. */
function Speaking() {
  const [, tick] = useState(0);
  const calling = [...folded.value.calling.values()];
  useEffect(() => {
    const timer = live.value ? setInterval(() => tick((n) => n + 1), 1000) : undefined;
    return () => clearInterval(timer);
  }, [live.value]);
  if (!calling.length) return null;
  const seconds = (t: string) => Math.max(0, Math.round((Date.now() - Date.parse(t)) / 1000));
  const since = (t: string) => (live.value && t ? ` for ${seconds(t)} s ` : " ");
  return (
    <p class="speaking" role="status">
      {calling.slice(0, 4).map((one) => (
        <span key={one.n}><b>{label(String(one.data.role))}</b> at <Link id={one.node} most={40} />{since(one.t)}</span>
      ))}
      {calling.length > 4 && <span class="soft">and {calling.length - 4} more</span>}
    </p>
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
  const said = `${kind}${where ? ` at ${where.id} ${short(where.text, 60)}` : ""}`;
  const place = `${at.value} of ${length.value}`;
  const moves = { min: "1", max: length.value, value: at.value, "aria-valuetext": `${place}: ${said}` };
  return (
    <div class="time">
      <button onClick={play} aria-label={playing ? "Pause" : "Play the events"}>{playing ? "❚❚" : "▶"}</button>
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
    <Speaking />
  </section>
);
