import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

/** For NODE_OPTIONS: the routes are in force before the bundle is loaded. */
export const routesOption = "--import=./routes.mjs";

/** Puts the routes of the function's network beside a bundle (routes.ts). */
export async function addRoutes(folder: string): Promise<void> {
  await build({
    entryPoints: [fileURLToPath(new URL("routes.ts", import.meta.url))],
    outfile: join(folder, "routes.mjs"),
    platform: "node",
    format: "esm",
    target: "node24",
    logLevel: "silent",
  });
}
