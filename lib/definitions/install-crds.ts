import { type KindDeclaration, servedKind } from "../api/kinds/declaration.ts";
import { definedKinds } from "../api/kinds/declared-kinds.ts";
import { isJsonObject, type Json, type JsonObject } from "../core/json.ts";
import type { LiveObject } from "../core/manifest.ts";
import { ownVersion } from "../core/own-version.ts";
import type { Clock } from "../core/ports/clock.ts";
import type { Cluster } from "../core/ports/cluster.ts";
import type { Log } from "../core/ports/log.ts";
import { compareSemver, readSemver } from "../sources/semver-version.ts";
import { customResourceDefinition } from "./custom-resource-definition.ts";

/** The field manager of everything that an installation needs in a cluster: definitions, roles, bindings. */
export const installManager = "sluice";
/** The version of Sluice that wrote an object of the installation; definitions of 0.1.0 and earlier have none. */
export const versionAnnotation = "sluice/version";
const establishedWithinMs = 30_000;
const settledWithinMs = 30_000;
const pollMs = 25;

interface InstallDeps {
  readonly clock: Clock;
  readonly log: Log;
  /** All of Sluice's kinds by default. */
  readonly kinds?: readonly KindDeclaration[];
  /** The version that installs; our own by default. */
  readonly version?: string;
}

/** A definition that a newer Sluice, or a newer Flux, has installed. */
export interface NewerDefinition {
  /** Of the definition. */
  readonly name: string;
  /** `Sluice 0.3.0`, or the version of the API that this Sluice does not know. */
  readonly by: string;
  /** Whether it serves the version that this Sluice reads, so that this one keeps working with it. */
  readonly isReadable: boolean;
}

/**
 * Makes a cluster serve these kinds: installs missing definitions and renews older ones, and logs each. A definition that Flux
 * installed stays if it serves the version that Sluice reads, and a newer Sluice's always stays. Can be repeated, and continues where
 * an interrupted call ended.
 *
 * @throws Error if the cluster does not serve a kind within 30 s, or if a former definition is not gone by then
 */
export async function installCrds(
  cluster: Pick<Cluster, "get" | "apply">,
  { clock, log, kinds = definedKinds, version = ownVersion }: InstallDeps,
  signal: AbortSignal,
): Promise<void> {
  const applied: ReturnType<typeof definitionRef>[] = [];
  for (const kind of kinds) {
    const ref = definitionRef(kind);
    const { name } = ref;
    const live = await settled(cluster, ref, clock, signal);
    const judged = judge(live, kind, version);
    if (judged === "stays") continue;
    if (judged !== "apply") {
      log.warn("custom resource definition of a newer version stays", { name, by: judged.by });
      continue;
    }
    const options = { manager: installManager, force: true };
    const { object, created } = await cluster.apply(await manifestOf(kind, version), options, signal);
    if (created) log.info("custom resource definition installed", { name });
    else if (object.metadata.generation !== live?.metadata.generation) {
      log.info("custom resource definition renewed", { name });
    }
    applied.push(ref);
  }
  // Only now: the API server establishes them at the same time.
  for (const ref of applied) await established(cluster, ref, clock, signal);
}

/** Whether the cluster serves all of these kinds, in the version that Sluice reads. */
export async function areServed(
  kinds: readonly KindDeclaration[],
  cluster: Pick<Cluster, "resource">,
  signal: AbortSignal,
): Promise<boolean> {
  for (const kind of kinds) if ((await cluster.resource(servedKind(kind), signal)) === undefined) return false;
  return true;
}

/** The definitions that {@link installCrds} would not renew because they are newer. Writes nothing. */
export async function newerDefinitions(
  cluster: Pick<Cluster, "get">,
  { kinds = definedKinds, version = ownVersion }: Pick<InstallDeps, "kinds" | "version">,
  signal: AbortSignal,
): Promise<readonly NewerDefinition[]> {
  const found: NewerDefinition[] = [];
  for (const kind of kinds) {
    const judged = judge(await cluster.get(definitionRef(kind), signal), kind, version);
    if (typeof judged !== "string") found.push(judged);
  }
  return found;
}

export function definitionRef({ plural, group }: KindDeclaration) {
  const kind = "CustomResourceDefinition";
  return { group: "apiextensions.k8s.io", version: "v1", kind, namespace: "", name: `${plural}.${group}` };
}

/** Whether Sluice wrote it; otherwise it is Flux's. */
export function isOurs({ metadata }: LiveObject): boolean {
  return metadata.managedFields?.some(({ manager }) => manager === installManager) === true;
}

/** A definition of ours is applied every time: if it is the same, nothing changes. */
function judge(
  live: LiveObject | undefined,
  { versions, plural, group }: KindDeclaration,
  version: string,
): "apply" | "stays" | NewerDefinition {
  if (live === undefined) return "apply";
  const served = servedVersions(live);
  const isReadable = served.includes(versions[0]);
  const name = `${plural}.${group}`;
  const unknown = served.find((one) => !versions.includes(one));
  const ours = isOurs(live);
  if (!ours && isReadable) return "stays";
  const by = live.metadata.annotations?.[versionAnnotation];
  if (ours && by !== undefined && isNewer(by, version)) return { name, by: `Sluice ${by}`, isReadable };
  if (unknown !== undefined) return { name, by: `one that serves ${group}/${unknown}`, isReadable };
  return "apply";
}

/** Whether version `a` is newer than `b`. A text that is not a version is not. */
export function isNewer(a: string, b: string): boolean {
  const [one, other] = [readSemver(a), readSemver(b)];
  return one !== undefined && other !== undefined && compareSemver(one, other) > 0;
}

function servedVersions(definition: LiveObject): readonly string[] {
  const spec = definition["spec"];
  const versions = isJsonObject(spec) ? list(spec["versions"]) : [];
  return versions.flatMap((version) =>
    version["served"] === true && typeof version["name"] === "string" ? [version["name"]] : [],
  );
}

/** The definition, after a terminating one is gone: an apply to that would be lost. */
async function settled(
  cluster: Pick<Cluster, "get">,
  ref: Parameters<Cluster["get"]>[0],
  clock: Clock,
  signal: AbortSignal,
): Promise<LiveObject | undefined> {
  const giveUpAt = clock.monotonic() + settledWithinMs;
  for (;;) {
    const live = await cluster.get(ref, signal);
    if (live?.metadata.deletionTimestamp === undefined) return live;
    if (clock.monotonic() >= giveUpAt) {
      throw new Error(
        `${ref.name} is being deleted, and is not gone after ${settledWithinMs / 1000} s: its objects have finalizers: let their controllers remove them, or remove them with kubectl edit`,
      );
    }
    await clock.sleep(pollMs, signal);
  }
}

async function established(
  cluster: Pick<Cluster, "get">,
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

async function manifestOf(kind: KindDeclaration, version: string): Promise<Parameters<Cluster["apply"]>[0]> {
  const definition = await customResourceDefinition(kind);
  const { metadata } = definition;
  const given = isJsonObject(metadata) ? metadata : {};
  const annotations = isJsonObject(given["annotations"]) ? given["annotations"] : {};
  return {
    ...definition,
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: {
      ...given,
      name: definitionRef(kind).name,
      annotations: { ...texts(annotations), [versionAnnotation]: version },
    },
  };
}

function texts(object: JsonObject): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(object).flatMap(([key, value]) => (typeof value === "string" ? [[key, value]] : [])),
  );
}
