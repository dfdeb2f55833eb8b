/** Where runs come from (the page, or a program that serves them), and which ones the address names. */

import { computed, signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { Call, Event, Json, RunRecord, Texts } from "./record";

/** Return the run that the page holds, or null where a program serves the page. */
export async function held() {
  const text = document.getElementById("data")?.textContent?.trim();
  if (!text) return null;
  const bytes = Uint8Array.from(atob(text), (one) => one.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  const told: unknown = JSON.parse(await new Response(stream).text());
  return told as { record: RunRecord; events: Event[]; calls?: Call[]; prompts?: Texts };
}

const search = signal(location.search);
const named = computed(() => new URLSearchParams(search.value));
/** The run that the address names, and the one that stands beside it. */
export const shown = computed(() => named.value.get("run") ?? "");
export const beside = computed(() => named.value.get("beside") ?? "");
export const making = computed(() => named.value.has("new"));
/** The run about whose documents another question is asked. */
export const from = computed(() => named.value.get("from") ?? "");
/** What went wrong last, in the words of the program that serves. */
export const failed = signal("");
/** The titles of protocols and methods, by name. */
export const titles = signal<Texts>({});
/** Rises where a run that had ended goes on. */
export const again = signal(0);

/** Go to another query of the page; empty: the list. */
export function open(query: string, event?: MouseEvent): void {
  if (event?.ctrlKey || event?.metaKey) return;
  event?.preventDefault();
  history.pushState(null, "", query || location.pathname);
  scrollTo(0, 0);
  search.value = location.search;
  failed.value = "";
}

/** Return the query of a run, of a node or a turn in it, or of it and `other` beside each other. */
export function address(id: string, at = "", other = ""): string {
  const query = new URLSearchParams({ run: id, ...(other && { beside: other }) });
  return `?${query}${at && `#${encodeURIComponent(at)}`}`;
}

const BASE = new URL("..", location.href.split(/[?#]/)[0]);
export const key = signal("");
/** True where a program asks for a key, or for another one. */
export const locked = signal(false);

export function useKey(text: string): void {
  sessionStorage.setItem("key", text);
  key.value = text;
  locked.value = false;
}

/** Go where the address leads, with the key that the tab has. */
export function useAddress(): void {
  key.value = sessionStorage.getItem("key") ?? "";
  addEventListener("popstate", () => (search.value = location.search));
}

/** Read what a view shows, again whenever one of `on` or the key is another. */
export function useReading(work: (stop: AbortSignal) => Promise<void>, on: unknown[]): void {
  useEffect(() => {
    const stop = new AbortController();
    failed.value = "";
    work(stop.signal).catch((error: Error) => stop.signal.aborted || (failed.value = error.message));
    return () => stop.abort();
  }, [...on, key.value]);
}

/** Ask the program that serves the page; raises an error with its own words. */
export async function get(path: string, init: RequestInit = {}): Promise<Response> {
  const headers = new Headers(init.headers);
  if (key.value) headers.set("x-api-key", key.value);
  const answer = await fetch(new URL(path, BASE), { ...init, headers });
  if (answer.ok) return answer;
  if (answer.status === 401) locked.value = true;
  const { detail, message = detail } = (await answer.json().catch(() => ({}))) as { detail?: string; message?: string };
  // A proxy without words of ours has lost the program for a moment, as a connection is lost.
  throw new (answer.status > 501 && !message ? TypeError : Error)(message ?? `${path}: ${answer.status}`);
}

/** Return the JSON of an answer; an empty one is null. */
export async function json<T>(path: string, init?: RequestInit): Promise<T> {
  return JSON.parse((await (await get(path, init)).text()) || "null") as T;
}

export const posted = (body: object = {}, more: HeadersInit = {}): RequestInit =>
  ({ method: "POST", headers: { "content-type": "application/json", ...more }, body: JSON.stringify(body) });
export const post = <T>(path: string, body?: object, more?: HeadersInit) => json<T>(path, posted(body, more));
export const debate = (id: string) => `debates/${encodeURIComponent(id)}`;
export const pause = (milliseconds: number) => new Promise((done) => setTimeout(done, milliseconds));

/** Ask, and yield the server-sent events of the answer, some at a time: the kind and the data of each. */
export async function* sent(path: string, init: RequestInit): AsyncGenerator<{ kind: string; data: Json }[]> {
  const reader = (await get(path, init)).body!.pipeThrough(new TextDecoderStream()).getReader();
  try {
    for (let rest = ""; ; ) {
      const { done, value } = await reader.read();
      if (done) return;
      const blocks = (rest + value.replaceAll("\r", "")).split("\n\n");
      rest = blocks.pop()!;
      const told = blocks.flatMap((block) => {
        const field = (name: string) => new RegExp(`(?:^|\\n)${name}: ?([^\\n]*)`).exec(block)?.[1] ?? "";
        return field("data") ? [{ kind: field("event"), data: JSON.parse(field("data")) as Json }] : [];
      });
      if (told.length) yield told;
    }
  } finally {
    void reader.cancel().catch(() => {});
  }
}

/** Yield the events of a run as they come, after number `after`; a lost connection is taken up. */
export async function* events(id: string, after: number, signal: AbortSignal): AsyncGenerator<Event[]> {
  let ended = false;
  for (let wait = 500; !signal.aborted; wait = Math.min(10_000, wait * 2)) {
    try {
      for await (const some of sent(`${debate(id)}/events?after=${after}`, { signal })) {
        const told = some.map((one) => one.data as unknown as Event);
        wait = 500;
        after = told.at(-1)!.n;
        ended = told.at(-1)!.kind === "ended";
        yield told;
      }
      if (ended) return;
    } catch (error) {
      if (signal.aborted || locked.value) return;
      if (!(error instanceof TypeError)) throw error;
    }
    await pause(wait);
  }
}
