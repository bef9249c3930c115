import { ApiError, type Cluster } from "../core/ports/cluster.ts";
import type { DesiredObject } from "./desired-objects.ts";
import { fieldManager } from "./field-managers.ts";

const suffix = "-sluice-check";
/** The shortest of the limits that kinds put on names: a DNS label's. */
const maxNameLength = 63;

/**
 * Has the API server judge an object by a dry run under another name, and in another namespace where one is given: what is
 * said of its fields holds under its own name too. Stores nothing.
 *
 * @returns the refusal with the object's own name in it, or undefined where there is none
 */
export async function rehearse(
  { manifest, ref }: DesiredObject,
  namespace: string,
  cluster: Cluster,
  signal: AbortSignal,
): Promise<ApiError | undefined> {
  const name = `${ref.name.slice(0, maxNameLength - suffix.length).replace(/[^a-z0-9]+$/, "")}${suffix}`;
  const within = ref.namespace === "" ? {} : { namespace };
  const understudy = { ...manifest, metadata: { ...manifest.metadata, ...within, name } };
  try {
    await cluster.apply(understudy, { manager: fieldManager, force: true, dryRun: true }, signal);
    return undefined;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const { code, reason, causes } = error;
    const message = error.message
      .replaceAll(name, ref.name)
      .replaceAll(`(${namespace}/${ref.name};`, `(${ref.namespace}/${ref.name};`);
    return new ApiError({ code, reason, causes, message }, { cause: error });
  }
}

/**
 * Whether a refusal is about the object's own fields, and not about who asks or where it was tried: a policy may well refuse
 * everything in the namespace of the rehearsal.
 */
export function isAboutFields({ code, reason, message }: ApiError): boolean {
  if (/admission webhook|ValidatingAdmissionPolicy/.test(message)) return false;
  return (code === 422 && reason === "Invalid") || message.startsWith("failed to create typed patch object");
}
