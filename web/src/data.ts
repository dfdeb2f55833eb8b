/** Where runs come from: the data in the page, or a program that serves them. */

import { signal } from "@preact/signals";
import type { Call, Event, Json, RunRecord, Verdict } from "./record";

export interface Told {
  record: RunRecord;
  events: Event[];
  calls?: Call[];
  prompts?: { [hash: string]: string };
}

/** Return the run that the page holds, or null where a program serves the page. */
export async function held(): Promise<Told | null> {
  const text = document.getElementById("data")?.textContent?.trim();
  if (!text) return null;
  const bytes = Uint8Array.from(atob(text), (one) => one.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return JSON.parse(await new Response(stream).text()) as Told;
}

const BASE = new URL("..", location.href.split(/[?#]/)[0]);
const KEY = "key";
const kept = () => {
  const given = new URLSearchParams(location.search).get("token");
  if (given) sessionStorage.setItem(KEY, given);
  return sessionStorage.getItem(KEY) ?? "";
};
export const key = signal("");
/** True where a program asks for a key, or for another one. */
export const locked = signal(false);

export function useKey(text: string): void {
  sessionStorage.setItem(KEY, text);
  key.value = text;
  locked.value = false;
}

export const restoreKey = () => (key.value = kept());

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

/** What a list shows of a run. */
export interface Head {
  run_id: string;
  protocol: string;
  method: string;
  status: string;
  question: string;
  verdict: Verdict | null;
  contests: string | null;
  evaluated: { evaluation: string; row: string; item: string } | null;
  waits: boolean;
  started: string;
  calls: number;
  cost: number | null;
}

export const post = <T>(path: string, body?: unknown, more: HeadersInit = {}) =>
  json<T>(path, {
    method: "POST",
    headers: body === undefined ? more : { "content-type": "application/json", ...more },
    body: body === undefined ? undefined : JSON.stringify(body),
  });

/** Yield the server-sent events of an answer, some at a time: the kind and the data of each. */
export async function* sent(answer: Response): AsyncGenerator<{ kind: string; data: Json }[]> {
  const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader();
  try {
    for (let rest = ""; ; ) {
      const { done, value } = await reader.read();
      if (done) return;
      const blocks = (rest + value.replaceAll("\r", "")).split("\n\n");
      rest = blocks.pop()!;
      const told = blocks.flatMap((block) => {
        const data = /(?:^|\n)data: ?([^\n]*)/.exec(block)?.[1];
        return data ? [{ kind: /(?:^|\n)event: ?([^\n]*)/.exec(block)?.[1] ?? "", data: JSON.parse(data) as Json }] : [];
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
  for (let pause = 500; !signal.aborted; pause = Math.min(10_000, pause * 2)) {
    try {
      for await (const some of sent(await get(`debates/${encodeURIComponent(id)}/events?after=${after}`, { signal }))) {
        const told = some.map((one) => one.data as unknown as Event);
        pause = 500;
        after = told.at(-1)!.n;
        ended = told.at(-1)!.kind === "ended";
        yield told;
      }
      if (ended) return;
    } catch (error) {
      if (signal.aborted || locked.value) return;
      if (!(error instanceof TypeError)) throw error;
    }
    await new Promise((done) => setTimeout(done, pause));
  }
}
