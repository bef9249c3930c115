import { sourceGroup } from "../lib/api/names.ts";
import type { JsonObject } from "../lib/core/json.ts";
import { type LiveObject, type Manifest, refOf } from "../lib/core/manifest.ts";
import { type Labelled, metadataOf, upsert } from "./created-object.ts";
import { textAt } from "./objects/read-object.ts";
import { failureOf, waitFor } from "./progress.ts";
import { isCurrent } from "./reconcile-object.ts";
import type { Session } from "./session.ts";
import { isObserved } from "./suspend-and-resume.ts";

// What the commands that create a source share. Their lines are flux's.

/** A source of this kind with the labels of the options. */
export function sourceOf(kind: string, name: string, namespace: string, spec: JsonObject, options: Labelled): Manifest {
  return { apiVersion: `${sourceGroup}/v1`, kind, metadata: metadataOf(name, namespace, options), spec };
}

/** Applies the Secret that a source logs in with. @param owner whose credentials these are: `repository`, `bucket` */
export async function applyCredentials(secret: Manifest, owner: string, session: Session): Promise<void> {
  const { terminal } = session;
  terminal.action(`applying secret with ${owner} credentials`);
  await upsert(secret, session);
  terminal.success("authentication configured");
}

/** Waits for the first artifact of a source that was applied. Throws if its reconciliation fails, or ends without an artifact. */
export async function awaitArtifact(source: Manifest, session: Session): Promise<void> {
  const { terminal } = session;
  terminal.waiting(`waiting for ${source.kind} source reconciliation`);
  const ref = { ...refOf(source), version: "v1" };
  const isDone = (object: LiveObject): boolean => {
    if (!isObserved(object)) return false;
    if (isCurrent(object)) return true;
    const failure = failureOf(object);
    if (failure !== undefined) throw new Error(`${source.kind} source reconciliation failed: '${failure}'`);
    return false;
  };
  const seen = await waitFor(ref, isDone, session);
  terminal.success(`${source.kind} source reconciliation completed`);
  const revision = textAt(seen, "status", "artifact", "revision");
  if (revision === "") throw new Error(`${source.kind} source reconciliation completed but no artifact was found`);
  terminal.success(`fetched revision: ${revision}`);
}
