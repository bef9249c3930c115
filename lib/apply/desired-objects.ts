import { z } from "zod";
import { mapLimit } from "../core/concurrency.ts";
import { keyedDigest } from "../core/digest.ts";
import { Failure } from "../core/failure.ts";
import { canonicalJson, isJsonObject, type JsonObject } from "../core/json.ts";
import { type Manifest, refOf } from "../core/manifest.ts";
import { formatApiVersion, type ObjectRef, subject, type VersionedRef } from "../core/object-ref.ts";
import type { Resource } from "../core/ports/cluster.ts";
import type { TargetCluster } from "../core/ports/home-and-target.ts";
import type { Secret } from "../core/secret.ts";
import { byApplyOrder } from "./set/apply-order.ts";
import type { ApplyRules } from "./set/apply-rules.ts";
import { formatEntryId } from "./set/entry-id.ts";

/** One object of an apply set, ready to be sent. */
export interface DesiredObject {
  readonly id: string;
  /** Without a namespace if the kind is cluster-scoped, whatever the manifest says. */
  readonly ref: VersionedRef;
  readonly manifest: Manifest;
  /** Keyed digest of the wanted object: any object may hold a secret, and without the key its value cannot be guessed. */
  readonly digest: string;
  /** Undefined where the cluster does not serve the kind yet and a definition in the same set will bring it. */
  readonly resource: Resource | undefined;
  /** The schema that this definition has for it, where there is one. */
  readonly schema?: JsonObject;
  /** Whether a definition in the same set brings its kind. An API server serves a kind only some moments after its definition is established. */
  readonly isPromised?: true;
}

/**
 * The manifests as objects to apply, in apply order. Resolves each kind once.
 *
 * @throws Failure `ReconciliationFailed` naming every object whose kind is not served or whose namespace is missing.
 */
export async function desiredObjects(
  manifests: readonly Manifest[],
  deps: { readonly cluster: TargetCluster; readonly installationKey: Secret; readonly rules: ApplyRules },
  signal: AbortSignal,
): Promise<readonly DesiredObject[]> {
  const resources = await resolveKinds(manifests, deps.cluster, signal);
  const promised = promisedKinds(manifests);
  const problems: string[] = [];
  const objects = new Map<string, DesiredObject>();
  const written = new Map<string, Manifest>();
  for (const manifest of manifests) {
    const resource = resources.get(kindKey(manifest));
    const promise = promised.get(kindKey(manifest));
    const object = desiredObject(manifest, resource ?? promise, deps.installationKey);
    const first = written.get(object.id);
    const clash = first === undefined ? undefined : clashOf(object.ref, first, manifest);
    const problem = problemOf(object, resource ?? promise) ?? clash;
    if (problem !== undefined) problems.push(problem);
    if (first === undefined) written.set(object.id, manifest);
    const schema = resource === undefined ? promise?.schema : undefined;
    objects.set(object.id, {
      ...object,
      resource,
      ...(schema === undefined ? {} : { schema }),
      ...(promise === undefined ? {} : { isPromised: true }),
    });
  }
  if (problems.length > 0) throw new Failure("ReconciliationFailed", problems.map((line) => `${line}\n`).join(""));
  return [...objects.values()].toSorted((a, b) => byApplyOrder(a.ref, b.ref, deps.rules));
}

/** A kind as far as the apply needs to know it before the cluster serves it. */
type Scope = Pick<Resource, "namespaced"> & { readonly schema?: JsonObject | undefined };

function desiredObject(
  manifest: Manifest,
  scope: Scope | undefined,
  key: Secret,
): Omit<DesiredObject, "isPromised" | "resource" | "schema"> {
  const { namespace: _dropped, ...clusterWide } = manifest.metadata;
  const sent = scope?.namespaced === false ? { ...manifest, metadata: clusterWide } : manifest;
  const ref = refOf(sent);
  return { id: formatEntryId(ref), ref, manifest: sent, digest: desiredDigest(sent, key) };
}

function problemOf({ ref }: Pick<DesiredObject, "ref">, scope: Scope | undefined): string | undefined {
  const name = subject(ref);
  if (scope === undefined) {
    return `${name} dry-run failed: no matches for kind "${ref.kind}" in version "${formatApiVersion(ref)}"`;
  }
  if (scope.namespaced && ref.namespace === "") {
    return `${name} namespace not specified: the server could not find the requested resource`;
  }
  return undefined;
}

/** By key. Builds are remembered, so the same manifests come back run after run. */
const knownDigests = new WeakMap<Secret, WeakMap<Manifest, string>>();

function desiredDigest(manifest: Manifest, key: Secret): string {
  const known = knownDigests.get(key) ?? new WeakMap<Manifest, string>();
  knownDigests.set(key, known);
  const digest = known.get(manifest) ?? keyedDigest(key, canonicalJson(manifest));
  known.set(manifest, digest);
  return digest;
}

function kindKey({ apiVersion, kind }: Pick<Manifest, "apiVersion" | "kind">): string {
  return `${apiVersion}/${kind}`;
}

async function resolveKinds(
  manifests: readonly Manifest[],
  cluster: TargetCluster,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, Resource>> {
  const kinds = new Map(manifests.map((manifest) => [kindKey(manifest), refOf(manifest)]));
  const found = await mapLimit(
    [...kinds],
    8,
    async ([key, ref], stop) => ({ key, resource: await cluster.resource(ref, stop) }),
    signal,
  );
  return new Map(found.flatMap(({ key, resource }) => (resource === undefined ? [] : [[key, resource]])));
}

/** The part of a CustomResourceDefinition that names its kinds; one of another shape is left for the API server to refuse. */
const Definition = z.object({
  spec: z.object({
    group: z.string(),
    scope: z.string(),
    names: z.object({ kind: z.string() }),
    versions: z.array(
      z.object({
        name: z.string(),
        served: z.boolean(),
        schema: z.object({ openAPIV3Schema: z.custom<JsonObject>(isJsonObject).optional() }).optional(),
      }),
    ),
  }),
});

/** The kinds that definitions among these manifests will make the cluster serve. */
function promisedKinds(manifests: readonly Manifest[]): ReadonlyMap<string, Scope> {
  const promised = new Map<string, Scope>();
  for (const manifest of manifests) {
    if (manifest.kind !== "CustomResourceDefinition") continue;
    const definition = Definition.safeParse(manifest);
    if (!definition.success) continue;
    const { group, names, scope, versions } = definition.data.spec;
    for (const { name, served, schema } of versions) {
      if (!served) continue;
      const apiVersion = formatApiVersion({ group, version: name });
      const kind = { namespaced: scope === "Namespaced", schema: schema?.openAPIV3Schema };
      promised.set(kindKey({ apiVersion, kind: names.kind }), kind);
    }
  }
  return promised;
}

/** Says why two manifests cannot both be applied: in the cluster, or in the inventory, they are one object. */
function clashOf(ref: ObjectRef, first: Manifest, second: Manifest): string {
  const name = subject(ref);
  if (first.metadata.name !== second.metadata.name) {
    const one = subject({ ...ref, name: first.metadata.name });
    return `${one} and ${name} cannot both be in one Kustomization: in an inventory, as Flux writes it, : in such a name is __, so both have the same entry; rename one of them`;
  }
  const twice = `${name} is in the manifests twice`;
  if (first.apiVersion !== second.apiVersion) {
    return `${twice}, as ${first.apiVersion} and as ${second.apiVersion}: keep one of them`;
  }
  if (first.metadata.namespace !== second.metadata.namespace) {
    const [one = "none", other = "none"] = [first.metadata.namespace, second.metadata.namespace];
    return `${twice}, with the namespaces ${one} and ${other}, though its kind has none: keep one of them`;
  }
  return `${twice}: keep one of them`;
}
