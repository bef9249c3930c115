import { join, relative, sep } from "node:path";
import { BaseSequencer, type TestSpecification } from "vitest/node";

const root = join(import.meta.dirname, "../..");

/**
 * Test files that take more than half a minute by themselves, the longest first. In a fresh checkout vitest begins with the largest
 * files, and these are small: if one of them begins last, all other workers wait for it. The demo of a Canary only waits, so it begins
 * while others compute. Paths from the root, without `.test.ts`.
 */
export const longFiles = [
  "test/e2e/whole-system/whole-system",
  "test/e2e/canary-demo",
  "test/e2e/flow/interrupted",
  "test/e2e/definitions/real",
  "test/e2e/uninstall/real",
  "test/e2e/flow/real",
  "test/e2e/recorded-flux/scenarios",
  "test/contract/dynamodb-wire-faults",
  "test/contract/dynamodb",
  "test/contract/dynamodb-simulator",
  "test/e2e/local-on-real/local-on-real",
  "test/contract/cluster",
  "test/e2e/flow/embedded",
  "infra/test/command-line",
  "infra/test/package",
  "test/e2e/local/local",
  "test/e2e/crash/crash",
  "test/e2e/crash/unreliable-api",
  "test/e2e/escape/tenant",
  "test/e2e/bad-input/bad-input-manifests",
  "test/e2e/several-clusters/several-clusters",
  "test/e2e/recorded-images/automations",
  "test/e2e/recorded-helm/scenarios",
  "test/e2e/uninstall/embedded",
  "test/unit/flows/image-update-automation/killed",
  "test/unit/flows/image-update-automation/image-update-automation",
  "test/e2e/canary-traffic/real",
  "test/contract/lagging-dynamodb",
  "test/limits/readers/engine",
  "test/limits/readers/git",
  "test/e2e/flow/two-clusters",
  "test/interop/git-over-ssh",
  "test/e2e/demo",
  "test/e2e/recorded-canary/scenarios",
  "test/contract/cluster-versions",
  "test/contract/state-outage",
  "test/property/build-equals-engine",
  "test/real/real-command",
];

/** Begins with the long files, and leaves the order of the others to vitest. */
export class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.toSorted((a, b) => rankOf(a) - rankOf(b));
  }
}

/** Its place among the files that begin first; all others have the same place after them. */
export function rankOf({ moduleId }: Pick<TestSpecification, "moduleId">): number {
  const path = relative(root, moduleId).replaceAll(sep, "/");
  const rank = longFiles.findIndex((name) => path === `${name}.test.ts`);
  return rank === -1 ? longFiles.length : rank;
}
