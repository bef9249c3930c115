import { existsSync } from "node:fs";
import { join } from "node:path";

/** The folder of this package. Its sources (lib/) and its compiled code (dist/) both lie one folder below it. */
const packageFolder = join(import.meta.dirname, "..");

/** The folder with the code of a function, as `infra/bundle.ts` made it. Throws if there is none. */
export function bundleFolder(name: string): string {
  const folder = join(packageFolder, "bundles", name);
  if (existsSync(join(folder, "index.mjs"))) return folder;
  throw new Error(
    `the code of the function "${name}" is missing: ${folder} has no index.mjs. Start the CDK by "npx cdk synth" in the repository, which makes it, or install @sluice/cdk again`,
  );
}
