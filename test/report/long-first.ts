import { BaseSequencer, type TestSpecification } from "vitest/node";

/**
 * Test files that take more than half a minute by themselves, the longest first. In a fresh checkout vitest begins with the largest
 * files, and these are small: if one of them begins last, all other workers wait for it.
 */
export const longFiles = [
  "e2e/whole-system/whole-system",
  "contract/dynamodb-simulator",
  "contract/dynamodb",
  "property/build-equals-engine",
  "unit/queue/simulator/simulator",
  "unit/flows/ownership/ownership",
  "e2e/crash/crash",
  "contract/cluster",
  "e2e/flow/real",
  "e2e/local-on-real/local-on-real",
  "e2e/recorded-flux/scenarios",
  "e2e/local/local",
  "contract/cluster-versions",
  "real/real-command",
  "e2e/bad-input/bad-input-manifests",
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
