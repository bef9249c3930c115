import { cp, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

/** The program that asks the runtime API for events: a loop of our own, or `aws-lambda-ric` if it is installed. */
export type Runtime = { readonly kind: "loop" } | { readonly kind: "ric"; readonly installedIn: string };

/** Puts a runtime beside a bundle, for `startFunction`. */
export async function addRuntime(folder: string, runtime: Runtime): Promise<void> {
  const bootstrap = join(folder, "bootstrap.mjs");
  switch (runtime.kind) {
    case "loop":
      await build({
        entryPoints: [fileURLToPath(new URL("bootstrap.ts", import.meta.url))],
        outfile: bootstrap,
        bundle: true,
        platform: "node",
        format: "esm",
        target: "node24",
        logLevel: "silent",
      });
      return;
    case "ric":
      await cp(join(runtime.installedIn, "node_modules"), join(folder, "node_modules"), { recursive: true });
      await writeFile(bootstrap, 'import "./node_modules/aws-lambda-ric/index.mjs";\n');
  }
}
