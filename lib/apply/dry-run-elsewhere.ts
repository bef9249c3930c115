import { ApiError } from "../core/ports/cluster.ts";
import type { TargetCluster } from "../core/ports/home-and-target.ts";
import type { DesiredObject } from "./desired-objects.ts";
import { type ApplyRules, applyOptions } from "./set/apply-rules.ts";

const suffix = "-sluice-check";

/** The shortest of the limits that kinds put on names: a DNS label's. */
const maxNameLength = 63;

/**
 * A dry run of an object under another name, and in this namespace if the kind has namespaces: what the API server says of its
 * fields holds under its own name too. Stores nothing.
 *
 * @returns the refusal with the object's own name in it, or undefined if there is none
 */
export async function dryRunElsewhere(
  { manifest, ref }: DesiredObject,
  namespace: string,
  { cluster, rules }: { readonly cluster: TargetCluster; readonly rules: ApplyRules },
  signal: AbortSignal,
): Promise<ApiError | undefined> {
  const name = `${ref.name.slice(0, maxNameLength - suffix.length).replace(/[^a-z0-9]+$/, "")}${suffix}`;
  const within = ref.namespace === "" ? {} : { namespace };
  const renamed = { ...manifest, metadata: { ...manifest.metadata, ...within, name } };
  try {
    await cluster.apply(renamed, { ...applyOptions(rules), dryRun: true }, signal);
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
