// Follows the runs that are named, all at once, by the script of the committed page.
import { readFileSync, writeFileSync } from "node:fs";
import { runInThisContext } from "node:vm";

const [page, address, asked, answered] = process.argv.slice(2);
const [, script] = /<script type="module">([^]*)<\/script>/.exec(readFileSync(page, "utf8"));
globalThis.location = new URL(address); // the script asks where it was opened
runInThisContext(script);

async function follow(run) {
  const all = [];
  for await (const some of globalThis.debate.events(run, 0, new AbortController().signal)) all.push(...some);
  return all;
}
const runs = JSON.parse(readFileSync(asked, "utf8"));
writeFileSync(answered, JSON.stringify(await Promise.all(runs.map(follow))));
