/** Two runs beside each other: what was asked otherwise, where they part, what moved. */

import { useState } from "preact/hooks";
import { debate, json, useReading } from "./data";
import { Ruling } from "./detail";
import { restart } from "./model";
import { Figure, Later, Reading, Some, Stance, To, Value } from "./parts";
import type { Moved, RunRecord, Turn, Verdict } from "./record";
import { count, joined, phaseOf, short, speaking, turnName, when } from "./words";

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
    const other = turns[1 - n]?.fields ?? {};
    const node = turn && of.tree.nodes[turn.node];
    if (!node) return <p class="soft">Nothing was said here.</p>;
    const name = turnName(node, turn);
    const differ = Object.entries(turn.fields).filter(([key, value]) => JSON.stringify(value) !== JSON.stringify(other[key]));
    return (
      <>
        <p class="who">{speaking(node, turn)} <span class="soft"><To id={of.run_id} at={name}>{name}</To></span></p>
        <Value value={Object.fromEntries(differ)} captions={phaseOf(of, turn)?.captions} />
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
