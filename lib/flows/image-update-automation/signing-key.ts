import type { ImageUpdateAutomationSpec } from "../../api/image-update-automation.ts";
import { Failure } from "../../core/failure.ts";
import type { SignCommit } from "../../sources/git/write/git-clone.ts";
import { secretData } from "../source/secrets.ts";
import type { AutomationContext } from "./automation-context.ts";

type SigningKey = (ImageUpdateAutomationSpec["git"] & {})["commit"]["signingKey"];

/**
 * What signs commits, of the Secret in the automation's namespace; undefined where nothing does. Throws a `RangeError` with Flux's text
 * (reference image-automation 7).
 */
export async function readSigningKey(key: SigningKey, ctx: AutomationContext): Promise<SignCommit | undefined> {
  if (key === undefined) return undefined;
  const { namespace, home, run } = ctx;
  const secret = key.secretRef.name;
  const access = { namespace, home, run };
  const missing = (why: string, cause?: unknown) =>
    new RangeError(`could not find signing key secret '${secret}': ${why}`, { cause });
  const data = await secretData(secret, access).catch((error: unknown) => {
    if (!(error instanceof Failure)) throw error;
    throw missing(error.message.replace(/^failed to get credential: failed to get secret '[^']*': /, ""), error);
  });
  if (data === undefined) throw missing(`secrets ${JSON.stringify(secret)} not found`);
  throw new RangeError(`TODO ${data.size}`);
}
