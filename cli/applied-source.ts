import { isJsonObject, type JsonObject } from "../lib/core/json.ts";
import type { Manifest } from "../lib/core/manifest.ts";
import { applyAndWait, type Called } from "./create-object.ts";
import { upsert } from "./created-object.ts";
import { textAt } from "./objects/read-object.ts";
import type { Session } from "./session.ts";

// What the commands that create a source share. Their lines are flux's.

/** Applies the Secret that a source logs in with. @param owner whose credentials these are: `repository`, `bucket` */
export async function applyCredentials(secret: Manifest, owner: string, session: Session): Promise<void> {
  const { terminal } = session;
  terminal.action(`applying secret with ${owner} credentials`);
  await upsert(secret, session);
  terminal.success("authentication configured");
}

/**
 * Applies a source and waits for its first artifact. Throws if its reconciliation fails, or ends without an artifact.
 *
 * @param without what is said of one without an artifact
 */
export async function applySource(
  manifest: Manifest,
  called: Called,
  session: Session,
  without = `${called.thing} reconciliation completed but no artifact was found`,
): Promise<void> {
  const seen = await applyAndWait(manifest, called, session);
  session.terminal.success(`${called.thing} reconciliation completed`);
  const revision = textAt(seen, "status", "artifact", "revision");
  if (revision === "") throw new Error(without);
  session.terminal.success(`fetched revision: ${revision}`);
}

/** The source with the Secret of this name to log in with, and more fields of its spec. */
export function withSecret(source: Manifest, name: string, more: JsonObject = {}): Manifest {
  const spec = isJsonObject(source["spec"]) ? source["spec"] : {};
  return { ...source, spec: { ...spec, secretRef: { name }, ...more } };
}
