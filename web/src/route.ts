/** Where the page is: the list, or a run. */

import { signal } from "@preact/signals";

/** The run that the address names. */
export const shown = signal(new URLSearchParams(location.search).get("run") ?? "");
/** What went wrong last, in the words of the program that serves. */
export const failed = signal("");

export function go(id: string, event?: MouseEvent): void {
  event?.preventDefault();
  history.pushState(null, "", id ? `?run=${encodeURIComponent(id)}` : location.pathname);
  shown.value = id;
}

if (typeof addEventListener !== "undefined")
  addEventListener("popstate", () => (shown.value = new URLSearchParams(location.search).get("run") ?? ""));
