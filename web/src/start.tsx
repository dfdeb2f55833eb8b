/** A new debate: what a person brings, how thorough it shall be, what it will take, and the start. */

import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { begin } from "./act";
import { address, debate, failed, from, json, open, post, useReading } from "./data";
import { Failed, More, Reading, Select } from "./parts";
import { type Declared, type Fields, joined, type Json, label, type RunRecord, short, type Texts } from "./record";

interface Schema {
  type?: string; format?: string; title?: string; description?: string; default?: Json; enum?: string[]; choices?: Texts;
  group?: string; person?: boolean; anyOf?: Schema[]; items?: Schema; properties?: { [name: string]: Schema };
  required?: string[]; minimum?: number; exclusiveMinimum?: number; maximum?: number;
}
interface Offer extends Declared {
  name: string; kind: string; methods?: { name: string; title: string }[]; examples: Fields[];
  presets: { [name: string]: Fields }; preset_words: { [name: string]: string[] };
  forms: { given: Schema; settings: Schema };
}
export interface Offers { acts: boolean; own?: boolean; model?: string; protocols: Offer[]; }

/** What a person may bring, before any protocol's name. */
const WAYS: Texts = {
  claim: "Check a claim", choice: "Choose between options", question: "Answer a question", papers: "Compare two papers",
};
const ALONE = ["claim", "question", "topic", "options", "sources"];

/** Return what a field takes, first of all a file or several, and whether it can be left out. */
function plain(field: Schema): Schema {
  const kinds = field.anyOf ?? [field];
  const path = kinds.find((one) => one.format === "path");
  const kind = path ?? kinds.find((one) => one.type !== "null")!;
  const several = kind.items && plain(kind.items).type === "file";
  return { ...kind, ...field, type: path ? "file" : several ? "files" : kind.type };
}

const isNumber = ({ type }: Schema) => type === "integer" || type === "number";
interface FieldProps { name: string; given: Schema; required: boolean; filled?: Json; wrong?: string; }
function Field({ name, given, required, filled: value, wrong }: FieldProps) {
  const field = plain(given);
  const { type, description = "", choices = {}, minimum = field.exclusiveMinimum, maximum } = field;
  const usual = field.default == null ? "" : (choices[String(field.default)] ?? String(field.default));
  const text = Array.isArray(value) ? value.join("\n") : typeof value === "string" ? value : undefined;
  const filed = value !== null && typeof value === "object" && !Array.isArray(value); // a paper of an example
  const shared = { name, required: required && !filed, "aria-describedby": `about-${name}`, id: `field-${name}` };
  const input = () => {
    if (type === "file" || type === "files") return (
      <>
        <input type="file" multiple={type === "files"} {...shared} />
        {type === "files" && <label class="folder">or a folder <input type="file" name={name} ref={(one) => one?.setAttribute("webkitdirectory", "")} /></label>}
        {filed && <p class="soft">The example's: {String((value as Fields).title)}</p>}
      </>
    );
    const named = field.enum ?? (type === "boolean" ? ["true", "false"] : null);
    const yes: Texts = type === "boolean" ? { true: "yes", false: "no" } : choices;
    const none = usual ? `as usual (${yes[String(field.default)] ?? label(usual)})` : "–";
    if (named) return <Select {...shared} of={["", ...named]} words={(one) => yes[one] ?? (label(one) || none)} />;
    const limits = { min: minimum, max: maximum, step: type === "integer" ? 1 : "any" };
    if (isNumber(field)) return <input type="number" {...shared} {...limits} placeholder={usual} />;
    const long = type === "array" || type === "object" || required;
    if (long) return <textarea {...shared} rows={type === "array" ? 3 : 2} dir="auto" defaultValue={text} />;
    return <input type="text" {...shared} placeholder={usual} dir="auto" />;
  };
  const about = description.replace(/ A program may give.*$/, "").replace(/; (- reads it from standard input|may be repeated)/, "");
  return (
    <div class={wrong ? "field wrong" : "field"}>
      <label for={shared.id}>{given.title ?? label(name.split(".").at(-1)!)}</label>
      {input()}
      {wrong && <p class="bad" role="alert">{wrong}</p>}
      <p class="soft" id={`about-${name}`}>{about}{type === "array" ? " One a line." : type === "object" ? " As JSON." : ""}</p>
    </div>
  );
}

type Named = [string, Schema][];
/** Some fields of a schema; those of an object whose names are known stand by themselves. */
function Form({ of, required = [], inside = "", example = {}, wrong = {} }: {
  of: Named; required?: string[]; inside?: string; example?: Fields; wrong?: Texts;
}) {
  return of.map(([name, field]) =>
    field.properties ? (
      <More key={name} name={field.title ?? label(name)}>
        <p class="soft">{field.description}</p>
        <Form of={Object.entries(field.properties)} inside={`${inside}${name}.`} />
      </More>
    ) : <Field key={name} name={inside + name} given={field} required={required.includes(name)} filled={example[name]} wrong={wrong[name]} />,
  );
}

async function sent(file: File): Promise<Fields> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  const name = file.webkitRelativePath || file.name;
  return { name, base64: btoa(Array.from(bytes, (one) => String.fromCharCode(one)).join("")) };
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

const Choice = ({ name, value, at, use, children }: {
  name: string; value: string; at: string; use: (value: string) => void; children: ComponentChildren;
}) => (
  <label class={value === at ? "choice picked" : "choice"}>
    <input type="radio" name={name} value={value} checked={value === at} onChange={() => use(value)} /><span>{children}</span>
  </label>
);

export function Start() {
  const [offers, setOffers] = useState<Offer[]>([]);
  const [model, setModel] = useState("");
  const [kind, setKind] = useState("claim");
  const [name, setName] = useState("");
  const [preset, setPreset] = useState("usual");
  const [example, setExample] = useState<Fields>({});
  const [told, setTold] = useState<string[]>([]);
  const [wrong, setWrong] = useState<Texts>({});
  const [busy, setBusy] = useState(false);
  const [earlier, setEarlier] = useState<RunRecord>();
  const form = useRef<HTMLFormElement>(null);
  const [asked, timer] = [useRef(0), useRef(0)];
  useReading(async (signal) => {
    const told = await json<Offers>("protocols", { signal });
    setOffers(told.protocols);
    setModel(told.model ?? "");
    if (from.value) setEarlier(await json<RunRecord>(debate(from.value), { signal }));
  }, [from.value]);
  const ways = Object.keys(WAYS).filter((way) => offers.some((one) => one.kind === way && (!earlier || "sources" in (one.forms.given.properties ?? {}))));
  const way = ways.includes(kind) ? kind : ways[0];
  const fitting = offers.filter((one) => one.kind === way);
  const offer = fitting.find((one) => one.name === name) ?? fitting[0];
  const prepare = async (start: boolean) => {
    const { presets, forms, examples } = offer!;
    const data = new FormData(form.current!);
    const given = { ...example, ...(await filled(forms.given, data)) };
    const lacks = (forms.given.required ?? []).some((field) => !(field in given));
    const settings = { ...presets[preset], ...(await filled(forms.settings, data)) };
    const body = { given: lacks && !start ? { ...examples[0], ...given } : given, settings, sources_of: from.value, estimate: !start };
    return { body, settings };
  };
  /** Show what the debate will take, as far as it is filled in; an example stands for what is missing. */
  const reckon = () => {
    clearTimeout(timer.current);
    timer.current = setTimeout(() => void estimate(), 400); // it takes the server some work
  };
  const estimate = async () => {
    const turn = ++asked.current;
    try {
      const { body } = await prepare(false);
      type Prepared = { remarks: string[]; estimate: { line: string } };
      const ready = await post<Prepared>(`protocols/${encodeURIComponent(offer!.name)}/prepare`, body);
      if (turn === asked.current) (setTold([ready.estimate.line, ...ready.remarks]), setWrong({}));
    } catch (error) {
      if (turn === asked.current) setTold([(error as Error).message]);
    }
  };
  useEffect(() => (offer && reckon(), () => clearTimeout(timer.current)), [offer?.name, preset, example, earlier]);
  if (!offer) return <><Failed /><Reading what="what can be debated" /></>;
  const { given, settings } = offer.forms;
  const fields = Object.entries(given.properties ?? {}).filter(([one]) => !(earlier && one === "sources"));
  const top = fields.filter(([one]) => given.required?.includes(one) || ALONE.includes(one));
  const more = fields.filter((one) => !top.includes(one));
  const all: Named = Object.entries(settings.properties ?? {});
  const persons = all.filter(([, one]) => one.person || one.choices?.me);
  const folded = all.filter((one) => one[0] !== "model" && !persons.includes(one));
  const groups = [...new Set(folded.map(([, one]) => one.group ?? "More"))];
  const start = async () => {
    if (busy || !form.current!.reportValidity()) return;
    clearTimeout(timer.current);
    setBusy(true);
    failed.value = "";
    try {
      const { body, settings } = await prepare(true);
      open(address(await begin(offer.name, offer, body, settings)));
    } catch (error) {
      const { message } = error as Error;
      const field = /^`?(\w+)`?[ :]/.exec(message)?.[1] ?? "";
      const known = document.getElementById(`field-${field}`);
      setWrong(known ? { [field]: message } : {});
      if (known) (known.closest("details")?.setAttribute("open", ""), known.focus());
      else failed.value = message;
    }
    setBusy(false);
  };
  const choose = (one: string) => (setKind(one), setName(""), setPreset("usual"), setExample({}), setWrong({}));
  const levels = Object.keys(offer.presets);
  const titleOf = (one: Fields) => short(String(one.claim ?? one.question ?? one.topic ?? Object.values(one)[0]), 70);
  return (
    <main class="list">
      <h1>{earlier ? "Another question about the same documents" : "A new debate"}</h1>
      {earlier && <p class="soft">Documents: {((earlier.input.sources ?? []) as Fields[]).map((one) => String(one.name)).join(", ")}</p>}
      <form ref={form} class="start" key={offer.name + JSON.stringify(example)} onChange={reckon}
        onSubmit={(event) => (event.preventDefault(), void start())}>
        <fieldset class="ways">
          <legend class="unseen">What do you bring?</legend>
          {ways.map((one) => <Choice key={one} name="way" value={one} at={way!} use={choose}>{WAYS[one]}</Choice>)}
        </fieldset>
        <Form of={top.slice(0, 1)} required={given.required} example={example} wrong={wrong} />
        {!earlier && offer.examples.length > 0 && (
          <p class="examples"><span class="soft">Examples:</span>
            {offer.examples.map((one) => <button type="button" key={titleOf(one)} onClick={() => setExample(one)}>{titleOf(one)}</button>)}
          </p>
        )}
        <Form of={top.slice(1)} required={given.required} example={example} wrong={wrong} />
        {persons.map(([one, field]) => (
          <p key={one}><label class="person">
            <input type="checkbox" name={one} value={field.choices?.me ? "me" : "true"} /> {field.choices?.me ?? field.title}
          </label></p>
        ))}
        <fieldset class="ways">
          <legend>How thorough?</legend>
          {levels.slice(0, 3).map((one) => <Choice key={one} name="preset" value={one} at={preset} use={setPreset}>
            {label(one)} <span class="soft">{joined(...(offer.preset_words[one] ?? []))}</span>
          </Choice>)}
        </fieldset>
        <Form of={all.filter(([one]) => one === "model").map(([one, field]) => [one, { ...field, default: model || null }])} wrong={wrong} />
        <More kind="phase" name="Settings">
          {fitting.length > 1 && (
            <div class="field">
              <label for="protocol">Kind of debate</label>
              <Select id="protocol" value={offer.name} of={fitting.map((one) => one.name)} use={setName}
                words={(one) => fitting.find((other) => other.name === one)!.title} />
              <p class="soft">{offer.summary}</p>
            </div>
          )}
          {levels.length > 3 && (
            <div class="field">
              <label for="preset">Other presets</label>
              <Select id="preset" value={preset} use={setPreset} of={levels} words={label} />
            </div>
          )}
          {more.length > 0 && <More name="More about the question"><Form of={more} wrong={wrong} /></More>}
          {groups.map((group) => (
            <More key={group} name={group}><Form of={folded.filter(([, one]) => (one.group ?? "More") === group)} wrong={wrong} /></More>
          ))}
        </More>
        <Failed />
        <p class="price">
          <button class="main" disabled={busy}>{busy ? "It begins …" : "Start the debate"}</button>{" "}
          <span role="status">{told.map((one, n) => <span key={one} class={n ? "soft" : ""}>{one} </span>)}</span>
        </p>
      </form>
    </main>
  );
}
