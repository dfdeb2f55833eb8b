import "./style.css";
import { render } from "preact";
import { Detail } from "./detail";
import { events, held, restoreKey } from "./data";
import { fold, Folding, orders } from "./fold";
import { at, calls, follow, foldBelow, nodes, pane, printing, prompts, restart, run } from "./model";
import { RunPage } from "./run";
import { Served } from "./served";
import { confidences, noChanges, strengths } from "./strengths";

function App({ served }: { served: boolean }) {
  return served ? <Served /> : run.value && <RunPage />;
}

async function open(): Promise<void> {
  const app = document.getElementById("app")!;
  const told = await held();
  if (told) {
    restart(told.record, told.events, told.record.tree);
    calls.value = told.calls ?? [];
    prompts.value = new Map(Object.entries(told.prompts ?? {}));
    document.title = String(told.record.input.question ?? told.record.run_id).slice(0, 80);
    if (nodes.value.size > 60) foldBelow(2);
    pane.value = "tree";
    if (location.hash) follow();
    addEventListener("hashchange", follow);
  } else restoreKey();
  render(<App served={told === null} />, app);
  const paper = document.body.appendChild(document.createElement("div"));
  paper.className = "paper";
  const print = (now: boolean) => {
    printing.value = now;
    const all = now && document.querySelector(".run") ? [...nodes.value.values()] : [];
    render(all.map((node) => <Detail key={node.id} node={node} />), paper);
  };
  addEventListener("beforeprint", () => print(true));
  addEventListener("afterprint", () => print(false));
}

// Tests run the script without a page, and steer it on one.
Object.assign(globalThis, { debate: { fold, Folding, orders, strengths, noChanges, confidences, at, events } });
if (typeof document !== "undefined") void open();
