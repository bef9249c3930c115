import type { LiveObject } from "../lib/core/manifest.ts";
import { ApiError, type ListQuery, type WatchEvent } from "../lib/core/ports/cluster.ts";
import { systemClock } from "../lib/process/system-clock.ts";
import type { Session } from "./session.ts";

const watchAgainMs = 1_000;

/**
 * Watches with {@link watchAgain}, for as long as the session: calls `print` for each new version of an object, and `onNothing` if
 * there is none at the beginning.
 */
export async function printVersions(
  query: ListQuery,
  print: (object: LiveObject) => void,
  session: Session,
  onNothing: () => void = () => {},
): Promise<void> {
  // A watch begins with all present objects: those that the watch before has shown are not shown again.
  const printed = new Map<string, string>();
  let hasBegun = false;
  let isBroken = false;
  const onBreak = (error: ApiError) => {
    // A cluster that cannot be reached at all, for example, is an error of the command.
    if (!hasBegun) throw error;
    if (!isBroken && error.code !== 410) {
      session.terminal.warning(`the watch broke off, watching again: ${error.message}`);
    }
    isBroken ||= error.code !== 410;
  };
  for await (const event of watchAgain(query, session, onBreak)) {
    if (event.type === "BOOKMARK" && event.initialEventsEnd && !hasBegun) onNothing();
    hasBegun = true;
    isBroken = false;
    if (event.type === "BOOKMARK") continue;
    const { uid, resourceVersion } = event.object.metadata;
    if (event.type === "DELETED") printed.delete(uid);
    else if (resourceVersion === undefined || printed.get(uid) !== resourceVersion) {
      if (resourceVersion !== undefined) printed.set(uid, resourceVersion);
      print(event.object);
    }
  }
}

/**
 * The events of one watch after another. A watch may break off at any time; the next one begins with the present versions.
 * Ends with an error that another watch would not mend, with what `onBreak` throws, or with the signal's reason.
 */
export async function* watchAgain(
  query: ListQuery,
  { cluster, signal }: Pick<Session, "cluster" | "signal">,
  onBreak: (error: ApiError) => void = () => {},
): AsyncGenerator<WatchEvent, never> {
  for (;;) {
    try {
      yield* cluster.watch(query, signal);
    } catch (error) {
      if (!(error instanceof ApiError) || !canWatchAgain(error)) throw error;
      onBreak(error);
    }
    await systemClock.sleep(watchAgainMs, signal);
  }
}

function canWatchAgain({ code }: ApiError): boolean {
  return code === 0 || code === 410 || code === 429 || code >= 500;
}
