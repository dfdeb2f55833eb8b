/** A new debate: what the protocol asks for, what it will take, and the start. */

import { useEffect, useRef, useState } from "preact/hooks";
import { trying } from "./act";
import { json, key, post } from "./data";
import { filled, Form } from "./form";
import type { Schema } from "./form";
import { begin } from "./host";
import type { Declared, Fields } from "./record";
import { failed, go } from "./route";
import { label } from "./words";

interface Offer extends Declared {
  name: string;
  presets: { [name: string]: Fields };
  forms: { given: Schema; settings: Schema };
}
interface Prepared {
  input: Fields;
  remarks: string[];
  estimate: { line: string } | null;
}

/** A form for a new debate. */
export function Start() {
  const [offers, setOffers] = useState<Offer[]>([]);
  const [name, setName] = useState("");
  const [preset, setPreset] = useState("");
  const [told, setTold] = useState<string[]>([]);
  const [busy, setBusy] = useState(false);
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    json<{ protocols: Offer[] }>("protocols").then((all) => setOffers(all.protocols), (error: Error) => (failed.value = error.message));
  }, [key.value]);
  const offer = offers.find((one) => one.name === name) ?? offers[0];
  if (!offer) return <p class="soft wait">Reading the protocols …</p>;
  const work = async (start: boolean) => {
    if (busy || !form.current!.reportValidity()) return;
    setBusy(true);
    await trying(async () => {
      const from = new FormData(form.current!);
      const settings = { ...offer.presets[preset], ...(await filled(offer.forms.settings, from)) };
      const given = await filled(offer.forms.given, from);
      const ready = await post<Prepared>(`protocols/${encodeURIComponent(offer.name)}/prepare`, { given, settings, estimate: !start });
      setTold([ready.estimate?.line ?? "", ...ready.remarks].filter(Boolean));
      if (!start) return;
      go(await begin(offer.name, offer, ready.input, settings));
    });
    setBusy(false);
  };
  return (
    <main class="list">
      <h1>A new debate</h1>
      <form ref={form} class="start" key={offer.name} onSubmit={(event) => (event.preventDefault(), void work(true))}>
        <div class="field">
          <label for="protocol">Protocol</label>
          <select id="protocol" value={offer.name} onChange={(event) => (setName(event.currentTarget.value), setPreset(""), setTold([]))}>
            {offers.map((one) => <option key={one.name} value={one.name}>{one.title}</option>)}
          </select>
          <p class="soft">{offer.summary}</p>
        </div>
        <Form schema={offer.forms.given} />
        {Object.keys(offer.presets).length > 0 && (
          <div class="field">
            <label for="preset">Preset</label>
            <select id="preset" value={preset} onChange={(event) => setPreset(event.currentTarget.value)}>
              <option value="">none</option>
              {Object.keys(offer.presets).map((one) => <option key={one} value={one}>{label(one)}</option>)}
            </select>
            <p class="soft">{Object.entries(offer.presets[preset] ?? {}).map(([set, to]) => `${label(set)}: ${to}`).join(", ")}</p>
          </div>
        )}
        <details class="phase"><summary>Settings</summary><Form schema={offer.forms.settings} /></details>
        {told.map((one) => <p key={one} role="status">{one}</p>)}
        {failed.value && <p class="note bad" role="alert">{failed.value}</p>}
        <button type="button" disabled={busy} onClick={() => void work(false)}>What will it take?</button>{" "}
        <button class="main" disabled={busy}>Start</button>
      </form>
    </main>
  );
}
