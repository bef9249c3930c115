import { open, stat } from "node:fs/promises";
import { text } from "node:stream/consumers";
import { z } from "zod";

/** One line of the API server's audit log: https://kubernetes.io/docs/reference/config-api/apiserver-audit.v1/ */
const Entry = z.object({
  stage: z.string(),
  verb: z.string(),
  requestURI: z.string(),
  user: z.object({ username: z.string() }),
  objectRef: z.object({ resource: z.string() }).optional(),
});
type Entry = z.infer<typeof Entry>;

/** How many requests of each verb, dry runs and discovery apart. */
export type Requests = Readonly<Record<string, number>>;

export interface AuditLog {
  /** The present end of the log; the server logs a request before it answers it. */
  readonly end: () => Promise<number>;
  /** The requests of this user since then, without watches, which last, and without the writes of these field managers. */
  readonly since: (start: number, user: string, notBy: readonly string[]) => Promise<Requests>;
  /** The same requests one by one, verb and path, in the order in which they were answered. */
  readonly requests: (start: number, user: string, notBy: readonly string[]) => Promise<readonly string[]>;
}

export function auditLog(file: string): AuditLog {
  const entriesSince = async (start: number, user: string, notBy: readonly string[]): Promise<readonly Entry[]> => {
    await using log = await open(file);
    const lines = (await text(log.createReadStream({ start, autoClose: false }))).split("\n").filter(Boolean);
    const isWanted = ({ stage, verb, requestURI, user: { username } }: Entry): boolean =>
      username === user &&
      stage === "ResponseComplete" &&
      verb !== "watch" &&
      !notBy.includes(new URL(requestURI, "https://server").searchParams.get("fieldManager") ?? "");
    return lines.map((line) => Entry.parse(JSON.parse(line))).filter(isWanted);
  };
  return {
    end: async () => (await stat(file)).size,
    since: async (start, user, notBy) => {
      const groups = Object.entries(Object.groupBy(await entriesSince(start, user, notBy), nameOf));
      return Object.fromEntries(groups.map(([name, found = []]) => [name, found.length]));
    },
    requests: async (start, user, notBy) =>
      (await entriesSince(start, user, notBy)).map((entry) => `${nameOf(entry)} ${entry.requestURI}`),
  };
}

function nameOf({ verb, requestURI, objectRef }: Entry): string {
  if (objectRef === undefined) return "discovery";
  return requestURI.includes("dryRun=All") ? `${verb}, dry run` : verb;
}
