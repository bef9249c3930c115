import { z } from "zod";
import { type CollectDeps, collectArtifacts } from "../lib/sources/collect/collect-artifacts.ts";

/** The schedule's event says nothing. */
const CollectEvent = z.strictObject({});

/**
 * Deletes artifacts that no source names, once a day. It reaches no cluster. Throws a `ZodError` for an event of any other shape.
 */
export function collectHandler(deps: CollectDeps): (event: unknown, signal: AbortSignal) => Promise<void> {
  return async (event, signal) => {
    CollectEvent.parse(event);
    const collected = await collectArtifacts(deps, signal);
    // At home it comes every hour, and a line is worth reading where something is deleted.
    if (collected.deleted > 0) deps.log.info("artifacts deleted that no source names", { ...collected });
  };
}
