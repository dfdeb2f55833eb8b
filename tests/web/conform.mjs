// Folds and weighs what stands in the file that is named, by the script of the committed page.
import { readFileSync, writeFileSync } from "node:fs";
import { runInThisContext } from "node:vm";

const [page, asked, answered] = process.argv.slice(2);
const [, script] = /<script type="module">([^]*)<\/script>/.exec(readFileSync(page, "utf8"));
globalThis.location = new URL("http://127.0.0.1/page/"); // the script asks where it was opened
runInThisContext(script);
const { fold, Folding, orders, strengths, noChanges, confidences } = globalThis.debate;

const answers = JSON.parse(readFileSync(asked, "utf8")).map((one) => {
  const order = orders(one.declared, one.protocol);
  const folded = fold(one.events, order);
  if (one.weigh) {
    const changes = noChanges();
    for (const { change, where } of one.weigh.changes) {
      const [id, value] = where.split("=");
      if (change === "set") changes.set.set(id, Number(value));
      else if (change === "drop") changes.dropped.add(where);
      else (change === "flip" ? changes.flipped : changes.voided).add(where);
    }
    return [...strengths(folded.nodes, one.weigh.root, one.settings, changes)];
  }
  if (one.multiply) return [...confidences(folded.nodes, "0", new Map())];
  const folding = new Folding();
  const moments = one.moments.map((n) => folding.to(one.events, n).folded(order));
  return [folded, ...moments].map(({ nodes, segments, verdict, usage, status, notices }) => {
    return { nodes: [...nodes], segments: [...segments], verdict, usage, status, notices };
  });
});
writeFileSync(answered, JSON.stringify(answers));
