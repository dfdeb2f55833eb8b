/** Forms made of JSON schemas. */

import type { Fields, Json } from "./record";
import { label } from "./words";

export interface Schema {
  type?: string; format?: string; description?: string; default?: Json; enum?: string[];
  anyOf?: Schema[]; properties?: { [name: string]: Schema }; required?: string[];
  minimum?: number; exclusiveMinimum?: number; maximum?: number;
}

/** Return what a field takes, first of all a file, and whether it can be left out. */
function plain(field: Schema): Schema {
  const kinds = field.anyOf ?? [field];
  const kind = kinds.find((one) => one.format === "path") ?? kinds.find((one) => one.type !== "null")!;
  return { ...kind, ...field, type: kind.format === "path" ? "file" : kind.type };
}

function Field({ name, given, required }: { name: string; given: Schema; required: boolean }) {
  const field = plain(given);
  const usual = field.default == null ? "" : String(field.default);
  const shared = { name, required, "aria-describedby": `about-${name}`, id: `field-${name}` };
  const choices = field.enum ?? (field.type === "boolean" ? ["true", "false"] : null);
  const long = field.type === "array" || field.type === "object" || required;
  const { minimum = field.exclusiveMinimum, maximum } = field;
  return (
    <div class="field">
      <label for={shared.id}>{label(name.split(".").at(-1)!)}</label>
      {field.type === "file" ? <input type="file" {...shared} />
      : choices ? (
        <select {...shared}>
          <option value="">{usual ? `as usual (${label(usual)})` : "–"}</option>
          {choices.map((one) => <option key={one} value={one}>{label(one)}</option>)}
        </select>
      ) : field.type === "integer" || field.type === "number" ? (
        <input type="number" {...shared} min={minimum} max={maximum} step={field.type === "integer" ? 1 : "any"} placeholder={usual} />
      ) : long ? <textarea {...shared} rows={field.type === "array" ? 3 : 2} dir="auto" />
      : <input type="text" {...shared} placeholder={usual} dir="auto" />}
      <p class="soft" id={`about-${name}`}>
        {field.description}{field.type === "array" ? " One a line." : field.type === "object" ? " As JSON." : ""}
      </p>
    </div>
  );
}

/** The fields of a schema; those of an object whose names are known stand by themselves. */
export function Form({ schema, of = "" }: { schema: Schema; of?: string }) {
  return (
    <>
      {Object.entries(schema.properties ?? {}).map(([name, field]) =>
        field.properties ? (
          <details key={name} class="more">
            <summary>{label(name)}</summary>
            <p class="soft">{field.description}</p>
            <Form schema={field} of={`${of}${name}.`} />
          </details>
        ) : <Field key={name} name={of + name} given={field} required={schema.required?.includes(name) ?? false} />,
      )}
    </>
  );
}

async function base64(file: File): Promise<string> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  let text = "";
  for (let at = 0; at < bytes.length; at += 32_768) text += String.fromCharCode(...bytes.subarray(at, at + 32_768));
  return btoa(text);
}

/** Return what was filled in; a field that is empty is left out. Raises SyntaxError for JSON that is none. */
export async function filled(schema: Schema, from: FormData, of = ""): Promise<Fields> {
  const found: Fields = {};
  for (const [name, given] of Object.entries(schema.properties ?? {})) {
    const value = from.get(of + name);
    const { type, properties } = plain(given);
    if (properties) {
      const inside = await filled(given, from, `${of}${name}.`);
      if (Object.keys(inside).length) found[name] = inside;
    } else if (value instanceof File) {
      if (value.size) found[name] = { name: value.name, base64: await base64(value) };
    } else if (value?.trim()) {
      const text = value.trim();
      if (type === "integer" || type === "number") found[name] = Number(text);
      else if (type === "boolean") found[name] = text === "true";
      else if (type === "array") found[name] = text.split("\n").map((one) => one.trim()).filter(Boolean);
      else found[name] = type === "object" ? (JSON.parse(text) as Json) : text;
    }
  }
  return found;
}
