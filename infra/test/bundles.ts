import { join } from "node:path";
import { bundleFunctions } from "../bundle.ts";

/** Before the tests: the constructs take the bundles as they lie there. */
export async function setup(): Promise<void> {
  await bundleFunctions(join(import.meta.dirname, "../bundles"));
}
