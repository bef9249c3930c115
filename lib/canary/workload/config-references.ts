import type { JsonObject } from "../../core/json.ts";
import { inField, inItems, textAt } from "./fields.ts";

export type ConfigKind = "configmap" | "secret";

/** Where a pod template names a ConfigMap or a Secret. */
export interface ConfigReference {
  readonly kind: ConfigKind;
  readonly name: string;
  /** Whether the pods need it to start. */
  readonly isMandatory: boolean;
}

/** `configmap/<name>` or `secret/<name>`, as the status keeps it. */
export function configKey({ kind, name }: Pick<ConfigReference, "kind" | "name">): string {
  return `${kind}/${name}`;
}

/**
 * The ConfigMaps and Secrets that a pod spec refers to, each once; the last reference decides whether it is mandatory, as in Flagger. Pure.
 */
export function configReferences(podSpec: JsonObject): readonly ConfigReference[] {
  const found = new Map<string, ConfigReference>();
  renameConfigs(podSpec, (reference) => {
    found.set(configKey(reference), reference);
    return reference.name;
  });
  return [...found.values()];
}

type NewName = (reference: ConfigReference) => string;

/** The pod spec with other names in its references: those of volumes, environment, containers and init containers. Pure. */
export function renameConfigs(podSpec: JsonObject, newName: NewName): JsonObject {
  const inContainer = (container: JsonObject): JsonObject => renamedInContainer(container, newName);
  let renamed = inItems(podSpec, "volumes", (volume) => renamedInVolume(volume, newName));
  renamed = inItems(renamed, "containers", inContainer);
  return inItems(renamed, "initContainers", inContainer);
}

function renamedInVolume(volume: JsonObject, newName: NewName): JsonObject {
  let renamed = inReference(volume, { field: "configMap", kind: "configmap" }, newName);
  renamed = inReference(renamed, { field: "secret", kind: "secret", nameField: "secretName" }, newName);
  return inField(renamed, "projected", (projected) =>
    inItems(projected, "sources", (source) => {
      const withConfigMap = inReference(source, { field: "configMap", kind: "configmap" }, newName);
      return inReference(withConfigMap, { field: "secret", kind: "secret" }, newName);
    }),
  );
}

function renamedInContainer(container: JsonObject, newName: NewName): JsonObject {
  const renamed = inItems(container, "env", (variable) =>
    inField(variable, "valueFrom", (from) => {
      const withConfigMap = inReference(from, { field: "configMapKeyRef", kind: "configmap" }, newName);
      return inReference(withConfigMap, { field: "secretKeyRef", kind: "secret" }, newName);
    }),
  );
  return inItems(renamed, "envFrom", (from) => {
    const withConfigMap = inReference(from, { field: "configMapRef", kind: "configmap" }, newName);
    return inReference(withConfigMap, { field: "secretRef", kind: "secret" }, newName);
  });
}

function inReference(
  holder: JsonObject,
  {
    field,
    kind,
    nameField = "name",
  }: { readonly field: string; readonly kind: ConfigKind; readonly nameField?: string },
  newName: NewName,
): JsonObject {
  return inField(holder, field, (reference) => {
    const name = textAt(reference, nameField);
    const renamed = newName({ kind, name, isMandatory: reference["optional"] !== true });
    return renamed === name ? reference : { ...reference, [nameField]: renamed };
  });
}
