import type { IncomingMessage } from "node:http";

/** A request of the SDK, for which a fault is chosen. */
export interface SeenRequest {
  /** The action: `PutItem`. */
  readonly action: string;
  /** The number of the SDK's attempt, from 1. */
  readonly attempt: number;
}

/** Reads the headers of the SDK's JSON protocols. */
export function seenRequest({ headers }: IncomingMessage): SeenRequest {
  const action =
    String(headers["x-amz-target"] ?? "")
      .split(".")
      .at(-1) ?? "";
  const attempt = Number(/attempt=([0-9]+)/.exec(String(headers["amz-sdk-request"] ?? ""))?.[1] ?? 1);
  return { action, attempt };
}
