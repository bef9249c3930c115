import type { ApiError } from "../../core/ports/cluster.ts";

/** Whether the cluster has said something about the object, in place of not answering for now. */
export function isAnswer({ code, reason }: ApiError): boolean {
  return reason === "NoMatch" || code === 403 || code === 404;
}
