/** Where the page is: the list, a run, or the form for a new one. */

import { computed, signal } from "@preact/signals";

const search = signal(location.search);
const named = computed(() => new URLSearchParams(search.value));
/** The run that the address names. */
export const shown = computed(() => named.value.get("run") ?? "");
export const making = computed(() => named.value.has("new"));
/** What went wrong last, in the words of the program that serves. */
export const failed = signal("");
/** Rises where a run that had ended goes on. */
export const again = signal(0);

/** Go to another query of the page; empty: the list. */
export function open(query: string, event?: MouseEvent): void {
  event?.preventDefault();
  history.pushState(null, "", query || location.pathname);
  search.value = query;
}

export const go = (id: string, event?: MouseEvent) => open(id && `?run=${encodeURIComponent(id)}`, event);

if (typeof addEventListener !== "undefined") addEventListener("popstate", () => (search.value = location.search));
