/** What a person does to a run: stop it, answer it, say otherwise, contest it. */

import { signal } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";
import { address, again, failed, open } from "./data";
import { acts, answer, begun, type Change, contest, goOn, halt, price, type Stop, stops } from "./host";
import { changes, finished, folded, heard, live, record } from "./model";
import { entered, Link, More, typed } from "./parts";
import type { Texts } from "./record";
import { noChanges } from "./strengths";
import { count } from "./words";

/** What a person says instead, beside the figures that are tried out. */
export const said = signal<Change[]>([]);

/** All that a person changes here, as `contest` takes it. */
function wishes(): Change[] {
  const { set, dropped, flipped, voided } = changes.value;
  const each = (change: string, places: Iterable<string>) => [...places].map((where) => ({ change, where }));
  const figures = [...set].map(([id, value]) => `${id}=${value}`);
  return [...each("set", figures), ...each("drop", dropped), ...each("flip", flipped), ...each("void", voided), ...said.value];
}

/** Do something, and show what went wrong with it. */
export async function trying(work: () => Promise<unknown>): Promise<void> {
  failed.value = "";
  await work().catch((error: Error) => (failed.value = error.message));
}

const quoted = (text: string) => (/^[\w./:=@-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);

/** The changes so far: the command for them, their price, and the contest itself. */
export function Trial() {
  const all = wishes();
  const told = JSON.stringify(all);
  const [cost, setCost] = useState("");
  useEffect(() => {
    setCost("");
    if (!acts.value || !all.length) return;
    const wait = setTimeout(() => price(record.value, all).then(setCost, (error: Error) => setCost(error.message)), 300);
    return () => clearTimeout(wait);
  }, [told]);
  if (!all.length) return null;
  const begin = () => trying(async () => open(address(await contest(record.value, all))));
  const clear = () => {
    said.value = [];
    changes.value = noChanges();
  };
  const words = all.map(({ change, where, text }) => `--${change} ${quoted(where)}${text ? ` ${quoted(text)}` : ""}`);
  return (
    <div class="trial">
      <b>{count(all.length, "change")}</b> tried out
      <code>dialectree contest {record.value.run_id} {words.join(" ")}</code>
      {acts.value && <span class="soft" role="status">{cost || "…"}</span>}
      {acts.value && finished.value && !live.value && <button class="main" onClick={begin}>Contest</button>}
      <button onClick={clear}>As recorded</button>
    </div>
  );
}

const NAMES: Texts = {
  replace: "Say this instead", verdict: "Rule this", drop: "Take it out",
  "add support": "Add this for it", "add attack": "Add this against it",
};

/** What may be changed at a place; `add support` and `add attack` add an argument below it. */
export function Edit({ where, text = "", may }: { where: string; text?: string; may: string[] }) {
  const [now, setNow] = useState(text);
  const others = said.value.filter((one) => one.where.replace(/^(support|attack):/, "") !== where);
  const changed = others.length < said.value.length;
  const wish = (name: string) => {
    const [change = "", stance] = name.split(" ");
    const place = stance ? `${stance}:${where}` : where;
    const one = change === "drop" ? { change, where: place } : { change, where: place, text: now };
    said.value = [...others, one];
  };
  return (
    <More kind="more edit" name={changed ? "Changed" : "Contest this"}>
      <textarea aria-label={`New text for ${where}`} rows={3} dir="auto" value={now} onInput={typed(setNow)} />
      {may.map((name) => (
        <button key={name} disabled={name !== "drop" && !now.trim()} onClick={() => wish(name)}>{NAMES[name]}</button>
      ))}
      {changed && <button onClick={() => (said.value = others)}>As it was</button>}
    </More>
  );
}

export function Request({ stop }: { stop: Stop }) {
  const send = (text: string) => void trying(() => answer(record.value, stop, text));
  return (
    <form class="ask" onSubmit={entered("answer", send)}>
      <p class="name">You are asked</p>
      <p class="prose" dir="auto">{stop.request}</p>
      {stop.transcript && <More name="What was said"><pre dir="auto">{stop.transcript}</pre></More>}
      {stop.labels.map((one) => <button key={one} type="button" onClick={() => send(one)}>{one}</button>)}
      {!stop.labels.length && <textarea name="answer" aria-label="Your answer" rows={2} dir="auto" required />}
      {!stop.labels.length && <button class="main">Answer</button>}
      <button type="button" onClick={() => send("")}>No answer</button>
    </form>
  );
}

/** Stop a run or go on with it, and where a person is asked. */
export function Acts() {
  if (!acts.value) return null;
  const takeUp = () => trying(async () => {
    await goOn(record.value);
    begun.value = { ...record.value, events: heard() };
    again.value++;
  });
  return (
    <>
      {stops.value.map((one) => <p key={one.id} class="note asked" role="status">You are asked at <Link id={one.node} most={60} /></p>)}
      {live.value && !stops.value.length && <button onClick={() => trying(() => halt(record.value))}>Stop</button>}
      {!live.value && folded.value.status === "partial" && <button onClick={takeUp}>Go on with it</button>}
    </>
  );
}
