import { createHash } from "node:crypto";
import { fileURLToPath } from "node:url";
import { defineConfig, type Plugin } from "vite";

const hash = (text: string) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

/** Put the script and the style into the page, and their hashes into its policy. */
const oneFile: Plugin = {
  name: "one-file",
  enforce: "post",
  generateBundle(_, bundle) {
    let script = "";
    let style = "";
    for (const [name, one] of Object.entries(bundle)) {
      if (one.type === "chunk") script += one.code.trim();
      else if (name.endsWith(".css")) style += String(one.source).trim();
      if (name !== "index.html") delete bundle[name];
    }
    script = script.replaceAll("</script", "<\\/script").replaceAll("<!--", "<\\!--");
    const page = bundle["index.html"];
    if (page?.type !== "asset") throw new Error("the build made no page");
    const hashed = `script-src ${hash(script)}; style-src ${hash(style)}`;
    const rest = "connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'";
    page.fileName = "page.html";
    page.source = String(page.source)
      .replace(/\s*<(script type="module"|link rel="stylesheet")[^>]*>(<\/script>)?/g, "")
      .replace("POLICY", () => `default-src 'none'; ${hashed}; ${rest}`)
      .replace("<style></style>", () => `<style>${style}</style>`)
      .replace("<script></script>", () => `<script type="module">${script}</script>`);
  },
};

const outDir = fileURLToPath(new URL("../dialectree/page", import.meta.url));
export default defineConfig({
  plugins: [oneFile],
  build: { outDir, emptyOutDir: true, modulePreload: false, target: "es2022", assetsInlineLimit: 0 },
});
