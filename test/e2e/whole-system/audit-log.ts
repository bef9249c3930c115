import { open, stat } from "node:fs/promises";
import { z } from "zod";

/** A request to the API server, as its audit log has it. */
const AuditEvent = z.object({
  verb: z.string(),
  requestURI: z.string(),
  /** The username is empty if a server that is just starting did not know the user. */
  user: z.object({ username: z.string().default("") }),
  objectRef: z
    .object({
      resource: z.string(),
      subresource: z.string().optional(),
      namespace: z.string().optional(),
      name: z.string().optional(),
    })
    .optional(),
  responseStatus: z.object({ code: z.int() }).optional(),
});
export type AuditEvent = z.infer<typeof AuditEvent>;

/** Follows the log from its present end; each call of the returned function gives everything since then. */
export async function followAudit(file: string): Promise<() => Promise<readonly AuditEvent[]>> {
  let read = (await stat(file)).size;
  const events: AuditEvent[] = [];
  return async () => {
    await using log = await open(file);
    const length = (await log.stat()).size - read;
    const { buffer } = await log.read(Buffer.alloc(length), 0, length, read);
    // The last line may still be written.
    const end = buffer.lastIndexOf("\n") + 1;
    read += end;
    const lines = buffer.toString("utf8", 0, end).split("\n").slice(0, -1);
    events.push(...lines.map((line) => AuditEvent.parse(JSON.parse(wholeEvent(line)))));
    return [...events];
  };
}

const eventBegins = '{"kind":"Event",';

/** A server that is killed may leave half an event, and the first of the next one stands in the same line. */
function wholeEvent(line: string): string {
  return line.slice(Math.max(line.lastIndexOf(eventBegins), 0));
}

/** Requests that change something: no dry runs, and none that was refused. */
export function writes(events: readonly AuditEvent[]): readonly AuditEvent[] {
  return events.filter(
    ({ verb, requestURI, responseStatus }) =>
      ["create", "update", "patch", "delete", "deletecollection"].includes(verb) &&
      !requestURI.includes("dryRun=") &&
      (responseStatus?.code ?? 0) < 300,
  );
}
