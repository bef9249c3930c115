import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { build } from "esbuild";
import { addRuntime } from "./add-runtime.ts";

/** The SDK and others are CommonJS inside and ask for Node's modules by require, which a module does not have. */
const banner = `import { createRequire } from "node:module"; const require = createRequire(import.meta.url);`;

/** Bundles a function of the tests, `handler.mjs`, and our own loop beside it, into a folder. */
export async function bundleFunction(entry: string, folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  await build({
    entryPoints: [entry],
    outfile: join(folder, "handler.mjs"),
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node24",
    sourcemap: "inline",
    sourcesContent: false,
    banner: { js: banner },
    logLevel: "silent",
  });
  await addRuntime(folder, { kind: "loop" });
}
