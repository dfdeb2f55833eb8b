/** A new debate: a form of what the protocol asks for (its JSON schemas), what it will take, and the start. */

import { useRef, useState } from "preact/hooks";
import { begin, trying } from "./act";
import { address, json, open, post, useReading } from "./data";
import { Failed, More, Reading, Select } from "./parts";
import { type Declared, type Fields, type Json, label } from "./record";

interface Schema {
  type?: string; format?: string; description?: string; default?: Json; enum?: string[];
  anyOf?: Schema[]; items?: Schema; properties?: { [name: string]: Schema }; required?: string[];
  minimum?: number; exclusiveMinimum?: number; maximum?: number;
}
interface Offer extends Declared {
  name: string; presets: { [name: string]: Fields }; forms: { given: Schema; settings: Schema };
}
type Offers = { protocols: Offer[] };

/** Return what a field takes, first of all a file or several, and whether it can be left out. */
function plain(field: Schema): Schema {
  const kinds = field.anyOf ?? [field];
  const path = kinds.find((one) => one.format === "path");
  const kind = path ?? kinds.find((one) => one.type !== "null")!;
  const several = kind.items && plain(kind.items).type === "file";
  return { ...kind, ...field, type: path ? "file" : several ? "files" : kind.type };
}

const isNumber = ({ type }: Schema) => type === "integer" || type === "number";
function Field({ name, given, required }: { name: string; given: Schema; required: boolean }) {
  const field = plain(given);
  const { type, description, minimum = field.exclusiveMinimum, maximum } = field;
  const usual = field.default == null ? "" : String(field.default);
  const shared = { name, required, "aria-describedby": `about-${name}`, id: `field-${name}` };
  const input = () => {
    if (type === "file" || type === "files") return <input type="file" multiple={type === "files"} {...shared} />;
    const choices = field.enum ?? (type === "boolean" ? ["true", "false"] : null);
    const none = usual ? `as usual (${label(usual)})` : "–";
    if (choices) return <Select {...shared} of={["", ...choices]} words={(one) => label(one) || none} />;
    const limits = { min: minimum, max: maximum, step: type === "integer" ? 1 : "any" };
    if (isNumber(field)) return <input type="number" {...shared} {...limits} placeholder={usual} />;
    const long = type === "array" || type === "object" || required;
    if (long) return <textarea {...shared} rows={type === "array" ? 3 : 2} dir="auto" />;
    return <input type="text" {...shared} placeholder={usual} dir="auto" />;
  };
  return (
    <div class="field">
      <label for={shared.id}>{label(name.split(".").at(-1)!)}</label>
      {input()}
      <p class="soft" id={`about-${name}`}>
        {description}{type === "array" ? " One a line." : type === "object" ? " As JSON." : ""}
      </p>
    </div>
  );
}

/** The fields of a schema; those of an object whose names are known stand by themselves. */
function Form({ schema, of = "" }: { schema: Schema; of?: string }) {
  return Object.entries(schema.properties ?? {}).map(([name, field]) =>
    field.properties ? (
      <More key={name} name={label(name)}>
        <p class="soft">{field.description}</p>
        <Form schema={field} of={`${of}${name}.`} />
      </More>
    ) : <Field key={name} name={of + name} given={field} required={schema.required?.includes(name) ?? false} />,
  );
}

async function sent(file: File): Promise<Fields> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  return { name: file.name, base64: btoa(Array.from(bytes, (one) => String.fromCharCode(one)).join("")) };
}

/** Return what was filled in; a field that is empty is left out. Raises SyntaxError for JSON that is none. */
async function filled(schema: Schema, from: FormData, of = ""): Promise<Fields> {
  const found: Fields = {};
  for (const [name, given] of Object.entries(schema.properties ?? {})) {
    const value = from.get(of + name);
    const field = plain(given);
    if (field.properties) {
      const inside = await filled(given, from, `${of}${name}.`);
      if (Object.keys(inside).length) found[name] = inside;
    } else if (value instanceof File) {
      const files = await Promise.all((from.getAll(of + name) as File[]).filter((one) => one.size).map(sent));
      if (files.length) found[name] = field.type === "files" ? files : files[0]!;
    } else if (value?.trim()) {
      const text = value.trim();
      if (isNumber(field)) found[name] = Number(text);
      else if (field.type === "boolean") found[name] = text === "true";
      else if (field.type === "array") found[name] = text.split("\n").map((one) => one.trim()).filter(Boolean);
      else found[name] = field.type === "object" ? (JSON.parse(text) as Json) : text;
    }
  }
  return found;
}

export function Start() {
  const [offers, setOffers] = useState<Offer[]>([]);
  const [name, setName] = useState("");
  const [preset, setPreset] = useState("");
  const [told, setTold] = useState<string[]>([]);
  const [busy, setBusy] = useState(false);
  const form = useRef<HTMLFormElement>(null);
  useReading(async (signal) => setOffers((await json<Offers>("protocols", { signal })).protocols), []);
  const offer = offers.find((one) => one.name === name) ?? offers[0];
  if (!offer) return <><Failed /><Reading what="the protocols" /></>;
  const { presets, forms } = offer;
  const title = (one: string) => offers.find(({ name }) => name === one)!.title;
  const names = ["", ...Object.keys(presets)];
  const chosen = Object.entries(presets[preset] ?? {});
  const work = async (start: boolean) => {
    if (busy || !form.current!.reportValidity()) return;
    setBusy(true);
    await trying(async () => {
      const from = new FormData(form.current!);
      const settings = { ...presets[preset], ...(await filled(forms.settings, from)) };
      const body = { given: await filled(forms.given, from), settings, estimate: !start };
      type Prepared = { input: Fields; remarks: string[]; estimate: { line: string } | null };
      const ready = await post<Prepared>(`protocols/${encodeURIComponent(offer.name)}/prepare`, body);
      setTold([ready.estimate?.line ?? "", ...ready.remarks].filter(Boolean));
      if (start) open(address(await begin(offer.name, offer, ready.input, settings)));
    });
    setBusy(false);
  };
  const choose = (one: string) => {
    setName(one);
    setPreset("");
    setTold([]);
  };
  return (
    <main class="list">
      <h1>A new debate</h1>
      <form ref={form} class="start" key={offer.name} onSubmit={(event) => (event.preventDefault(), void work(true))}>
        <div class="field">
          <label for="protocol">Protocol</label>
          <Select id="protocol" value={offer.name} of={offers.map(({ name }) => name)} words={title} use={choose} />
          <p class="soft">{offer.summary}</p>
        </div>
        <Form schema={forms.given} />
        {names.length > 1 && (
          <div class="field">
            <label for="preset">Preset</label>
            <Select id="preset" value={preset} use={setPreset} of={names} words={(one) => label(one) || "none"} />
            <p class="soft">{chosen.map(([name, to]) => `${label(name)}: ${to}`).join(", ")}</p>
          </div>
        )}
        <More kind="phase" name="Settings"><Form schema={forms.settings} /></More>
        {told.map((one) => <p key={one} role="status">{one}</p>)}
        <Failed />
        <button type="button" disabled={busy} onClick={() => void work(false)}>What will it take?</button>{" "}
        <button class="main" disabled={busy}>Start</button>
      </form>
    </main>
  );
}
