import type { KindDeclaration } from "../lib/api/kinds/declaration.ts";
import type { JsonObject } from "../lib/core/json.ts";
import { type LiveObject, type Manifest, refOf } from "../lib/core/manifest.ts";
import { exportNamespace, type Labelled, labelsOf, upsert, yamlOf } from "./created-object.ts";
import { failureOf, waitFor } from "./progress.ts";
import { isCurrent } from "./reconcile-object.ts";
import { type GlobalOptions, type Session, type Surroundings, withCluster } from "./session.ts";
import { isObserved } from "./suspend-and-resume.ts";

// The frame of every word of `create`: print the object, or apply it and wait. The lines are flux's.

/** The options that every word of `create` takes. */
export interface CreatedOptions extends GlobalOptions, Labelled {
  /** Print the object as YAML, and create nothing. */
  readonly export?: boolean;
}

/** An object for a namespace: which one is known once the kubeconfig has been read. */
export type ManifestIn = (namespace: string) => Manifest;

/** An object of a kind of Flux, in the version that is stored, with the labels of the options. */
export function objectOf(
  { group, kind, versions: [version] }: Pick<KindDeclaration, "group" | "kind" | "versions">,
  name: string,
  spec: JsonObject,
  options: Labelled,
): ManifestIn {
  const labels = labelsOf(options);
  return (namespace) => ({ apiVersion: `${group}/${version}`, kind, metadata: { name, namespace, ...labels }, spec });
}

/** Prints the object if `--export` is given, without asking a cluster; otherwise has `apply` bring it into the cluster. */
export async function printOrApply(
  manifestIn: ManifestIn,
  options: CreatedOptions,
  surroundings: Surroundings,
  apply: (manifest: Manifest, session: Session) => Promise<void>,
): Promise<void> {
  if (options.export === true) {
    surroundings.terminal.document(await yamlOf(manifestIn(exportNamespace(options, surroundings))));
    return;
  }
  await withCluster(options, surroundings, (session) => apply(manifestIn(session.namespace), session));
}

/** What the lines call an object. */
export interface Called {
  /** `Kustomization`, `Bucket source`. */
  readonly thing: string;
  /** Before `created` or `updated`, where that is another word. */
  readonly stored?: string;
}

/** Creates the object, or overwrites its labels and its spec. */
export async function applyObject(manifest: Manifest, { thing, stored = thing }: Called, session: Session) {
  session.terminal.action(`applying ${thing}`);
  session.terminal.success(`${stored} ${await upsert(manifest, session)}`);
}

/** {@link applyObject}, then waits until the object is ready. Throws the reason as soon as its run has failed. */
export async function applyAndWait(manifest: Manifest, called: Called, session: Session): Promise<LiveObject> {
  const { thing } = called;
  await applyObject(manifest, called, session);
  session.terminal.waiting(`waiting for ${thing} reconciliation`);
  const isDone = (object: LiveObject): boolean => {
    if (!isObserved(object)) return false;
    if (isCurrent(object)) return true;
    const failure = failureOf(object);
    if (failure !== undefined) throw new Error(`${thing} reconciliation failed: '${failure}'`);
    return false;
  };
  return await waitFor(refOf(manifest), isDone, session);
}
