import { mapLimit } from "../core/concurrency.ts";
import { isJsonObject } from "../core/json.ts";
import type { PartialObject } from "../core/ports/cluster.ts";
import type { TargetCluster } from "../core/ports/home-and-target.ts";
import type { Workload } from "./pod-parts.ts";

/** The ConfigMaps and Secrets that a Pod template may name before its configuration counts as unknown. */
export const maxConfigObjects = 50;

interface ConfigObject {
  readonly kind: "ConfigMap" | "Secret";
  readonly name: string;
}

/**
 * When a ConfigMap or Secret that the template names was last written, in milliseconds since 1970; 0 if it names none. Undefined if this
 * is not known: one is missing, or says nothing of its writes. Reads only metadata.
 */
export async function lastConfigChange(
  { spec }: Workload,
  namespace: string,
  cluster: TargetCluster,
  signal: AbortSignal,
): Promise<number | undefined> {
  const named = configObjects(spec.template.spec);
  if (named.length > maxConfigObjects) return undefined;
  const times = await mapLimit(
    named,
    4,
    async ({ kind, name }, stop) => {
      const query = { group: "", version: "v1", kind, namespace, fieldSelector: `metadata.name=${name}` };
      const [found] = await cluster.listMetadata(query, stop);
      return found === undefined ? undefined : lastWrite(found);
    },
    signal,
  );
  const known = times.filter((time) => time !== undefined);
  return known.length === times.length ? Math.max(0, ...known) : undefined;
}

/** The newest of its creation and of the writes that its managed fields tell of; undefined if there are none. */
function lastWrite({ metadata: { creationTimestamp, managedFields = [] } }: PartialObject): number | undefined {
  const writes = managedFields.map(({ time = "" }) => Date.parse(time));
  const times = [Date.parse(creationTimestamp ?? ""), ...writes];
  return writes.length === 0 || times.some((time) => Number.isNaN(time)) ? undefined : Math.max(...times);
}

/** The ConfigMaps and Secrets that a Pod spec names in its volumes (also projected ones), `env` and `envFrom`, without duplicates. */
function configObjects(podSpec: unknown): readonly ConfigObject[] {
  const found = new Map<string, ConfigObject>();
  const add = (kind: ConfigObject["kind"], name: unknown): void => {
    if (typeof name === "string" && name !== "") found.set(`${kind} ${name}`, { kind, name });
  };
  const visit = (value: unknown): void => {
    if (Array.isArray(value)) for (const item of value) visit(item);
    if (!isJsonObject(value)) return;
    for (const [key, field] of Object.entries(value)) {
      const { name, secretName } = isJsonObject(field) ? field : {};
      if (key === "configMap" || key === "configMapRef" || key === "configMapKeyRef") add("ConfigMap", name);
      if (key === "secret" || key === "secretRef" || key === "secretKeyRef") add("Secret", secretName ?? name);
      visit(field);
    }
  };
  visit(podSpec);
  return [...found.values()];
}
