/** What was said at a node: by pass, phase and round, sides beside each other. */

import { useState } from "preact/hooks";
import { Edit, trying } from "./act";
import { ask, calls, captionOf, look, nodes, printing, prompts, record, turn as linked } from "./model";
import { isShort, Later, Link, Menu, More, Part, Value } from "./parts";
import { marksOf, Points } from "./sources";
import { type Call, joined, label, type Node, phaseOf, short, speakerOf, speaking, type Turn, turnName } from "./record";

const NO_TEXT = "The text of this message is not in this file.";
function CallView({ call }: { call: Call }) {
  const took = (Date.parse(call.ended) - Date.parse(call.started)) / 1000;
  const { messages = [], served = call.model } = call.sent ?? {};
  const texts = messages.map(([role, hash]) => [role, prompts.value.get(hash) ?? NO_TEXT]);
  if (call.reply !== null) texts.push(["reply", call.reply]);
  const facts = joined(
    call.model, served !== call.model && `served as ${served}`, call.prompt,
    `${call.prompt_tokens} + ${call.completion_tokens} tokens`, call.cost != null && `cost ${call.cost}`,
    took > 0 && `${took.toFixed(1)} s`, call.attempts > 1 && `${call.attempts} attempts`,
    call.repair > 0 && `repair ${call.repair}`, call.source !== "model" && `from the ${call.source}`,
  );
  return (
    <div class="call">
      <p class="soft">{facts}</p>
      {texts.map(([name = "", text], n) => <div key={n}><p class="name">{label(name)}</p><pre>{text}</pre></div>)}
      {call.error && <p class="bad">{call.error}</p>}
    </div>
  );
}

const SAME = ["node", "phase", "role", "round", "take"] as const;
function Calls({ turn }: { turn: Turn }) {
  const speaks = (call: Call) => (call.speaker || call.role) === turn.speaker;
  const mine = calls.value.filter((call) => speaks(call) && SAME.every((name) => call[name] === turn[name]));
  if (!mine.length && !ask.value) return null;
  return (
    <Later name="Call and prompt" ask={() => void trying(async () => ask.value?.())}>
      {() => mine.length > 0
        ? mine.map((call, n) => <CallView key={n} call={call} />)
        : <p class="soft">No call was made for this turn.</p>}
    </Later>
  );
}

const PLACES = /0(?:\.\d+)+/g;
/** Who speaks; a speaker that is named by the places it is about, such as `0.0:0.1`, by their words. */
function Speaker({ node, turn }: { node: Node; turn: Turn }) {
  const about = (turn.speaker.match(PLACES) ?? []).filter((id) => nodes.value.has(id));
  if (!about.length) return <>{speaking(node, turn)}</>;
  const more = turn.speaker.replace(PLACES, "").replace(/[:_]+/g, " ").trim();
  return (
    <>
      {captionOf(turn.role)} <span class="soft">
        on {about.map((id, n) => <>{n > 0 && " against "}<Link key={id} id={id} most={44} /></>)}{more && `, ${more}`}
      </span>
    </>
  );
}

function TurnView({ node, turn, side }: { node: Node; turn: Turn; side: number }) {
  const name = turnName(node, turn);
  const { captions: ofPhase = {}, editable: [lead] = [] } = phaseOf(record.value, turn) ?? {};
  const captions = { ...ofPhase, ...look.value.captions };
  const defends = [turn.label, turn.side && (look.value.tasks?.[turn.side] ?? turn.side)].filter(Boolean).join(": ");
  const said = marksOf(turn).length ? [] : Object.entries(turn.fields);
  const fields = said.filter(([name, value]) => value !== null && value !== "" && captions[name] !== "");
  const show = (one: HTMLElement | null) => linked.value === name && one?.scrollIntoView({ block: "nearest" });
  return (
    <article class={`turn side-${side % 2}${linked.value === name ? " linked" : ""}`} ref={(one) => void show(one)}>
      <p class="who">
        <Speaker node={node} turn={turn} />
        {!printing.value && <Menu of={`the turn ${name}`}>
          <a href={`#${encodeURIComponent(name)}`}>Link to this turn</a> <span class="id">{name}</span>
        </Menu>}
        {defends && defends !== turn.speaker && <span class="soft defends" dir="auto">{short(defends, 120)}</span>}
      </p>
      {fields.map(([field, value]) => (
        <div class={isShort(value) ? "field short" : "field"} key={field}>
          {(fields.length > 1 || typeof value !== "string") && <p class="name">{captions[field] ?? captionOf(field)}</p>}
          <Value value={value} captions={captions} />
        </div>
      ))}
      <Points turn={turn} />
      <Calls turn={turn} />
      {lead && <Edit where={name} text={String(turn.fields[lead] ?? "")} may={["replace", "drop"]} />}
    </article>
  );
}

/** Group what stands behind one another and is alike. */
function grouped<T>(items: T[], alike: (one: T) => string): T[][] {
  const groups: T[][] = [];
  for (const one of items)
    if (groups.length && alike(groups.at(-1)![0]!) === alike(one)) groups.at(-1)!.push(one);
    else groups.push([one]);
  return groups;
}

function Round({ node, group, round }: { node: Node; group: Turn[]; round: number }) {
  const [turns, sides] = [group.filter((one) => one.round === round), facing(group)];
  const named = [...new Set(group.filter((one) => sides.includes(one.speaker)).map((one) => speakerOf(node, one)))].sort();
  const side = (one: Turn) => ({ support: 0, attack: 1 })[one.side as "support"] ?? named.indexOf(speakerOf(node, one));
  return (
    <>
      {round > 0 && turns.length < group.length && <h4 class="round">Round {round}</h4>}
      {grouped(turns, (one) => String(sides.includes(one.speaker))).map((part, n) => {
        const columns = sides.includes(part[0]!.speaker) ? new Set(part.map((one) => one.speaker)).size : 1;
        if (columns > 1) part.sort((a, b) => side(a) - side(b));
        const turn = (one: Turn) => (
          <TurnView key={turnName(node, one)} node={node} turn={one} side={columns > 1 ? side(one) : -1} />
        );
        return <div key={n} class={columns < 2 ? "alone" : columns > 2 ? "facing many" : "facing"}>{part.map(turn)}</div>;
      })}
    </>
  );
}

/** The speakers who face each other: those declared, and those who share a role or have sides. */
function facing(turns: Turn[]): string[] {
  const speakers = (of: (one: Turn) => boolean) => [...new Set(turns.filter(of).map((one) => one.speaker))];
  const roles = [...new Set(turns.map((one) => one.role))].map((role) => speakers((one) => one.role === role));
  const shared = [...roles, speakers((one) => Boolean(one.side))].filter((all) => all.length > 1);
  return [...new Set([look.value.facing ?? [], ...shared].flat())].sort();
}

export function Transcript({ node }: { node: Node }) {
  const [most, setMost] = useState(printing.value ? Infinity : 60);
  const all = node.transcript;
  if (!all.length) return null;
  const together = look.value.together ?? [];
  const phase = (one: Turn) => (together.includes(one.phase) ? together.join(" and ") : one.phase);
  const passes = new Set(all.map((one) => one.take)).size > 1;
  return (
    <Part name="What was said">
      {grouped(all.slice(0, most), (one) => `${one.take} ${one.protocol} ${phase(one)}`).map((group, n) => {
        const first = group[0]!;
        const rounds = [...new Set(group.map((one) => one.round))];
        const name = <>{phase(first).split(" and ").map(captionOf).join(" and ") || "Debate"}{passes && <span class="soft"> pass {first.take}</span>}</>;
        return (
          <More key={`${n} ${first.take} ${first.phase}`} kind="phase" open name={name}>
            {rounds.map((round) => <Round key={round} node={node} group={group} round={round} />)}
          </More>
        );
      })}
      {all.length > most && <button onClick={() => setMost(most + 200)}>Show {all.length - most} more turns</button>}
    </Part>
  );
}
