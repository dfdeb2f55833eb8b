/** What was said at a node: by pass, phase and round, sides beside each other. */

import { useState } from "preact/hooks";
import { Edit } from "./act";
import { ask, calls, look, nodes, pick, prompts, record, turn as linked } from "./model";
import type { Call, Json, Node, Turn } from "./record";
import { figure, label, phaseOf, short, speaking, turnName } from "./words";

/** A node by its id, with its words; the id alone where there is no such node. */
export function Link({ id, most = 70 }: { id: string; most?: number }) {
  const node = nodes.value.get(id);
  if (!node) return <span class="id">{id}</span>;
  const go = (event: MouseEvent) => {
    event.preventDefault();
    pick(id);
  };
  return (
    <a class="link" href={`#${encodeURIComponent(id)}`} onClick={go}>
      <span class="id">{id}</span> <bdi>{short(node.text, most)}</bdi>
    </a>
  );
}

const IDS = /^\d+(\.\d+)*$/;

/** Any value of a reply, its fields by their captions. */
export function Value({ value, captions = {} }: { value: Json; captions?: { [name: string]: string } }) {
  if (value === null || value === "") return <span class="soft">nothing</span>;
  if (typeof value === "boolean") return <span>{value ? "yes" : "no"}</span>;
  if (typeof value === "number") return <span class="n">{String(value)}</span>;
  if (typeof value === "string")
    return IDS.test(value) && nodes.value.has(value) ? <Link id={value} /> : <p class="prose" dir="auto">{value}</p>;
  if (Array.isArray(value)) {
    if (!value.length) return <span class="soft">none</span>;
    if (value.every((one) => typeof one === "string" && one.length < 30 && !nodes.value.has(one)))
      return <span>{value.join(", ")}</span>;
    return <ul class="items">{value.map((one, n) => <li key={n}><Value value={one} captions={captions} /></li>)}</ul>;
  }
  return (
    <dl class="fields">
      {Object.entries(value).map(([name, one]) => (
        <div key={name}>
          <dt>{captions[name] ?? label(name)}</dt>
          <dd><Value value={one} captions={captions} /></dd>
        </div>
      ))}
    </dl>
  );
}

function callsOf(turn: Turn): Call[] {
  return calls.value.filter(
    (call) =>
      call.node === turn.node &&
      call.phase === turn.phase &&
      call.role === turn.role &&
      call.round === turn.round &&
      call.take === turn.take &&
      (call.speaker || call.role) === turn.speaker,
  );
}

function CallView({ call }: { call: Call }) {
  const took = (Date.parse(call.ended) - Date.parse(call.started)) / 1000;
  const parts = [
    call.model,
    call.sent?.served && call.sent.served !== call.model ? `served as ${call.sent.served}` : "",
    call.prompt,
    `${call.prompt_tokens} + ${call.completion_tokens} tokens`,
    call.cost == null ? "" : `cost ${call.cost}`,
    took > 0 ? `${took.toFixed(1)} s` : "",
    call.attempts > 1 ? `${call.attempts} attempts` : "",
    call.repair ? `repair ${call.repair}` : "",
    call.source === "model" ? "" : `from the ${call.source}`,
  ];
  return (
    <div class="call">
      <p class="soft">{parts.filter(Boolean).join(" · ")}</p>
      {(call.sent?.messages ?? []).map(([role, hash], n) => (
        <div key={n}>
          <p class="name">{label(role)}</p>
          <pre>{prompts.value.get(hash) ?? "The text of this message is not in this file."}</pre>
        </div>
      ))}
      {call.reply !== null && <p class="name">Reply</p>}
      {call.reply !== null && <pre>{call.reply}</pre>}
      {call.error && <p class="bad">{call.error}</p>}
    </div>
  );
}

function Calls({ turn }: { turn: Turn }) {
  const [open, setOpen] = useState(false);
  const toggle = (event: Event) => {
    const now = (event.currentTarget as HTMLDetailsElement).open;
    setOpen(now);
    if (now) void ask.value?.();
  };
  const mine = callsOf(turn);
  if (!mine.length && !ask.value) return null;
  return (
    <details class="more" onToggle={toggle}>
      <summary>Call and prompt</summary>
      {open && mine.map((call, n) => <CallView key={n} call={call} />)}
      {open && !mine.length && <p class="soft">No call was made for this turn.</p>}
    </details>
  );
}

function TurnView({ node, turn, side }: { node: Node; turn: Turn; side: number }) {
  const name = turnName(node, turn);
  const phase = phaseOf(record.value, turn);
  const task = turn.side && (look.value.tasks?.[turn.side] ?? turn.side);
  const defends = [turn.label, task].filter(Boolean).join(": ");
  const captions = phase?.captions ?? {};
  const fields = Object.entries(turn.fields).filter(([, value]) => value !== null && value !== "");
  const lead = phase?.editable?.[0] ?? "";
  fields.sort(([a], [b]) => Number(b === lead) - Number(a === lead));
  const show = (one: HTMLElement | null) => {
    if (one && linked.value === name) one.scrollIntoView({ block: "nearest" });
  };
  return (
    <article class={`turn side-${side}${linked.value === name ? " linked" : ""}`} ref={show}>
      <p class="who">
        {speaking(node, turn)}{" "}
        <a class="soft" href={`#${encodeURIComponent(name)}`} aria-label={`Link to the turn ${name}`}>{name}</a>
        {defends && defends !== turn.speaker && <span class="soft defends" dir="auto">{short(defends, 120)}</span>}
      </p>
      {fields.map(([field, value]) => (
        <div class="field" key={field}>
          {(fields.length > 1 || typeof value !== "string") && <p class="name">{captions[field] ?? label(field)}</p>}
          <Value value={value} captions={captions} />
        </div>
      ))}
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

function Round({ node, turns, sides }: { node: Node; turns: Turn[]; sides: string[] }) {
  const speakers = new Set(turns.map((one) => one.speaker));
  const beside = speakers.size > 1 && turns.every((one) => sides.includes(one.speaker));
  const round = turns[0]!.round;
  const side = (one: Turn) => (one.side === "support" ? 0 : one.side === "attack" ? 1 : sides.indexOf(one.speaker) % 2);
  return (
    <>
      {round > 0 && <h4 class="round">Round {round}</h4>}
      <div class={beside ? (speakers.size > 2 ? "facing many" : "facing") : "alone"}>
        {turns.map((one) => (
          <TurnView key={turnName(node, one)} node={node} turn={one} side={beside ? Math.max(0, side(one)) : -1} />
        ))}
      </div>
    </>
  );
}

/** The speakers who face each other: those declared, and those who share a role. */
function facing(turns: Turn[]): string[] {
  const declared = look.value.facing ?? [];
  const roles = new Map<string, Set<string>>();
  const sided = new Set<string>();
  for (const one of turns) {
    roles.set(one.role, (roles.get(one.role) ?? new Set()).add(one.speaker));
    if (one.side) sided.add(one.speaker);
  }
  const shared = [...roles.values()].filter((all) => all.size > 1).flatMap((all) => [...all]);
  return [...new Set([...declared, ...shared, ...(sided.size > 1 ? sided : [])])].sort();
}

/** What was said at a node. */
export function Transcript({ node }: { node: Node }) {
  const [most, setMost] = useState(60);
  const turns = node.transcript.slice(0, most);
  if (!turns.length) return null;
  const together = look.value.together ?? [];
  const phase = (one: Turn) => (together.includes(one.phase) ? together.join(" and ") : one.phase);
  const passes = new Set(node.transcript.map((one) => one.take)).size > 1;
  const groups = grouped(turns, (one) => `${one.take} ${one.protocol} ${phase(one)}`);
  return (
    <section>
      <h3>What was said</h3>
      {groups.map((group, n) => {
        const first = group[0]!;
        const sides = facing(group);
        return (
          <details class="phase" open key={`${n} ${first.take} ${first.phase}`}>
            <summary>
              {label(phase(first)) || "Debate"}
              {passes && <span class="soft"> pass {first.take}</span>}
            </summary>
            {grouped(group, (one) => String(one.round)).map((round, k) => (
              <Round key={k} node={node} turns={round} sides={sides} />
            ))}
          </details>
        );
      })}
      {node.transcript.length > most && (
        <button onClick={() => setMost(most + 200)}>Show {node.transcript.length - most} more turns</button>
      )}
    </section>
  );
}

export function Bar({ value, stance }: { value: number | null | undefined; stance?: string | null }) {
  return (
    <span class={`bar ${stance ?? ""}`} aria-hidden="true">
      <i style={{ width: `${(value ?? 0) * 100}%` }} />
    </span>
  );
}

export function Figure({ value, stance }: { value: number | null | undefined; stance?: string | null }) {
  return <span class="figure"><Bar value={value} stance={stance} /> <span class="share">{figure(value)}</span></span>;
}
