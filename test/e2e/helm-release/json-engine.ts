import type { HelmEngine, ObservedRelease, RecordChange, ReleaseRecord } from "../../../lib/core/ports/helm-engine.ts";
import { partOf } from "../../doubles/part-of.ts";

/** A record whose bytes are what is observed of it. */
export function jsonRecord(observed: ObservedRelease): ReleaseRecord {
  return { bytes: new Uint8Array(new TextEncoder().encode(JSON.stringify(observed))), observed };
}

/** Helm's engine for records of {@link jsonRecord}: it renders nothing. */
export function jsonEngine(): Pick<HelmEngine, "amend" | "observe"> {
  return {
    observe: async (bytes) => partOf<ObservedRelease>(JSON.parse(new TextDecoder().decode(bytes))),
    amend: async (bytes, change, { ociDigest }) => {
      const observed = partOf<ObservedRelease>(JSON.parse(new TextDecoder().decode(bytes)));
      return jsonRecord({ ...amended(observed, change), digest: `of a record${ociDigest && ` with ${ociDigest}`}` });
    },
  };
}

function amended(
  observed: ObservedRelease,
  { hooks: changes = [], applyMethod, ...info }: RecordChange,
): ObservedRelease {
  const hooks = observed.hooks.map((hook, place) => {
    const { index: _, ...change } = changes.find(({ index }) => index === place) ?? { index: place };
    return { ...hook, ...change };
  });
  return { ...observed, ...info, hooks, ...(applyMethod === undefined ? {} : { applyMethod }) };
}
