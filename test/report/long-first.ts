import { BaseSequencer, type TestSpecification } from "vitest/node";

/**
 * Test files that take more than half a minute by themselves, the longest first. In a fresh checkout vitest begins with the largest
 * files, and these are small: if one of them begins last, all other workers wait for it.
 */
export const longFiles = [
  "e2e/whole-system/whole-system",
  "e2e/flow/interrupted",
  "e2e/definitions/real",
  "e2e/uninstall/real",
  "e2e/flow/real",
  "e2e/recorded-flux/scenarios",
  "contract/dynamodb-wire-faults",
  "contract/dynamodb",
  "contract/dynamodb-simulator",
  "e2e/canary-demo",
  "e2e/local-on-real/local-on-real",
  "contract/cluster",
  "e2e/flow/embedded",
  "e2e/local/local",
  "e2e/crash/crash",
  "e2e/crash/unreliable-api",
  "e2e/escape/tenant",
  "e2e/bad-input/bad-input-manifests",
  "e2e/several-clusters/several-clusters",
  "e2e/recorded-images/automations",
  "e2e/uninstall/embedded",
  "unit/flows/image-update-automation/killed",
  "unit/flows/image-update-automation/image-update-automation",
  "e2e/canary-traffic/real",
  "contract/lagging-dynamodb",
  "limits/readers/engine",
  "limits/readers/git",
  "e2e/flow/two-clusters",
  "interop/git-over-ssh",
  "e2e/definitions/embedded",
  "e2e/demo",
  "e2e/recorded-canary/scenarios",
  "contract/cluster-versions",
  "contract/state-outage",
  "property/build-equals-engine",
  "real/real-command",
];

/** Begins with the long files, and leaves the order of the others to vitest. */
export class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.toSorted((a, b) => rankOf(a) - rankOf(b));
  }
}

function rankOf({ moduleId }: TestSpecification): number {
  const rank = longFiles.findIndex((name) => moduleId.endsWith(`/test/${name}.test.ts`));
  return rank === -1 ? longFiles.length : rank;
}
