/** Small pieces of which all views are made. */

import type { ComponentChildren, JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { address, failed, open } from "./data";
import { captionOf, folded, goTo, nodes, printing } from "./model";
import { figure, type Json, short, type Texts, type Verdict } from "./record";

type Figured = { value: number | null | undefined; stance?: string | null; was?: number };
type Typed = { currentTarget: { value: string } };

/** Use what is typed or chosen. */
export const typed = (use: (text: string) => void) => (event: Typed) => use(event.currentTarget.value);

/** Use the field of a form that is sent. */
export const entered = (name: string, use: (text: string) => void) => (event: SubmitEvent) => {
  event.preventDefault();
  use(String(new FormData(event.currentTarget as HTMLFormElement).get(name)));
};

export const Bar = ({ value, stance }: Figured) => (
  <span class={`bar ${stance ?? ""}`} aria-hidden="true"><i style={{ width: `${(value ?? 0) * 100}%` }} /></span>
);
export const Figure = (of: Figured) => (
  <span class="figure">
    <Bar {...of} /> <span class="share">{figure(of.value)}</span>
    {of.was !== undefined && <span class="moved"> was {figure(of.was)}</span>}
  </span>
);

export const More = ({ name, kind = "more", ...rest }: {
  name: ComponentChildren; kind?: string; children: ComponentChildren; open?: boolean;
}) => <details class={kind} open={rest.open}><summary>{name}</summary>{rest.children}</details>;

/** What folds, and is made when it is opened. */
export function Later({ name, children, ask }: { name: string; children: () => ComponentChildren; ask?: () => void }) {
  const [open, setOpen] = useState(false);
  useEffect(() => void (open && ask?.()), [open]);
  const toggle = (event: { currentTarget: HTMLDetailsElement }) => setOpen(event.currentTarget.open);
  return <details class="more" onToggle={toggle}><summary>{name}</summary>{open && children()}</details>;
}

/** A choice between values, each with its words. */
export const Select = ({ of, words = String, use = () => {}, ...rest }: {
  of: string[]; words?: (value: string) => string; use?: (value: string) => void; value?: string; id?: string;
}) => (
  <select {...rest} onChange={typed(use)}>
    {of.map((one) => <option key={one} value={one}>{words(one)}</option>)}
  </select>
);

export const Search = ({ words, value, use }: { words: string; value: string; use: (text: string) => void }) => (
  <input type="search" aria-label={words} placeholder={words} value={value} onInput={typed(use)} />
);
export const Failed = () => failed.value && <p class="note bad" role="alert">{failed.value}</p>;
export const Reading = ({ what }: { what: string }) => !failed.value && <p class="soft wait">Reading {what} …</p>;

export const Go = ({ to, children, kind }: { to: string; children: ComponentChildren; kind?: string }) => (
  <a href={to || location.pathname} class={kind} dir="auto" onClick={(event) => open(to, event)}>{children}</a>
);
/** A link to a run, to a node or a turn in it, or to two runs beside each other. */
export const To = (run: { id: string; at?: string; other?: string; children: ComponentChildren }) => (
  <Go to={address(run.id, run.at, run.other)}>{run.children}</Go>
);

export const Part = ({ name, children }: { name: string; children: ComponentChildren }) => (
  <section><h3>{name}</h3>{children}</section>
);
const PLACE = /(?<=\bat )(0(?:\.\d+)+)\b/;
export const Notes = ({ of, kind = "note" }: { of: string[]; kind?: string }) => (
  <>{of.map((one) => <p key={one} class={kind} dir="auto">{one.split(PLACE).map((part, n) =>
    n % 2 && nodes.value.has(part) ? <q key={n}><Link id={part} most={60} /></q> : part,
  )}</p>)}</>
);

export function Answer({ of, kind = "prose" }: { of: Verdict | null; kind?: string }) {
  if (of?.answer == null) return <p class="soft">There is no answer.</p>;
  const letter = of.label && of.label !== of.answer && <span class="letter">{of.label}</span>;
  return <p class={`${kind} answer`} dir="auto">{letter}{of.answer}</p>;
}

type Each<T> = (one: T, n: number, all: T[]) => JSX.Element;
/** The first of many, with a button for the others. */
export function Some<T>({ of, each, least = 25 }: { of: T[]; each: Each<T>; least?: number }) {
  const [most, setMost] = useState(printing.value ? Infinity : least);
  return (
    <>
      <ul class="plain">{of.slice(0, most).map(each)}</ul>
      {of.length > most && <button onClick={() => setMost(most + 200)}>Show {of.length - most} more</button>}
    </>
  );
}

/** A part with the first of many; none where there are none. */
export const Listed = <T,>({ name, of, each, in: In = Part, children }: {
  name: string; of: T[]; each: Each<T>; in?: typeof Part; children?: ComponentChildren;
}) => of.length > 0 && <In name={name}><Some of={of} each={each} />{children}</In>;

export const Stance = ({ of }: { of: string | null }) =>
  of && <span class={`stance ${of}`}>{of === "support" ? "✓ for" : "✗ against"} </span>;

/** A link to a node, a turn, a source or a sentence of the run. */
export const Jump = ({ to, ...rest }: { to: string; children: ComponentChildren; class?: string }) => (
  <a {...rest} href={`#${encodeURIComponent(to)}`} onClick={(event) => (event.preventDefault(), goTo(to))} />
);

/** A node by its words; its id where there is no such node. */
export function Link({ id, most = 70 }: { id: string; most?: number }) {
  const node = nodes.value.get(id);
  if (!node) return <span class="id">{id}</span>;
  return <Jump to={id} class="link"><bdi>{short(node.text, most)}</bdi></Jump>;
}

/** Ids and addresses, for those who need them. */
export const Menu = ({ of, children }: { of: string; children: ComponentChildren }) => (
  <details class="menu"><summary aria-label={`Ids of ${of}`}>⋯</summary><div class="soft">{children}</div></details>
);

const IDS = /^\d+(\.\d+)*$/;

export const isShort = (value: Json) => (value === null || typeof value !== "object") && String(value).length < 16;
/** Any value of a reply, its fields by their captions. */
export function Value({ value, captions = {} }: { value: Json; captions?: Texts }) {
  if (value === null || value === "") return <span class="soft">nothing</span>;
  if (typeof value === "boolean") return <span>{value ? "yes" : "no"}</span>;
  if (typeof value === "number") return <span class="n">{String(value)}</span>;
  if (typeof value === "string") {
    const segment = folded.peek().segments.get(value);
    if (segment) return <q title={value} dir="auto">{short(segment.text, 120)}</q>;
    return IDS.test(value) && nodes.value.has(value) ? <Link id={value} /> : <p class="prose" dir="auto">{value}</p>;
  }
  if (Array.isArray(value)) {
    if (!value.length) return <span class="soft">none</span>;
    const brief = value.every((one) => typeof one === "string" && /^[^\s:.]{1,30}$/.test(one));
    if (brief) return <span>{value.join(", ")}</span>;
    return <ul class="items">{value.map((one, n) => <li key={n}><Value value={one} captions={captions} /></li>)}</ul>;
  }
  const shown = Object.entries(value).filter(([name]) => captions[name] !== "");
  const flat = shown.every(([, one]) => isShort(one));
  return (
    <dl class={flat ? "fields flat" : "fields"}>
      {shown.map(([name, one]) => (
        <div key={name} class={isShort(one) ? "short" : ""}>
          <dt>{name === "text" ? "" : captions[name] ?? captionOf(name)}</dt><dd><Value value={one} captions={captions} /></dd>
        </div>
      ))}
    </dl>
  );
}
