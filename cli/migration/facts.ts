import { type GroupKind, isFluxGroup } from "../../lib/api/kinds/unreconciled.ts";
import type { LiveObject } from "../../lib/core/manifest.ts";
import { refOf } from "../../lib/core/manifest.ts";
import { parseApiVersion, subject } from "../../lib/core/object-ref.ts";
import { valueAt } from "../objects/read-object.ts";
import type { Unreconciled } from "../objects/unreconciled.ts";
import type { FoundController } from "./controllers.ts";

/** Something that could not be read, so that nothing can be said of it. */
export interface Unread {
  /** `kustomizations.kustomize.toolkit.fluxcd.io`, or an object. */
  readonly what: string;
  /** The API server's error, with the missing right if there is one. */
  readonly fault: string;
}

/** What `unread` calls the list in which the controllers are. */
export const deploymentsList = "deployments.apps";

/** Something that has to be prepared before the move. */
export interface Need {
  /** What it is about, for programs; a text that stays the same. */
  readonly what:
    | "buckets"
    | "cloudWatchRegions"
    | "decryptionKeys"
    | "definitions"
    | "identities"
    | "notifications"
    | "operator"
    | "repositories"
    | "rights"
    | "selfManaged"
    | "services"
    | "targets"
    | "webhooks";
  /** What to do, and why. */
  readonly text: string;
  /** The objects that need it. */
  readonly objects: readonly string[];
}

/** What `check --migration` has read of a cluster. */
export interface MigrationFacts {
  readonly controllers: readonly FoundController[];
  /** The objects of kinds that Sluice reconciles or reads. */
  readonly objects: readonly LiveObject[];
  /** Service accounts of controllers and sources, by `namespace/name`. */
  readonly accounts: ReadonlyMap<string, LiveObject>;
  /** ConfigMaps of `spec.kubeConfig`, by `namespace/name`. */
  readonly configMaps: ReadonlyMap<string, LiveObject>;
  /** Definitions of Flux, each with the versions in which objects are stored. */
  readonly definitions: readonly { readonly name: string; readonly stored: readonly string[]; readonly read: string }[];
  readonly unreconciled: readonly Unreconciled[];
  /** Objects of the Flux Operator: `FluxInstance/flux-system/flux`, `ResourceSet/apps/tenants`. */
  readonly operators: readonly string[];
  readonly unread: readonly Unread[];
}

/** Whether the cluster has anything of Flux or Flagger. */
export function hasFlux({ controllers, objects, unreconciled, unread }: MigrationFacts): boolean {
  return controllers.length + objects.length + unreconciled.length + unread.length > 0;
}

/** The objects of a kind, in the order of their names. */
export function ofKind(objects: readonly LiveObject[], kind: string): readonly LiveObject[] {
  return objects.filter((one) => one.kind === kind && isFluxGroup(groupOf(one)));
}

function groupOf({ apiVersion }: LiveObject): GroupKind["group"] {
  return parseApiVersion(apiVersion).group;
}

/** `Kustomization/apps/web` */
export function nameOfObject(object: LiveObject): string {
  return subject(refOf(object));
}

export function namespaceOf({ metadata: { namespace = "" } }: LiveObject): string {
  return namespace;
}

/** What has to be prepared for these objects; nothing without one. */
export function needOf(what: Need["what"], objects: readonly LiveObject[], text: string): readonly Need[] {
  return objects.length === 0 ? [] : [{ what, text, objects: objects.map(nameOfObject) }];
}

/** What a Kustomization has applied: `NAMESPACE_NAME_GROUP_KIND` of each object. */
export function inventoryIds(object: LiveObject): readonly string[] {
  const entries = valueAt(object, "status", "inventory", "entries");
  if (!Array.isArray(entries)) return [];
  return entries.flatMap((entry: unknown) => (isEntry(entry) && typeof entry.id === "string" ? [entry.id] : []));
}

function isEntry(entry: unknown): entry is { readonly id: unknown } {
  return typeof entry === "object" && entry !== null && "id" in entry;
}

/** Whether a field of the spec is set to anything. */
export function hasField(object: LiveObject, ...path: readonly string[]): boolean {
  const value = valueAt(object, "spec", ...path);
  return value !== undefined && value !== "";
}
