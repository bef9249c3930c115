import { customResourceDefinition, type KindDefinition } from "../infra/custom-resource-definition.ts";
import { kinds } from "../infra/kinds.ts";
import { isJsonObject, type Json, type JsonObject } from "../lib/core/json.ts";
import type { LiveObject } from "../lib/core/manifest.ts";
import type { Clock } from "../lib/core/ports/clock.ts";
import type { Cluster } from "../lib/core/ports/cluster.ts";
import type { Log } from "../lib/core/ports/log.ts";

const manager = "sluice";
const establishedWithinMs = 30_000;
const pollMs = 25;

/**
 * Sees to it that a cluster serves the kinds that Sluice reads: installs the definitions that are missing and renews the
 * older ones, and says so. One that Flux installed is left alone where it serves the version that Sluice reads, and one
 * of a newer Sluice always.
 */
export async function installCrds(
  cluster: Pick<Cluster, "get" | "apply">,
  { clock, log }: { readonly clock: Clock; readonly log: Log },
  signal: AbortSignal,
): Promise<void> {
  for (const kind of kinds) {
    const name = `${kind.plural}.${kind.group}`;
    const ref = { group: "apiextensions.k8s.io", version: "v1", kind: "CustomResourceDefinition", namespace: "", name };
    const live = await cluster.get(ref, signal);
    if (live !== undefined && !isOlder(live, kind)) continue;
    const { object, created } = await cluster.apply(definitionOf(kind), { manager, force: true }, signal);
    if (created) log.info("custom resource definition installed", { name });
    else if (object.metadata.generation !== live?.metadata.generation) {
      log.info("custom resource definition renewed", { name });
    }
    await established(cluster, ref, clock, signal);
  }
}

/** Whether ours should take its place. Ours is applied over ours every time: where it is the same, nothing changes. */
function isOlder(live: LiveObject, { versions }: KindDefinition): boolean {
  const served = servedVersions(live);
  if (served.some((version) => !versions.includes(version))) return false;
  const isOurs = live.metadata.managedFields?.some((entry) => entry.manager === manager) === true;
  return isOurs || !served.includes(versions[0]);
}

function servedVersions(definition: LiveObject): readonly string[] {
  const spec = definition["spec"];
  const versions = isJsonObject(spec) ? list(spec["versions"]) : [];
  return versions.flatMap((version) =>
    version["served"] === true && typeof version["name"] === "string" ? [version["name"]] : [],
  );
}

async function established(
  cluster: Pick<Cluster, "get" | "apply">,
  ref: Parameters<Cluster["get"]>[0],
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  const giveUpAt = clock.monotonic() + establishedWithinMs;
  for (;;) {
    const live = await cluster.get(ref, signal);
    if (live !== undefined && isEstablished(live)) return;
    if (clock.monotonic() >= giveUpAt) {
      throw new Error(
        `the cluster does not serve ${ref.name} after ${establishedWithinMs / 1000} s. Look at its conditions with kubectl describe crd`,
      );
    }
    await clock.sleep(pollMs, signal);
  }
}

function isEstablished(definition: LiveObject): boolean {
  const status = definition["status"];
  const conditions = isJsonObject(status) ? list(status["conditions"]) : [];
  return conditions.some(({ type, status: value }) => type === "Established" && value === "True");
}

function list(value: Json | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

function definitionOf(kind: KindDefinition): Parameters<Cluster["apply"]>[0] {
  const definition = customResourceDefinition(kind);
  const name = `${kind.plural}.${kind.group}`;
  const { metadata } = definition;
  return {
    ...definition,
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: isJsonObject(metadata) ? { ...metadata, name } : { name },
  };
}
