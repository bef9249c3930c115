import { kustomizeGroup } from "../../api/names.ts";
import { subject } from "../../core/object-ref.ts";
import { mapping, textIn } from "../fields.ts";

const decryptAnnotation = `${kustomizeGroup}/decrypt`;

type AnyObject = Readonly<Record<string, unknown>>;

/** Whether an object says that it is not decrypted. A label does not count, unlike for substitution. */
export function isOptedOut({ metadata }: AnyObject): boolean {
  const value = mapping(mapping(metadata)["annotations"])[decryptAnnotation];
  return typeof value === "string" && value.toLowerCase() === "disabled";
}

/** Why these objects must not be applied, in Flux's words: a Secret among them is encrypted still. Undefined if none is. Pure. */
export function encryptedSecret(objects: readonly AnyObject[]): string | undefined {
  const secret = objects.find(
    (object) => object["apiVersion"] === "v1" && object["kind"] === "Secret" && "sops" in object && !isOptedOut(object),
  );
  if (secret === undefined) return undefined;
  const { name, namespace } = mapping(secret["metadata"]);
  const named = subject({ kind: "Secret", namespace: textIn(namespace), name: textIn(name) });
  return `${named} is SOPS encrypted, configuring decryption is required for this secret to be reconciled`;
}
