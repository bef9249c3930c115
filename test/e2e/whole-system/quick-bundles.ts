import { readFile } from "node:fs/promises";
import type { Plugin } from "esbuild";
import { type Bundle, bundleFunctions } from "../../../infra/bundle.ts";
import { addRoutes } from "../../real/lambda/add-routes.ts";
import { addRuntime } from "../../real/lambda/add-runtime.ts";

/** Speeds up every period of a lease, so that a test does not wait two minutes for the lease of a killed holder. */
const quicker = 5;
const lengths = ["leaseMs", "marginMs", "renewEveryMs", "wakeMs"] as const;

const quickLeases: Plugin = {
  name: "quick-leases",
  setup(build) {
    build.onLoad({ filter: /\/lib\/queue\/timing\.ts$/ }, async ({ path }) => {
      let contents = await readFile(path, "utf8");
      for (const name of lengths) {
        const before = contents;
        contents = before.replace(
          new RegExp(`(const ${name} = )([0-9_]+);`),
          (_, start: string, ms: string) => `${start}${Number(ms.replaceAll("_", "")) / quicker};`,
        );
        if (contents === before) throw new Error(`${path} has no ${name}: say here what makes leases quicker`);
      }
      return { contents, loader: "ts" };
    });
  },
};

/** The functions as they are deployed, with shorter leases, and with Lambda's runtime beside each. */
export async function quickBundles(into: string): Promise<ReadonlyMap<string, Bundle>> {
  const bundles = await bundleFunctions(into, [quickLeases]);
  await Promise.all(bundles.flatMap(({ folder }) => [addRuntime(folder, { kind: "loop" }), addRoutes(folder)]));
  return new Map(bundles.map((bundle) => [bundle.name, bundle]));
}
