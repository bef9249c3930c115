import { ApiError } from "../../core/ports/cluster.ts";
import type { ReleaseStore, RevisionHead } from "../../helm/release-store.ts";
import type { HelmReleaseContext } from "./attempt/context.ts";
import { Blocked } from "./blocked.ts";

/**
 * The revisions of a release, the newest first.
 *
 * @throws Blocked in Flux's words where the Secrets may not be listed, as by a service account without the right. Flux records no event.
 */
export async function headsOf(
  store: ReleaseStore,
  { run: { signal } }: Pick<HelmReleaseContext, "run">,
): Promise<readonly RevisionHead[]> {
  try {
    return await store.heads(signal);
  } catch (error) {
    if (!(error instanceof ApiError) || error.reason !== "Forbidden") throw error;
    const why = `failed to retrieve last release from storage: query: failed to query with labels: ${error.message}`;
    throw new Blocked("StateError", `Could not determine release state: ${why}`, { retry: "backoff", cause: error });
  }
}
