import { z } from "zod";
import type { WorkKey } from "../../lib/core/work-key.ts";
import type { Change } from "../../lib/sources/followed.ts";

/** What an event announces: that something may have changed. What is there now, the sources themselves find out. */
export interface Announcement {
  /** Whose subscribers it may concern. */
  readonly topics: readonly string[];
  readonly change: Change;
  /** An object that the event names itself. */
  readonly object?: WorkKey;
  /** For the log: short texts of the event. */
  readonly about: Readonly<Record<string, string | undefined>>;
}

/** How the events of a sender name what they are about. */
export interface Names {
  /** The hosts under which sources may name the registry of this account and region. */
  readonly registryHosts: (account: string, region: string) => readonly string[];
}

/** The events of one sender: one entry of the table in `../ingest.ts`. */
export interface Sender {
  /** As EventBridge has it in `source`. */
  readonly source: string;
  readonly detailTypes: readonly string[];
  /** Undefined for an event that is understood, and announces nothing. Throws a `ZodError` for one that is not understood. */
  read(event: unknown, names: Names): Announcement | undefined;
}

/** The limit for an account's number and a region's name, in characters. */
export const maxAwsNameChars = 64;
/** The limit for `source` and `detail-type`: EventBridge takes 256 and 128. */
const maxTypeChars = 256;

/** What every event of EventBridge has, as far as it is read: https://docs.aws.amazon.com/eventbridge/latest/ref/overiew-event-structure.html */
export const Envelope = z.object({
  source: z.string().min(1).max(maxTypeChars),
  "detail-type": z.string().min(1).max(maxTypeChars),
  account: z.string().min(1).max(maxAwsNameChars),
  region: z.string().min(1).max(maxAwsNameChars),
});

/** A change without what the event does not say: an empty text says nothing. */
export function changeOf({ name = "", digest = "" }: Partial<Record<keyof Change, string | undefined>>): Change {
  return { ...(name === "" ? {} : { name }), ...(digest === "" ? {} : { digest }) };
}
