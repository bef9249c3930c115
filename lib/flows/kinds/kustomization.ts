import { kindOf } from "../../api/kinds/declaration.ts";
import { declaredKustomization } from "../../api/kinds/kustomization.ts";
import { readKustomization } from "../../api/kustomization.ts";
import { sourceGroup } from "../../api/names.ts";
import { sourceFaults } from "../../api/spec-references.ts";
import type { LiveObject } from "../../core/manifest.ts";
import { asTarget } from "../../core/ports/home-and-target.ts";
import { cachedBuild } from "../../manifests/build/cached-build.ts";
import { failing } from "../conditions.ts";
import { kustomizationFlow } from "../kustomization/kustomization-flow.ts";
import { objectCache } from "../kustomization/object-cache.ts";
import { accountUser } from "../owner/service-account.ts";
import { readSource, type SourceReader } from "../source/read-source.ts";
import type { Kind } from "./kind.ts";

/** One cache for this process and all clusters: one budget. */
const objects = objectCache();

export const kustomizationKind: Kind = {
  ...declaredKustomization,
  flow: ({ engine, targetAs, gated, remoteClusters, ...parts }) =>
    kustomizationFlow({
      ...parts,
      objects,
      targetOf: async (live) => {
        const user = accountUser(live, parts.defaultServiceAccount);
        return user === undefined ? asTarget(parts.home) : targetAs(user);
      },
      remoteTargetOf: async (live, place, signal) => {
        const { openRemoteTarget } = await import("../owner/remote-target.ts");
        const { accountTokens } = parts.sopsKeys;
        return openRemoteTarget(live, place, { ...parts, accountTokens, remoteClusters, gated }, signal);
      },
      build: cachedBuild({ engine, log: parts.log, skipLinks: parts.skipLinks }),
    }),
  failing: (before, failure, now) => failing({ conditions: [...before] }, failure, now).conditions,
  input: sourceRevision,
};

/** The revision of the source's artifact; null without one. */
async function sourceRevision(live: LiveObject, reader: SourceReader, signal: AbortSignal): Promise<string | null> {
  const spec = readKustomization(live)?.spec;
  // For an unreadable spec, or one with an invalid source: its generation shows when that changes.
  if (spec === undefined || sourceFaults(spec).length > 0) return null;
  const { kind, name, namespace = live.metadata.namespace ?? "" } = spec.sourceRef;
  const key = { group: sourceGroup, kind, namespace, name };
  if (kindOf(key, reader.sources) === undefined) return null;
  return (await readSource(key, reader, signal))?.artifact?.revision ?? null;
}
