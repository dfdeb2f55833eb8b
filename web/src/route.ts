/** Where the page is: the list, a run, two runs beside each other, or the form for a new one. */

import { computed, signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { key } from "./data";

const search = signal(location.search);
const named = computed(() => new URLSearchParams(search.value));
/** The run that the address names, and the one that stands beside it. */
export const shown = computed(() => named.value.get("run") ?? "");
export const beside = computed(() => named.value.get("beside") ?? "");
export const making = computed(() => named.value.has("new"));
/** What went wrong last, in the words of the program that serves. */
export const failed = signal("");
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

export const go = (id: string, event?: MouseEvent) => open(id && address(id), event);

/** Read what a view shows, again whenever one of `on` or the key is another. */
export function useReading(work: (stop: AbortSignal) => Promise<void>, on: unknown[]): void {
  useEffect(() => {
    const stop = new AbortController();
    failed.value = "";
    work(stop.signal).catch((error: Error) => stop.signal.aborted || (failed.value = error.message));
    return () => stop.abort();
  }, [...on, key.value]);
}

if (typeof addEventListener !== "undefined") addEventListener("popstate", () => (search.value = location.search));
