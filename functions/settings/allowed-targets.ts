import { clusterArnPattern } from "../../lib/core/work-key.ts";

/** Clusters of EKS by namespace: `<ARN of a cluster>`, and `+<ARN of a role>` where our identity assumes a role to enter it. */
export type AllowedTargets = Readonly<Record<string, readonly string[]>>;

const rolePattern = /^arn:aws[\w-]*:iam::([0-9]{12}):role\/[\w+=,.@/-]{1,512}$/;

/**
 * How objects of a namespace may enter a cluster; undefined for one that is not listed, to the last character. A tenant's ConfigMap names
 * the cluster, and never the role.
 */
export function listedTarget(
  allowed: AllowedTargets,
  namespace: string,
  arn: string,
): { readonly role: string | undefined } | undefined {
  const listed = Object.hasOwn(allowed, namespace) ? (allowed[namespace] ?? []) : [];
  const entry = listed.map(partsOf).find((one) => one.arn === arn);
  return entry === undefined ? undefined : { role: entry.role };
}

/** Whether this names one cluster, with or without a role of its account: EKS describes a cluster to no other. */
export function isTargetPattern(text: string): boolean {
  const { arn, role } = partsOf(text);
  const account = clusterArnPattern.exec(arn)?.[3];
  return account !== undefined && (role === undefined || rolePattern.exec(role)?.[1] === account);
}

/** Whether no cluster is listed twice: otherwise the order of the list would decide which role enters. */
export function namesEachOnce(targets: readonly string[]): boolean {
  return new Set(targets.map((text) => partsOf(text).arn)).size === targets.length;
}

/** No ARN of a cluster has a plus sign, but names of roles may. */
export function partsOf(text: string): { readonly arn: string; readonly role: string | undefined } {
  const [arn = "", ...rest] = text.split("+");
  return { arn, role: rest.length === 0 ? undefined : rest.join("+") };
}
