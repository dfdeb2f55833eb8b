/** One run on the page: head, tools, tree and node. */

import { useEffect } from "preact/hooks";
import { Detail } from "./detail";
import { Head, Tools } from "./head";
import { nodes, pane, picked } from "./model";
import { Tree } from "./tree";

export function RunPage() {
  const many = nodes.value.size > 1;
  useEffect(() => {
    document.querySelector(".pane.detail")?.scrollTo(0, 0);
  }, [picked.value]);
  return (
    <div class={`run show-${many ? pane.value : "node"}`}>
      <Head />
      <Tools />
      <main class={many ? "two" : "one"}>
        {many && <Tree />}
        <div class="pane detail" role="region" aria-label="The node" tabIndex={0}><Detail /></div>
      </main>
    </div>
  );
}
