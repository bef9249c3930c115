import type { IncomingMessage } from "node:http";

/** A request of the SDK's as a fault is chosen for it. */
export interface SeenRequest {
  /** The action: `PutItem`. */
  readonly action: string;
  /** Which try of the SDK's it is, from 1. */
  readonly attempt: number;
}

/** Reads what the SDK's JSON protocols say in headers. */
export function seenRequest({ headers }: IncomingMessage): SeenRequest {
  const action =
    String(headers["x-amz-target"] ?? "")
      .split(".")
      .at(-1) ?? "";
  const attempt = Number(/attempt=([0-9]+)/.exec(String(headers["amz-sdk-request"] ?? ""))?.[1] ?? 1);
  return { action, attempt };
}
