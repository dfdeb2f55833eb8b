/** One node in full. */

import { Edit, Request, stops } from "./act";
import { Contest, Sums } from "./head";
import {
  captionOf, change, changes, finished, folded, hasMoved, isOut, isWeighed, look, multiplied, nodes, pane, picked, printing, record,
  recorded, ROOT, share, touched,
} from "./model";
import { Answer, Figure, Link, Listed, Menu, More, Notes, Some, Stance, typed, Value } from "./parts";
import { winner } from "./strengths";
import { Cites, OwnPoints, Searches, SegmentView, Sources } from "./sources";
import { Transcript } from "./turns";
import { type Comparison, count, declaredOf, figure, isProbable, joined, label, type Node, short, type Texts, texts, type Verdict } from "./record";

/** The nodes from the root down to this one, by their words. */
function Path({ node }: { node: Node }) {
  const path: string[] = [];
  for (let up = node.parent; up; up = nodes.value.get(up)?.parent ?? null) path.unshift(up);
  return path.length > 0 && (
    <nav aria-label="Path" class="path">
      {path.map((id) => <span key={id}><Link id={id} most={48} /> › </span>)}
    </nav>
  );
}

export function Ruling({ verdict, name = "Ruling" }: { verdict: Verdict; name?: string }) {
  const { confidence, local_confidence: local, answer, rationale } = verdict;
  const figured = isProbable(verdict) ? "probability that the claim is true" : "confidence";
  const alone = local != null && local !== confidence ? `; ${figure(local)} of this node alone` : "";
  return (
    <section class="ruling">
      <p class="name">{name}</p>
      <Answer of={verdict} />
      {confidence !== null && <p><Figure value={confidence} /> <span class="soft">{figured}{alone}</span></p>}
      {verdict.winner && <p class="soft">Won by {verdict.winner}</p>}
      <Jury of={verdict} />
      {rationale && rationale !== answer && <p class="prose" dir="auto">{rationale}</p>}
      <Notes of={verdict.notes} />
      <Cites of={(verdict.grounds ?? []).map((one) => one.id)} name="Rests on" />
    </section>
  );
}

/** How the judges of a jury ruled. */
function Jury({ of: { agreement, dissent = {} } }: { of: Verdict }) {
  if (agreement == null) return null;
  const others = Object.entries(dissent).map(([judge, ruled]) => ` Judge ${judge} ruled ${ruled}.`);
  return <p class="soft">{Math.round(agreement * 100)} % of the jury agree.{others}</p>;
}

/** The figure that a node has by itself, to be moved. */
function Slider({ node, name, told, own }: { node: Node; name: string; told: string; own: number }) {
  const value = changes.value.set.get(node.id) ?? own;
  const texts = { "aria-label": told, "aria-valuetext": figure(value) };
  const move = typed((to) => change((all) => all.set.set(node.id, Number(to))));
  return (
    <label class="slider">
      {name} <input type="range" min="0" max="1" step="0.01" value={value} {...texts} onInput={move} />
      <span class="share">{figure(value)}</span>
    </label>
  );
}

/** The figures of an argument, and what a person may try out. */
function Weighing({ node }: { node: Node }) {
  if (!isWeighed(node)) return null;
  const { scores = {}, weighing = [], comparing = [], signs = "" } = look.value;
  const top = !node.stance;
  const [before, after] = [recorded(node), share(node)];
  const [moved, out, typedIn] = [touched.value > 0, isOut(node), changes.value.set.get(node.id)];
  const own = node.scores.tau;
  const row = ([name, value]: [string, number]) => {
    const score = scores[name];
    const [, meaning] = top && score?.at_root ? score.at_root : ["", score?.meaning ?? captionOf(name)];
    const trial = name === "strength" ? after : name === "tau" ? (changes.value.set.get(node.id) ?? own) : undefined;
    const now = trial ?? (moved ? undefined : value);
    if (now === undefined || (score?.beside && node.scores[score.beside] === undefined)) return null;
    return (
      <div key={name}>
        <dt>{label(!top && score?.above && node.children.length ? score.above : meaning)}</dt>
        <dd><Figure value={now} stance={node.stance} /></dd>
      </div>
    );
  };
  const signed = Object.entries(scores).filter(([name]) => name in node.scores);
  const leave = () => change(({ dropped }) => dropped.delete(node.id) || dropped.add(node.id));
  return (
    <section class="strengths">
      <h3>Strength</h3>
      <dl>{Object.entries(node.scores).map(row)}</dl>
      {hasMoved(node) && <p class="moved" role="status">
        {typedIn !== undefined && `You set ${figure(typedIn)} by itself; with its comparisons and what stands below it, that makes `}
        {typedIn === undefined && "Now "}{figure(after)}. It was {figure(before)}.
      </p>}
      {own !== undefined && <Slider node={node} own={own} name={`Try another strength ${top ? "before any argument" : "by itself"}`} told="Strength by itself" />}
      {node.stance && !node.dropped && (
        <button aria-pressed={out} onClick={leave}>{out ? "Let it count again" : "Leave it out"}</button>
      )}
      <More name="How the number is made">
        <Notes of={signs.split("; ").map((one) => `${label(one.replace(/\.$/, ""))}.`).filter((one) => one.length > 1)} kind="soft" />
        {signed.length > 0 && <p class="soft">
          Here {signed.map(([name, { sign, at_root: root }]) => `${top && root ? root[0] : sign} = ${figure(node.scores[name])}`).join(", ")}.
        </p>}
        <Notes of={[...weighing, ...comparing].map((one) => `${one}.`)} kind="soft" />
      </More>
    </section>
  );
}

function Met({ one }: { one: Comparison }) {
  const pair = `${one.supporter}:${one.attacker}`;
  const { flipped, voided } = changes.value;
  const isVoid = one.contested === "voided" || voided.has(pair);
  const won = winner(one);
  const supported = (won === "support") !== flipped.has(pair);
  const verb = !won ? "tied with" : supported ? "beat" : "lost to";
  const toggle = (kind: "flipped" | "voided") => change((all) => all[kind].delete(pair) || all[kind].add(pair));
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

/** Why no protocol splits a node, as report/words.py. */
const STOPS: Texts = { max_depth: "the depth limit was reached", failed: "the split failed" };
const QUOTED = /[“"]([^“”"]{12,}?)[”"]/g;
/** A text with the words marked that somebody says. */
function Marked({ text, said }: { text: string; said: string[] }) {
  const found = said.filter((words) => words.length > 11 && text.includes(words)).sort((a, b) => b.length - a.length);
  const any = found.map((words) => words.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&")).join("|");
  const parts = any ? text.split(new RegExp(`(${any})`)) : [text];
  return <p class="prose" dir="auto">{parts.map((part, n) => (n % 2 ? <mark key={n}>{part}</mark> : part))}</p>;
}

/** The pieces of sources that were found, with the words marked that somebody cites. */
function Evidence({ node }: { node: Node }) {
  const all = [...folded.value.segments.values()].filter((one) => !one.source);
  const said = node.transcript.flatMap((one) => texts(one.fields));
  const cited = all.filter((one) => said.includes(one.id));
  const found = new Set(node.retrievals.flatMap((one) => one.found.map((hit) => hit.id)));
  const pieces = [...cited, ...all.filter((one) => found.has(one.id) && !cited.includes(one))];
  if (!pieces.length) return null;
  const quotes = said.flatMap((one) => [one, ...Array.from(one.matchAll(QUOTED), (hit) => hit[1]!)]);
  const name = <>Evidence <span class="soft">{cited.length} of {count(pieces.length, "segment")} cited</span></>;
  return (
    <More kind="phase" open={cited.length > 0 && cited.length < 9} name={name}>
      <Some of={pieces} each={(one) => (
        <SegmentView key={one.id} one={one}><Marked text={one.text} said={quotes} /></SegmentView>
      )} />
      <Searches of={node.retrievals} name={count(node.retrievals.length, "search")} />
    </More>
  );
}

export function Detail({ node = nodes.value.get(picked.value) ?? nodes.value.get(ROOT) }: { node?: Node }) {
  if (!node) return <p class="soft">Nothing has been said yet.</p>;
  const below = node.children.flatMap((id) => nodes.value.get(id) ?? []);
  const rests = node.provenance.filter((id) => id !== node.id);
  const top = node.id === ROOT;
  const unit = declaredOf(record.value, node.protocol).unit ?? "part";
  const verdict = (top && folded.value.verdict) || node.verdict;
  const own = node.verdict?.local_confidence;
  const may = isWeighed(node) ? ["add support", "add attack"] : ["verdict", "drop"];
  const state = joined(
    node.kind !== "open" && node.kind,
    node.status !== "answered" && (node.status === "missing" ? "no answer" : "open"),
    node.stopped && `not split: ${look.value.stops?.[node.stopped] ?? STOPS[node.stopped] ?? node.stopped.replaceAll("_", " ")}`,
    node.protocol && `debated by ${declaredOf(record.value, node.protocol).title}`,
    node.dropped && "dropped by a person", node.added && "added by a person",
  );
  return (
    <div class="node">
      <button class="back" onClick={() => (pane.value = "tree")}>‹ The tree</button>
      <Path node={node} />
      <h2 dir="auto" class={top && node.text.length < 400 ? "unseen" : ""}><Stance of={node.stance} />{node.text}</h2>
      {!top && <p class="soft state">{state}{" "}
        {!printing.value && <Menu of="this place"><span class="id">{node.id}</span> · <code>dialectree show {record.value.run_id} --node {node.id}</code></Menu>}
      </p>}
      {stops.value.map((one) => one.node === node.id && <Request key={one.id} stop={one} />)}
      {top && <Contest />}
      {verdict && !top && <Ruling verdict={verdict} />}
      {node.status === "answered" && !top && <Edit where={node.id} text={verdict?.label ?? verdict?.answer ?? ""} may={may} />}
      {top && verdict && <Jury of={verdict} />}
      {declaredOf(record.value).view === "tree" && own !== undefined && multiplied.value && (
        <>
          <Slider node={node} own={own} name="Try another confidence of this ruling alone" told="Confidence of this ruling alone" />
          {hasMoved(node) && <p class="moved" role="status">
            With all below it, that makes {figure(share(node))}. It was {figure(recorded(node))}.
          </p>}
        </>
      )}
      {rests.join() !== node.children.join() && (
        <Listed name="Rests on" of={rests} each={(id) => <li key={id}><Link id={id} most={120} /></li>} />
      )}
      <Weighing node={node} />
      <OwnPoints node={node} />
      <Notes of={node.notes.filter((one) => !verdict?.notes.includes(one) && !(stops.value.length && one.startsWith("a person is asked")))} />
      <Notes of={node.failures.map((one) => `${captionOf(one.role)} ${one.speaker}: ${one.fault}`)} kind="note bad" />
      <Listed name={top ? `${label(unit)}s` : `${label(unit)}s below`} of={below} each={(one) => (
        <li key={one.id} class={`part ${isOut(one) ? "void" : ""}`}>
          <span><Stance of={one.stance} /><Link id={one.id} most={140} />{one.verdict?.answer && <span class="soft answer" dir="auto">{short(one.verdict.answer, 140)}</span>}</span>{" "}
          {share(one) !== undefined && <Figure value={share(one)} was={hasMoved(one) ? recorded(one) : undefined} stance={one.stance} />}
        </li>
      )} />
      <Listed name="Who beat whom" of={node.comparisons} each={(one) => (
        <Met key={one.supporter + one.attacker + one.order} one={one} />
      )}>
      </Listed>
      {top && <Sources />}
      <Transcript node={node} />
      <Searches of={node.retrievals.filter((one) => !one.paper)} name="Searches in the sources" />
      <Evidence node={node} />
      {node.earlier.map((one) => (
        <More key={one.take ?? 1} name={`Verdict of pass ${one.take ?? 1}`}><Ruling verdict={one} /></More>
      ))}
      {Object.keys(node.data).length > 0 && <More name={`What else was noted of this ${unit}`}><Value value={node.data} /></More>}
      {top && finished.value && <Sums />}
    </div>
  );
}
