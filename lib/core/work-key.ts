import { z } from "zod";
import type { ObjectRef } from "./object-ref.ts";

/** Names one object that is reconciled: its reference and the cluster that holds it. `cluster` is a name, never a URL. */
export interface WorkKey extends ObjectRef {
  readonly cluster: string;
}

/** The text of a key: `cluster/group/kind/namespace/name`. No part may hold a slash, so the text parses back. */
export function formatWorkKey({ cluster, group, kind, namespace, name }: WorkKey): string {
  return `${cluster}/${group}/${kind}/${namespace}/${name}`;
}

const part = z
  .string()
  .max(253)
  .regex(/^[^/]*$/);
const WorkKeyParts = z.tuple([part.min(1), part, part.min(1), part, part.min(1)]);

/** Reads {@link formatWorkKey}'s text; throws a `ZodError` for any other. */
export function parseWorkKey(text: string): WorkKey {
  const [cluster, group, kind, namespace, name] = WorkKeyParts.parse(text.split("/"));
  return { cluster, group, kind, namespace, name };
}
