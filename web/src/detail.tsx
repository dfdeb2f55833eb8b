/** One node in full. */

import { Edit, Request, stops } from "./act";
import { Contest, Sums } from "./head";
import {
  change, changes, finished, folded, isOut, isWeighed, look, multiplied, nodes, pane, picked, record, recorded, ROOT, share,
  touched,
} from "./model";
import { Answer, Figure, Link, Listed, More, Notes, Some, Stance, typed, Value } from "./parts";
import { winner } from "./strengths";
import { Cites, OwnPoints, Searches, SegmentView, Sources } from "./sources";
import { Transcript } from "./turns";
import { type Comparison, count, declaredOf, figure, joined, label, type Node, texts, type Verdict } from "./record";

/** The nodes from the root down to this one, by their words. */
function Path({ node }: { node: Node }) {
  const path: string[] = [];
  for (let up = node.parent; up; up = nodes.value.get(up)?.parent ?? null) path.unshift(up);
  return path.length > 0 && (
    <nav aria-label="Path" class="path">
      {path.map((id) => <span key={id}><Link id={id} most={36} /> › </span>)}
      <span class="id">{node.id}</span>
    </nav>
  );
}

export function Ruling({ verdict, name = "Ruling" }: { verdict: Verdict; name?: string }) {
  const { confidence, local_confidence: local, agreement, answer, rationale, dissent = {} } = verdict;
  const figured = verdict.confidence_source === "P(claim)" ? "probability" : "confidence";
  const alone = local != null && local !== confidence ? `; ${figure(local)} of this node alone` : "";
  const others = Object.entries(dissent).map(([judge, ruled]) => ` Judge ${judge} ruled ${ruled}.`);
  return (
    <section class="ruling">
      <p class="name">{name}</p>
      <Answer of={verdict} />
      {confidence !== null && <p><Figure value={confidence} /> <span class="soft">{figured}{alone}</span></p>}
      {verdict.winner && <p class="soft">Won by {verdict.winner}</p>}
      {agreement != null && <p class="soft">{Math.round(agreement * 100)} % of the jury agree.{others}</p>}
      {rationale && rationale !== answer && <p class="prose" dir="auto">{rationale}</p>}
      <Notes of={verdict.notes} />
      <Cites of={(verdict.grounds ?? []).map((one) => one.id)} name="Rests on" />
    </section>
  );
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
  const { scores = {}, weighing = [], signs = "" } = look.value;
  const top = !node.stance;
  const [before, after] = [recorded(node), share(node)];
  const [moved, out] = [touched.value > 0, isOut(node)];
  const own = node.scores.tau;
  const row = ([name, value]: [string, number]) => {
    const score = scores[name];
    const [sign, meaning] = top && score?.at_root ? score.at_root : [score?.sign ?? "", score?.meaning ?? label(name)];
    const trial = name === "strength" ? after : name === "tau" ? (changes.value.set.get(node.id) ?? own) : undefined;
    const now = trial ?? (moved ? undefined : value);
    if (now === undefined || (score?.beside && node.scores[score.beside] === undefined)) return null;
    return (
      <div key={name}>
        <dt><b>{sign}</b> {!top && score?.above && node.children.length ? score.above : meaning}</dt>
        <dd><Figure value={now} stance={node.stance} /></dd>
      </div>
    );
  };
  const told = `Strength of ${node.id} by itself`;
  const leave = () => change(({ dropped }) => dropped.delete(node.id) || dropped.add(node.id));
  return (
    <section class="strengths">
      <h3>Strength</h3>
      <dl>{Object.entries(node.scores).map(row)}</dl>
      {moved && before !== undefined && after !== before && <p class="moved">It was {figure(before)}.</p>}
      {own !== undefined && <Slider node={node} own={own} name="By itself" told={told} />}
      {node.stance && !node.dropped && (
        <button aria-pressed={out} onClick={leave}>{out ? "Let it count again" : "Leave it out"}</button>
      )}
      <Notes of={[weighing.join(" · "), signs].filter(Boolean)} kind="soft" />
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
  const may = isWeighed(node) ? ["add support", "add attack"] : top ? ["verdict"] : ["verdict", "drop"];
  const state = joined(
    node.kind !== "open" && node.kind,
    node.status !== "answered" && (node.status === "missing" ? "no answer" : "open"),
    node.stopped && `not split: ${look.value.stops?.[node.stopped] ?? node.stopped.replaceAll("_", " ")}`,
    node.protocol && `debated by ${declaredOf(record.value, node.protocol).title}`,
    node.dropped && "dropped by a person", node.added && "added by a person",
  );
  return (
    <div class="node">
      <button class="back" onClick={() => (pane.value = "tree")}>‹ The tree</button>
      <Path node={node} />
      <h2 dir="auto" class={top && node.text.length < 400 ? "unseen" : ""}><Stance of={node.stance} />{node.text}</h2>
      {!top && <p class="soft">{state}</p>}
      {stops.value.map((one) => one.node === node.id && <Request key={one.id} stop={one} />)}
      {top && <Contest />}
      {verdict && <Ruling verdict={verdict} name={top ? "Verdict" : "Ruling"} />}
      {node.status === "answered" && <Edit where={node.id} text={verdict?.label ?? verdict?.answer ?? ""} may={may} />}
      {declaredOf(record.value).view === "tree" && own !== undefined && multiplied.value && (
        <>
          <Slider node={node} own={own} name="Confidence of this node alone" told={`Confidence of ${node.id} alone`} />
          {touched.value > 0 && <p class="moved">with all below it {figure(share(node))}</p>}
        </>
      )}
      {rests.join() !== node.children.join() && (
        <Listed name="Rests on" of={rests} each={(id) => <li key={id}><Link id={id} most={120} /></li>} />
      )}
      <Weighing node={node} />
      <OwnPoints node={node} />
      <Notes of={node.notes.filter((one) => !verdict?.notes.includes(one))} />
      <Notes of={node.failures.map((one) => `${label(one.role)} ${one.speaker}: ${one.fault}`)} kind="note bad" />
      <Listed name={`${label(unit)}s below`} of={below} each={(one) => (
        <li key={one.id} class={`part ${isOut(one) ? "void" : ""}`}>
          <span><Stance of={one.stance} /><Link id={one.id} most={140} /></span>{" "}
          {share(one) !== undefined && <Figure value={share(one)} stance={one.stance} />}
        </li>
      )} />
      <Listed name="Who beat whom" of={node.comparisons} each={(one) => (
        <Met key={one.supporter + one.attacker + one.order} one={one} />
      )}>
        <p class="soft">{look.value.comparing?.join(" · ")}</p>
      </Listed>
      {top && <Sources />}
      <Transcript node={node} />
      <Searches of={node.retrievals.filter((one) => !one.paper)} name="Searches in the sources" />
      <Evidence node={node} />
      {node.earlier.map((one) => (
        <More key={one.take ?? 1} name={`Verdict of pass ${one.take ?? 1}`}><Ruling verdict={one} /></More>
      ))}
      {Object.keys(node.data).length > 0 && <More name={`More of this ${unit}`}><Value value={node.data} /></More>}
      {top && finished.value && <Sums />}
    </div>
  );
}
