import { z } from "zod";
import type { ObjectRef } from "./object-ref.ts";

/** Names one reconciled object: its reference and the id of its cluster. */
export interface WorkKey extends ObjectRef {
  /** See {@link ClusterId}. */
  readonly cluster: string;
}

/** The ARN of a cluster of EKS. */
export const clusterArnPattern =
  /^arn:(aws[\w-]*):eks:([a-z0-9-]+):([0-9]{12}):cluster\/([0-9A-Za-z][A-Za-z0-9_-]{0,99})$/;

/**
 * The name of a cluster in every key (docs/maintainers/adr/0026-the-id-of-a-cluster.md): in AWS its ARN, at home the uid of its
 * namespace `kube-system`. No two clusters share one and it never changes, unlike a name. Only an ARN holds a slash.
 */
export const ClusterId = z
  .string()
  .min(1)
  .max(253)
  .regex(
    new RegExp(`^(?!arn:)[^/]*$|${clusterArnPattern.source}`),
    "must be the ARN of an EKS cluster or hold no slash",
  );

/** The text of a key: `cluster/group/kind/namespace/name`. Only the cluster may contain a slash, so the text can be parsed. */
export function formatWorkKey({ cluster, group, kind, namespace, name }: WorkKey): string {
  return `${cluster}/${group}/${kind}/${namespace}/${name}`;
}

const part = z
  .string()
  .max(253)
  .regex(/^[^/]*$/);
const WorkKeyParts = z.tuple([ClusterId, part, part.min(1), part, part.min(1)]);

/** Reads {@link formatWorkKey}'s text; throws a `ZodError` for any other. */
export function parseWorkKey(text: string): WorkKey {
  const [cluster, group, kind, namespace, name] = WorkKeyParts.parse([
    clusterOfText(text),
    ...text.split("/").slice(-4),
  ]);
  return { cluster, group, kind, namespace, name };
}

/** The cluster in {@link formatWorkKey}'s text: what is left of the last four slashes. Checks nothing; empty for other texts. */
export function clusterOfText(text: string): string {
  return text.split("/").slice(0, -4).join("/");
}
