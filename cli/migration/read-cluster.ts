import { type KindDeclaration, servedKind } from "../../lib/api/kinds/declaration.ts";
import { declaredKinds, definedKinds } from "../../lib/api/kinds/declared-kinds.ts";
import { mapLimit } from "../../lib/core/concurrency.ts";
import type { LiveObject } from "../../lib/core/manifest.ts";
import { ApiError, type Cluster } from "../../lib/core/ports/cluster.ts";
import { definitionRef } from "../../lib/definitions/install-crds.ts";
import { textAt, valueAt } from "../objects/read-object.ts";
import { findUnreconciled } from "../objects/unreconciled.ts";
import { type FoundController, findControllers } from "./controllers.ts";
import { deploymentsList, hasField, type MigrationFacts, namespaceOf, ofKind, type Unread } from "./facts.ts";

/** All that the check asks of a cluster: it writes nothing. */
export type ReadOnlyCluster = Pick<Cluster, "get" | "list" | "listMetadata" | "resource" | "served">;

const concurrency = 8;
const operatorGroup = "fluxcd.controlplane.io";
const operatorKinds = [
  { kind: "FluxInstance", plural: "fluxinstances" },
  { kind: "ResourceSet", plural: "resourcesets" },
] as const;

/**
 * Reads the facts for the check of a move. Parts that this identity may not read are listed in `unread`; they are not an error.
 *
 * @throws ApiError if the cluster does not answer
 */
export async function readMigration(cluster: ReadOnlyCluster, signal: AbortSignal): Promise<MigrationFacts> {
  const unread: Unread[] = [];
  const reader: Reader = { cluster, unread, signal };
  const deployments = await listAll(deploymentsList, { group: "apps", version: "v1", kind: "Deployment" }, reader);
  const controllers = findControllers(deployments);
  const found = await mapLimit(definedKinds, concurrency, (kind) => readKind(kind, reader), signal);
  const objects = found.flatMap((one) => one.objects);
  return {
    controllers,
    objects,
    accounts: await readNamed("ServiceAccount", accountNames(controllers, objects), reader),
    configMaps: await readNamed("ConfigMap", configMapNames(objects), reader),
    definitions: found.flatMap((one) => one.definition),
    unreconciled: await readUnreconciled(reader),
    operators: await readOperators(reader),
    unread,
  };
}

interface Reader {
  readonly cluster: ReadOnlyCluster;
  readonly unread: Unread[];
  readonly signal: AbortSignal;
}

/** What `read` answers; undefined where this identity may not read it. */
async function unlessRefused<Result>(
  what: string,
  read: () => Promise<Result>,
  { unread, signal }: Reader,
): Promise<Result | undefined> {
  try {
    return await read();
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof ApiError) || error.code === 0) throw error;
    unread.push({ what, fault: error.message });
    return undefined;
  }
}

async function listAll(
  what: string,
  query: Parameters<Cluster["list"]>[0],
  reader: Reader,
): Promise<readonly LiveObject[]> {
  const listed = await unlessRefused(what, () => reader.cluster.list(query, reader.signal), reader);
  return (listed ?? []).toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
}

function keyOf(object: LiveObject): string {
  return `${namespaceOf(object)}/${object.metadata.name}`;
}

interface ReadKind {
  readonly objects: readonly LiveObject[];
  readonly definition: MigrationFacts["definitions"];
}

async function readKind(kind: KindDeclaration, reader: Reader): Promise<ReadKind> {
  const { cluster, signal, unread } = reader;
  const served = servedKind(kind);
  const what = `${kind.plural}.${kind.group}`;
  if ((await cluster.resource(served, signal)) === undefined) {
    const other = await cluster.resource({ group: kind.group, kind: kind.kind }, signal);
    if (other !== undefined) {
      const fault = `it is served as ${other.version}, and Sluice reads ${served.version}: update Flux to 2.9 and run flux migrate before the move`;
      unread.push({ what, fault });
    }
    return { objects: [], definition: [] };
  }
  const objects = await listAll(what, served, reader);
  if (objects.length === 0) return { objects, definition: [] };
  const ref = definitionRef(kind);
  const live = await unlessRefused(`CustomResourceDefinition/${ref.name}`, () => cluster.get(ref, signal), reader);
  return { objects, definition: live === undefined ? [] : [storedVersions(live, served.version)] };
}

function storedVersions(definition: LiveObject, read: string): MigrationFacts["definitions"][number] {
  const stored = valueAt(definition, "status", "storedVersions");
  const versions = Array.isArray(stored) ? stored.filter((one) => typeof one === "string") : [];
  return { name: definition.metadata.name, stored: versions, read };
}

function accountNames(controllers: readonly FoundController[], objects: readonly LiveObject[]): readonly string[] {
  const ofSources = ofKind(objects, "OCIRepository").filter(
    (one) => textAt(one, "spec", "provider") === "aws" && hasField(one, "serviceAccountName"),
  );
  return [
    ...controllers.map(({ namespace, serviceAccount }) => `${namespace}/${serviceAccount}`),
    ...ofSources.map((one) => `${namespaceOf(one)}/${textAt(one, "spec", "serviceAccountName")}`),
  ];
}

function configMapNames(objects: readonly LiveObject[]): readonly string[] {
  return ["Kustomization", "HelmRelease"]
    .flatMap((kind) => ofKind(objects, kind))
    .filter((one) => hasField(one, "kubeConfig", "configMapRef", "name"))
    .map((one) => `${namespaceOf(one)}/${textAt(one, "spec", "kubeConfig", "configMapRef", "name")}`);
}

async function readNamed(
  kind: "ConfigMap" | "ServiceAccount",
  names: readonly string[],
  reader: Reader,
): Promise<ReadonlyMap<string, LiveObject>> {
  const found = new Map<string, LiveObject>();
  for (const key of new Set(names)) {
    const [namespace = "", name = ""] = key.split("/");
    const ref = { group: "", version: "v1", kind, namespace, name };
    const live = await unlessRefused(`${kind}/${key}`, () => reader.cluster.get(ref, reader.signal), reader);
    if (live !== undefined) found.set(key, live);
  }
  return found;
}

async function readUnreconciled(reader: Reader): Promise<MigrationFacts["unreconciled"]> {
  const { cluster, signal, unread } = reader;
  const answer = await findUnreconciled(declaredKinds, cluster, signal);
  if ("found" in answer) return answer.found;
  unread.push({ what: "kinds that the cluster serves", fault: answer.fault });
  return [];
}

/** The Flux Operator has objects of its own, which install Flux and make its objects. */
async function readOperators(reader: Reader): Promise<readonly string[]> {
  const { cluster, signal } = reader;
  const found = await mapLimit(
    operatorKinds,
    concurrency,
    async ({ kind, plural }) => {
      const resource = await cluster.resource({ group: operatorGroup, kind }, signal);
      if (resource === undefined) return [];
      const query = { group: operatorGroup, kind, version: resource.version };
      const list = () => cluster.listMetadata(query, signal);
      const listed = await unlessRefused(`${plural}.${operatorGroup}`, list, reader);
      return (listed ?? []).map(({ metadata: { name, namespace = "" } }) => `${kind}/${namespace}/${name}`).toSorted();
    },
    signal,
  );
  return found.flat();
}
