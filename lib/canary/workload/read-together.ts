import type { LiveObject } from "../../core/manifest.ts";
import type { VersionedRef } from "../../core/object-ref.ts";
import type { Cluster } from "../../core/ports/cluster.ts";
import { primaryName, type Canary } from "../canary.ts";
import type { SharedLabel, StepDeps } from "../canary-deps.ts";
import { isAboutTheObject, type NamedKind } from "./step-objects.ts";
import type { TargetMetadata } from "./workload.ts";

/** A list with more objects costs more than it saves. */
const maxListed = 6;

/** Reads target and primary of a Canary. */
export interface PairReader {
  readonly get: Cluster["get"];
  /** What lets the next step read both with one request. Undefined if they have no label for it. */
  shared(pair: {
    readonly target: LiveObject | undefined;
    readonly primary: LiveObject | undefined;
    readonly selector: Pick<TargetMetadata, "label" | "labelValue">;
  }): SharedLabel | undefined;
}

/**
 * Reads both with one list if `shared` has a selector, and objects that are not in the list by name. So a removed label costs one request
 * and has no other effect. Any other object is read by its name.
 */
export function pairReader(kind: NamedKind, canary: Canary, deps: StepDeps, shared?: SharedLabel): PairReader {
  const { cluster, signal } = deps;
  const target = canary.spec.targetRef.name;
  let listed: Promise<ReadonlyMap<string, LiveObject>> | undefined;
  let isWorthIt = shared !== "none";
  const list = async ({ label, value }: Exclude<SharedLabel, "none">) => {
    const { group, version, kind: kindName } = kind;
    const labelSelector = `${label} in (${value},${value}-primary)`;
    const query = { group, version, kind: kindName, namespace: canary.namespace, labelSelector };
    try {
      const found = await cluster.list(query, signal);
      isWorthIt = found.length <= maxListed;
      return new Map(found.map((live) => [live.metadata.name, live]));
    } catch (error) {
      // The right to read one of them may be all that the account has.
      if (!isAboutTheObject(error)) throw error;
      isWorthIt = false;
      return new Map<string, LiveObject>();
    }
  };
  const isOfPair = (ref: VersionedRef): boolean =>
    ref.kind === kind.kind && ref.group === kind.group && [target, primaryName(target)].includes(ref.name);
  return {
    get: async (ref, stop) => {
      if (shared === undefined || shared === "none" || !isOfPair(ref)) return cluster.get(ref, stop);
      listed ??= list(shared);
      return (await listed).get(ref.name) ?? (await cluster.get(ref, stop));
    },
    shared: ({ selector: { label, labelValue: value }, ...pair }) => {
      if (!isWorthIt) return "none";
      const hasBoth =
        pair.target?.metadata.labels?.[label] === value &&
        pair.primary?.metadata.labels?.[label] === `${value}-primary`;
      return hasBoth ? { label, value } : undefined;
    },
  };
}
