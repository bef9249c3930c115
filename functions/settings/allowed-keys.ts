import type { SealedDataKey } from "../../lib/core/ports/data-keys.ts";

/** KMS keys by namespace, as sops writes them: `<ARN of a key or alias>`, and `+<ARN of a role>` where a role is assumed for it. */
export type AllowedKeys = Readonly<Record<string, readonly string[]>>;

const keyPattern =
  /^arn:aws[\w-]*:kms:[a-z0-9-]{1,32}:[0-9]{12}:(?:key|alias)\/[\w/-]{1,256}(?:\+arn:aws[\w-]*:iam::[0-9]{12}:role\/[\w+=,.@/-]{1,512})?$/;

/**
 * Whether our identity may open data keys of this KMS key for objects of a namespace. Nothing is allowed that is not listed, to the last
 * character: a tenant's file names the key, and a role to assume for it.
 */
export function isAllowedKey(
  allowed: AllowedKeys,
  namespace: string,
  { sealedBy, role }: Pick<SealedDataKey, "sealedBy" | "role">,
): boolean {
  const listed = Object.hasOwn(allowed, namespace) ? (allowed[namespace] ?? []) : [];
  return !sealedBy.includes("+") && listed.includes(role === undefined ? sealedBy : `${sealedBy}+${role}`);
}

/** Whether this names one KMS key, with or without a role. */
export function isKeyPattern(text: string): boolean {
  return keyPattern.test(text);
}
