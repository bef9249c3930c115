import type { ReceiverSpec } from "../../api/receiver.ts";
import { Failure } from "../../core/failure.ts";
import { nameFault } from "../../core/object-ref.ts";
import { ApiError } from "../../core/ports/cluster.ts";
import { outageOf } from "../../core/ports/outage.ts";
import { bytesOfSecret, readSecretValues } from "../../receiver/secret-values.ts";
import { webhookPath } from "../../receiver/webhook-path.ts";
import type { ReceiverContext } from "./receiver-context.ts";

/** The path of the webhook. Throws a {@link Failure} `TokenNotFound`: also for an empty token, which Flux takes. */
export async function pathOf({ secretRef }: ReceiverSpec, ctx: ReceiverContext): Promise<string> {
  if (secretRef === undefined) return webhookPath(new Uint8Array(), ctx);
  const { namespace, deps, run } = ctx;
  const { name } = secretRef;
  const secret = `'${namespace}/${name}'`;
  const unreadable = (why: string, cause?: unknown): Failure =>
    new Failure("TokenNotFound", `unable to read token from secret ${secret} error: ${why}`, { cause });
  const fault = nameFault(name);
  if (fault !== undefined) throw unreadable(fault);
  const values = await readSecretValues(deps.home, { namespace, name }, run.signal).catch((error: unknown) => {
    if (error instanceof ApiError && error.reason === "Forbidden") throw unreadable(error.message, error);
    throw outageOf(error, "TokenNotFound", `unable to read token from secret ${secret} error`);
  });
  if (values === undefined) throw unreadable(`secrets "${name}" not found`);
  const token = values.get("token");
  if (token === undefined) {
    throw new Failure("TokenNotFound", `invalid ${secret} secret data: required fields 'token'`);
  }
  const bytes = bytesOfSecret(token);
  if (bytes.length === 0) {
    const mend = "store a long random text in it";
    throw new Failure("TokenNotFound", `invalid ${secret} secret data: the field 'token' is empty: ${mend}`);
  }
  return webhookPath(bytes, ctx);
}
