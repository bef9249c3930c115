import { StatusError } from "../api-object.ts";

/** The 410 for a revision that the server no longer remembers. */
export function expired(wanted: number, oldest: number): StatusError {
  return new StatusError(410, "Expired", `too old resource version: ${wanted} (${oldest})`);
}
