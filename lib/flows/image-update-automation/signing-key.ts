import type { ImageUpdateAutomationSpec } from "../../api/image-update-automation.ts";
import { Failure } from "../../core/failure.ts";
import type { SignCommit } from "../../sources/git/write/git-clone.ts";
import { readSigningKey, SigningKeyFault } from "../../sources/git/write/signing-key.ts";
import { secretData } from "../source/secrets.ts";
import type { AutomationContext } from "./automation-context.ts";

type SigningKey = (ImageUpdateAutomationSpec["git"] & {})["commit"]["signingKey"];

/**
 * The signing key for commits, from the Secret in the automation's namespace; undefined if there is none. Throws a {@link
 * SigningKeyFault} with Flux's text (reference image-automation 7).
 */
export async function signerOf(
  key: SigningKey,
  { deps, home, namespace, run }: AutomationContext,
): Promise<SignCommit | undefined> {
  if (key === undefined) return undefined;
  const { name } = key.secretRef;
  const missing = (why: string, cause?: unknown) =>
    new SigningKeyFault(`could not find signing key secret '${name}': ${why}`, { cause });
  const data = await secretData(name, { home, namespace, run }).catch((error: unknown) => {
    if (!(error instanceof Failure)) throw error;
    throw missing(error.message.replace(/^failed to get credential: failed to get secret '[^']*': /, ""), error);
  });
  if (data === undefined) throw missing(`secrets ${JSON.stringify(name)} not found`);
  const reader = { tenant: { cluster: run.key.cluster, namespace }, signal: run.signal };
  return readSigningKey(key.type, { name, data }, reader, deps.clock.now());
}
