/** One node in full. */

import { useState } from "preact/hooks";
import { Edit, Requests } from "./act";
import {
  change, changes, declared, finished, folded, isOut, isWeighed, look, nodeNow, nodes, pane, record, recorded, ROOT,
  share, touched, view,
} from "./model";
import type { Comparison, Node, Segment, Verdict } from "./record";
import { winner } from "./strengths";
import { Contest, Sums } from "./head";
import { Figure, Link, Transcript, Value } from "./turns";
import { count, declaredOf, figure, label, texts } from "./words";

/** The nodes from the root down to this one, by their words. */
function Path({ node }: { node: Node }) {
  const path: string[] = [];
  for (let up = node.parent; up; up = nodes.value.get(up)?.parent ?? null) path.unshift(up);
  if (!path.length) return null;
  return (
    <nav aria-label="Path" class="path">
      {path.map((id) => <span key={id}><Link id={id} most={36} /> › </span>)}
      <span class="id">{node.id}</span>
    </nav>
  );
}

export function Stance({ node }: { node: Node }) {
  if (!node.stance) return null;
  return <span class={`stance ${node.stance}`}>{node.stance === "support" ? "✓ for" : "✗ against"} </span>;
}

export function Ruling({ verdict, name = "Ruling" }: { verdict: Verdict; name?: string }) {
  const dissent = Object.entries(verdict.dissent ?? {});
  return (
    <section class="ruling">
      <p class="name">{name}</p>
      {verdict.answer !== null && (
        <p class="prose answer" dir="auto">
          {verdict.label && verdict.label !== verdict.answer && <span class="letter">{verdict.label}</span>}
          {verdict.answer}
        </p>
      )}
      {verdict.answer === null && <p class="soft">There is no answer.</p>}
      {verdict.confidence !== null && (
        <p><Figure value={verdict.confidence} /> <span class="soft">
          {verdict.confidence_source === "P(claim)" ? "probability" : "confidence"}
          {verdict.local_confidence != null && verdict.local_confidence !== verdict.confidence
            ? `; ${figure(verdict.local_confidence)} of this node alone` : ""}
        </span></p>
      )}
      {verdict.winner && <p class="soft">Won by {verdict.winner}</p>}
      {verdict.agreement != null && (
        <p class="soft">
          {Math.round(verdict.agreement * 100)} % of the jury agree.
          {dissent.map(([judge, ruled]) => ` Judge ${judge} ruled ${ruled}.`)}
        </p>
      )}
      {verdict.rationale && verdict.rationale !== verdict.answer && <p class="prose" dir="auto">{verdict.rationale}</p>}
      {verdict.notes.map((one) => <p key={one} class="note" dir="auto">{one}</p>)}
    </section>
  );
}

/** The figure that a node has by itself. */
function Slider({ node, value, name }: { node: Node; value: number | undefined; name: string }) {
  const set = (now: number) => change((all) => all.set.set(node.id, now));
  const move = (event: { currentTarget: HTMLInputElement }) => set(Number(event.currentTarget.value));
  const bounds = { min: "0", max: "1", step: "0.01" };
  return <input type="range" {...bounds} value={value} aria-label={name} aria-valuetext={figure(value)} onInput={move} />;
}

/** The figures of an argument, and what a person may try out. */
function Weighing({ node }: { node: Node }) {
  if (!isWeighed(node)) return null;
  const names = look.value.scores ?? {};
  const top = !node.stance;
  const own = changes.value.set.get(node.id) ?? node.scores.tau;
  const moved = touched.value > 0;
  const after = share(node);
  const before = recorded(node);
  return (
    <section class="strengths">
      <h3>Strength</h3>
      <dl>
        {Object.entries(node.scores).map(([name, value]) => {
          const score = names[name];
          const [sign, meaning] = top && score?.at_root ? score.at_root : [score?.sign ?? "", score?.meaning ?? label(name)];
          const now = name === "strength" ? after : name === "tau" ? own : moved ? undefined : value;
          if (now === undefined || (score?.beside && node.scores[score.beside] === undefined)) return null;
          return (
            <div key={name}>
              <dt><b>{sign}</b> {!top && score?.above && node.children.length ? score.above : meaning}</dt>
              <dd><Figure value={now} stance={node.stance} /></dd>
            </div>
          );
        })}
      </dl>
      {moved && before !== undefined && after !== before && <p class="moved">It was {figure(before)}.</p>}
      {node.scores.tau !== undefined && (
        <label class="slider">
          By itself
          <Slider node={node} value={own} name={`Strength of ${node.id} by itself`} />
          <span class="share">{figure(own)}</span>
        </label>
      )}
      {node.stance && !node.dropped && (
        <button
          aria-pressed={isOut(node)}
          onClick={() => change((all) => all.dropped.delete(node.id) || all.dropped.add(node.id))}
        >
          {isOut(node) ? "Let it count again" : "Leave it out"}
        </button>
      )}
      {[...(look.value.weighing ?? []), look.value.signs].filter(Boolean).map((one) => (
        <p class="soft" key={one}>{one}</p>
      ))}
    </section>
  );
}

function OwnConfidence({ node }: { node: Node }) {
  const own = node.verdict?.local_confidence;
  if (view.value !== "tree" || own === undefined) return null;
  const now = changes.value.set.get(node.id) ?? own;
  return (
    <label class="slider">
      Confidence of this node alone
      <Slider node={node} value={now} name={`Confidence of ${node.id} alone`} />
      <span class="share">{figure(now)}</span>
      {touched.value > 0 && <span class="moved"> with all below it {figure(share(node))}</span>}
    </label>
  );
}

function Met({ one }: { one: Comparison }) {
  const pair = `${one.supporter}:${one.attacker}`;
  const { flipped, voided } = changes.value;
  const isVoid = one.contested === "voided" || voided.has(pair);
  const won = winner(one);
  const supported = (won === "support") !== flipped.has(pair);
  const verb = !won ? "tied with" : supported ? "beat" : "lost to";
  const toggle = (kind: "flipped" | "voided") =>
    change((all) => all[kind].delete(pair) || all[kind].add(pair));
  return (
    <li class={isVoid ? "void" : ""}>
      <Link id={one.supporter} most={60} /> <b>{isVoid ? "does not count against" : verb}</b>{" "}
      <Link id={one.attacker} most={60} />
      {one.order !== "support_first" && <span class="soft"> (shown in the other order)</span>}
      {one.contested && <span class="moved"> {one.contested} by a person</span>}
      {one.reason && <p class="prose why" dir="auto">{one.reason}</p>}
      {isWeighed(nodes.value.get(one.supporter)) && one.contested !== "voided" && (
        <span class="try">
          {won && <button aria-pressed={flipped.has(pair)} onClick={() => toggle("flipped")}>Flip</button>}
          <button aria-pressed={voided.has(pair)} onClick={() => toggle("voided")}>Void</button>
        </span>
      )}
    </li>
  );
}

/** The first of many, with a button for the others. */
export function Some<T>({ of, each }: { of: T[]; each: (one: T) => preact.JSX.Element }) {
  const [most, setMost] = useState(25);
  return (
    <>
      <ul class="plain">{of.slice(0, most).map(each)}</ul>
      {of.length > most && <button onClick={() => setMost(most + 200)}>Show {of.length - most} more</button>}
    </>
  );
}

const QUOTED = /[“"]([^“”"]{12,}?)[”"]/g;

/** A piece of a source, with the words marked that somebody cites. */
function SegmentView({ one, said }: { one: Segment; said: string[] }) {
  const marks: [number, number][] = [];
  for (const words of said) {
    const from = one.text.indexOf(words);
    if (from >= 0) marks.push([from, from + words.length]);
  }
  marks.sort((a, b) => a[0] - b[0]);
  const parts: preact.JSX.Element[] = [];
  let done = 0;
  for (const [from, to] of marks) {
    if (to <= done) continue;
    const start = Math.max(from, done);
    parts.push(<span key={`t${done}`}>{one.text.slice(done, start)}</span>);
    parts.push(<mark key={`m${start}`}>{one.text.slice(start, to)}</mark>);
    done = to;
  }
  return (
    <li class="segment" id={`segment-${one.id}`}>
      <p class="soft">
        <span class="id">{one.id}</span> {[one.heading, one.page === null ? "" : `page ${one.page}`].filter(Boolean).join(" · ")}
        {one.contested && <span class="moved"> written by a person</span>}
      </p>
      <p class="prose" dir="auto">{parts}{one.text.slice(done)}</p>
      <Edit where={one.id} text={one.text} may={["replace", "drop"]} />
    </li>
  );
}

function Evidence({ node }: { node: Node }) {
  const all = folded.value.segments;
  const said = node.transcript.flatMap((one) => texts(one.fields));
  const cited = new Set(said.filter((one) => all.has(one)));
  const found = new Set(node.retrievals.flatMap((one) => one.found.map((hit) => hit.id)));
  const ids = [...all.keys()].filter((id) => cited.has(id) || found.has(id));
  if (!ids.length) return null;
  ids.sort((a, b) => Number(cited.has(b)) - Number(cited.has(a)));
  const quotes = said.flatMap((one) => [...(one.length > 14 ? [one] : []), ...[...one.matchAll(QUOTED)].map((hit) => hit[1]!)]);
  return (
    <details class="phase" open={cited.size > 0 && cited.size < 9}>
      <summary>Evidence <span class="soft">{cited.size} of {count(ids.length, "segment")} cited</span></summary>
      <Some of={ids} each={(id) => <SegmentView key={id} one={all.get(id)!} said={quotes} />} />
      {node.retrievals.length > 0 && (
        <details class="more">
          <summary>{count(node.retrievals.length, "search")}</summary>
          <Some
            of={node.retrievals}
            each={(one) => (
              <li key={one.paper + one.of}>
                <span class="id">{one.paper}</span> <bdi>{one.query}</bdi>{" "}
                <span class="soft">{one.found.map((hit) => `${hit.id} (${hit.score.toFixed(2)})`).join(", ")}</span>
              </li>
            )}
          />
        </details>
      )}
    </details>
  );
}

/** What `contest` may change of a node as a whole. */
function mayChange(node: Node): string[] {
  if (isWeighed(node)) return ["add support", "add attack"];
  return node.id === ROOT ? ["verdict"] : ["verdict", "drop"];
}

export function Detail() {
  const node = nodeNow.value;
  if (!node) return <p class="soft">Nothing has been said yet.</p>;
  const below = node.children.map((id) => nodes.value.get(id)).filter((one) => one !== undefined);
  const rests = node.provenance.filter((id) => id !== node.id);
  const many = nodes.value.size > 1;
  const top = node.id === ROOT;
  const verdict = (top && folded.value.verdict) || node.verdict;
  const notes = node.notes.filter((one) => !verdict?.notes.includes(one));
  const state = [
    node.kind === "open" ? "" : node.kind,
    node.status === "answered" ? "" : node.status === "missing" ? "no answer" : "open",
    node.stopped ? `not split: ${look.value.stops?.[node.stopped] ?? node.stopped.replaceAll("_", " ")}` : "",
    node.protocol ? `debated by ${declaredOf(record.value, node.protocol).title}` : "",
    node.dropped ? "dropped by a person" : "",
    node.added ? "added by a person" : "",
  ];
  return (
    <div class="node">
      <button class="back" onClick={() => (pane.value = "tree")}>‹ The tree</button>
      <Path node={node} />
      <h2 dir="auto" class={many ? "" : "unseen"}><Stance node={node} />{node.text}</h2>
      {many && <p class="soft">{state.filter(Boolean).join(" · ")}</p>}
      <Requests node={node.id} />
      {top && <Contest />}
      {verdict && <Ruling verdict={verdict} name={top ? "Verdict" : "Ruling"} />}
      {node.status === "answered" && <Edit where={node.id} text={verdict?.label ?? verdict?.answer ?? ""} may={mayChange(node)} />}
      <OwnConfidence node={node} />
      {rests.length > 0 && (
        <section>
          <h3>Rests on</h3>
          <Some of={rests} each={(id) => <li key={id}><Link id={id} most={120} /></li>} />
        </section>
      )}
      <Weighing node={node} />
      {notes.map((one) => <p key={one} class="note" dir="auto">{one}</p>)}
      {node.failures.map((one) => (
        <p key={one.role + one.speaker + one.fault} class="note bad">{label(one.role)} {one.speaker}: {one.fault}</p>
      ))}
      {below.length > 0 && (
        <section>
          <h3>{label(declared.value.unit ?? "part")}s below</h3>
          <Some
            of={below}
            each={(one) => (
              <li key={one.id} class={isOut(one) ? "void" : ""}>
                <Stance node={one} /><Link id={one.id} most={140} />{" "}
                {share(one) !== undefined && <Figure value={share(one)} stance={one.stance} />}
              </li>
            )}
          />
        </section>
      )}
      {node.comparisons.length > 0 && (
        <section>
          <h3>Who beat whom</h3>
          <Some of={node.comparisons} each={(one) => <Met key={one.supporter + one.attacker + one.order} one={one} />} />
          {look.value.comparing?.map((one) => <p class="soft" key={one}>{one}</p>)}
        </section>
      )}
      <Transcript node={node} />
      <Evidence node={node} />
      {node.earlier.map((one) => (
        <details class="more" key={one.take ?? 1}>
          <summary>Verdict of pass {one.take ?? 1}</summary>
          <Ruling verdict={one} />
        </details>
      ))}
      {Object.keys(node.data).length > 0 && (
        <details class="more">
          <summary>More of this {declared.value.unit ?? "part"}</summary>
          <Value value={node.data} />
        </details>
      )}
      {top && finished.value && <Sums />}
    </div>
  );
}
