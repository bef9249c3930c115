import { mkdir } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

/** The SDK and others are CommonJS inside and ask for Node's modules by require, which a module does not have. */
const banner = `import { createRequire } from "node:module"; const require = createRequire(import.meta.url);`;

/** Bundles a function as it is deployed, `handler.mjs`, and the runtime's loop beside it, into an empty folder. */
export async function bundleFunction(entry: string, folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  await build({
    entryPoints: { handler: entry, bootstrap: fileURLToPath(new URL("bootstrap.ts", import.meta.url)) },
    outdir: folder,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node24",
    sourcemap: "inline",
    sourcesContent: false,
    banner: { js: banner },
    logLevel: "silent",
  });
}
