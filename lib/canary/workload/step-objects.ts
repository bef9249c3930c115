import type { JsonObject } from "../../core/json.ts";
import type { LiveObject, Manifest } from "../../core/manifest.ts";
import { nameFault, type VersionedRef } from "../../core/object-ref.ts";
import { ApiError } from "../../core/ports/cluster.ts";
import { canaryManager, type StepDeps } from "../canary-deps.ts";
import { StepFault } from "../step-fault.ts";

/** A kind as messages name it. */
export interface NamedKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  /** As the API server names it where it is not found. */
  readonly plural: string;
  /** As Flagger names it in its messages. */
  readonly noun: string;
}

/** The objects of one namespace in one step: each is read once, and after a write it is what the API server has answered. */
export interface StepObjects {
  /** Undefined if there is no such object. Throws a `StepFault` with Flagger's text if it cannot be read. */
  find(kind: NamedKind, name: string): Promise<LiveObject | undefined>;
  /** Throws a `StepFault` also if there is no such object. */
  read(kind: NamedKind, name: string): Promise<LiveObject>;
  /** The objects with these labels, in the API server's syntax for label selectors. Throws a `StepFault` if they cannot be read. */
  list(kind: NamedKind, labelSelector: string): Promise<readonly LiveObject[]>;
  create(kind: NamedKind, manifest: Manifest): Promise<void>;
  merge(kind: NamedKind, name: string, patch: JsonObject): Promise<void>;
}

export function stepObjects(namespace: string, { cluster, signal }: Pick<StepDeps, "cluster" | "signal">): StepObjects {
  const known = new Map<string, Promise<LiveObject | undefined>>();
  const keyOf = (kind: NamedKind, name: string): string => `${kind.kind}/${name}`;
  const refOf = ({ group, version, kind }: NamedKind, name: string): VersionedRef => ({
    group,
    version,
    kind,
    namespace,
    name,
  });
  const find = async (kind: NamedKind, name: string): Promise<LiveObject | undefined> => {
    // No object can have such a name, and a path with it may lead to another object.
    if (nameFault(name) !== undefined) return undefined;
    const key = keyOf(kind, name);
    const reading = known.get(key) ?? cluster.get(refOf(kind, name), signal);
    known.set(key, reading);
    return await within(queryText(kind, name, namespace), reading);
  };
  const keep = (kind: NamedKind, name: string, answer: LiveObject): void => {
    known.set(keyOf(kind, name), Promise.resolve(answer));
  };
  return {
    find,
    read: async (kind, name) => {
      const live = await find(kind, name);
      if (live !== undefined) return live;
      throw new StepFault(`${queryText(kind, name, namespace)}: ${nameFault(name) ?? notFound(kind, name)}`);
    },
    list: async ({ group, version, kind, plural }, labelSelector) => {
      const listing = cluster.list({ group, version, kind, namespace, labelSelector }, signal);
      return await within(`${plural} of ${namespace} list query error`, listing);
    },
    create: async (kind, manifest) => {
      keep(kind, manifest.metadata.name, await cluster.create(manifest, { manager: canaryManager }, signal));
    },
    merge: async (kind, name, body) => {
      const patch = { type: "merge", body } as const;
      keep(kind, name, await cluster.patch(refOf(kind, name), patch, { manager: canaryManager }, signal));
    },
  };
}

function queryText({ noun }: NamedKind, name: string, namespace: string): string {
  return `${noun} ${name}.${namespace} get query error`;
}

function notFound({ plural, group }: NamedKind, name: string): string {
  return `${group === "" ? plural : `${plural}.${group}`} "${name}" not found`;
}

/** Throws the fault that ends the step with `text: ` before it, as {@link told}. */
export async function within<Value>(text: string, work: Promise<Value>, separator = ": "): Promise<Value> {
  return await told(work, (cause) => `${text}${separator}${cause}`);
}

/** A refusal by the API server ends the step, in Flagger's words. An outage is not about the Canary: it is thrown as it is. */
export async function told<Value>(work: Promise<Value>, text: (cause: string) => string): Promise<Value> {
  try {
    return await work;
  } catch (error) {
    if (!isAboutTheObject(error)) throw error;
    throw new StepFault(text(error.message), { cause: error });
  }
}

/** Whether the API server has refused what was asked. An outage is not about the Canary. */
export function isAboutTheObject(error: unknown): error is ApiError | StepFault {
  if (error instanceof StepFault) return true;
  return error instanceof ApiError && error.code >= 400 && error.code < 500 && ![401, 408, 429].includes(error.code);
}
