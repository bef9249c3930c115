import type { CanaryStatus } from "../../api/canary.ts";
import { dumpOfMap, spewHash } from "./spew-hash.ts";

/** The `checksum` of a webhook's payload: Flagger's hash of the tracked configs and of the hash of the template (reference canary 12). Pure. */
export function statusChecksum({ trackedConfigs, lastAppliedSpec = "" }: CanaryStatus): string {
  const configs = trackedConfigs === undefined ? "<nil>" : dumpOfMap(Object.entries(trackedConfigs));
  const type = "struct { TrackedConfigs *map[string]string; LastAppliedSpec string }";
  return spewHash(
    `(${type}){TrackedConfigs:(*map[string]string)${configs} LastAppliedSpec:(string)${lastAppliedSpec}}`,
  );
}
