import type { Artifact } from "../../api/source.ts";

/** The annotation that `flux push artifact` and `sluice push artifact` set when they push. */
const created = "org.opencontainers.image.created";

/** An image that is older than this when it is stored was made before its push: another tag of it, or a reproducible build. */
const maxPullMs = 60 * 60_000;

/**
 * When an artifact was pushed, wall time in milliseconds, as far as known: the time in its annotations, by the pusher's clock, or the
 * time at which it was stored, which the interval of the source may have delayed. Undefined if neither is readable.
 */
export function pushedAt({
  lastUpdateTime,
  metadata = {},
}: Pick<Artifact, "lastUpdateTime" | "metadata">): number | undefined {
  const stored = Date.parse(lastUpdateTime);
  if (Number.isNaN(stored)) return undefined;
  const made = Date.parse(metadata[created] ?? "");
  return made <= stored && stored - made <= maxPullMs ? made : stored;
}
