import type { ReceiverSpec } from "../../api/receiver.ts";
import { mapLimit } from "../../core/concurrency.ts";
import { Failure } from "../../core/failure.ts";
import { toJsonObject } from "../../core/json.ts";
import { EntryTooLarge, packEntry, type ReceiverEntry } from "../../core/ports/receiver-index.ts";
import { configTopic, selectionTopic } from "../../core/topics.ts";
import type { ReceiverContext } from "./receiver-context.ts";
import { poolKey, poolsOf, type SelectionRules, selectorsByPool, selectResources } from "./select-resources.ts";

const concurrency = 8;

/**
 * Stores the entry that deliveries use, and subscribes to the objects that it depends on. Without a path there is no entry.
 *
 * @throws Failure if it would be too large
 */
export async function saveEntry(
  path: string | undefined,
  spec: ReceiverSpec,
  state: "ready" | "suspended",
  ctx: ReceiverContext,
): Promise<void> {
  const { deps, namespace, run } = ctx;
  const { receivers, subscriptions } = deps;
  const { cluster } = run.key;
  const rules = selectionRules(ctx);
  const pools = state === "ready" ? poolsOf(spec, rules) : [];
  const selectors = selectorsByPool(spec, rules);
  const secret = spec.secretRef?.name;
  const topics = [
    ...pools.map((pool) => ({
      topic: selectionTopic({ ...pool, cluster }),
      // Not the objects that it wakes: a source checks here whether a webhook should have announced a change.
      follows: { kind: "objects", selectors: selectors.get(poolKey(pool)) ?? [] } as const,
    })),
    ...(secret === undefined ? [] : [configTopic({ cluster, kind: "Secret", namespace, name: secret })]),
  ];
  // Before anything is listed, so that no change in between is missed.
  await subscriptions.subscribe(topics, run.fence, run.signal);
  if (path === undefined || path === "") {
    await receivers.remove(run.fence, run.signal);
    return;
  }
  const listed = await mapLimit(
    pools,
    concurrency,
    async (pool, stop) => [poolKey(pool), await deps.home.listMetadata(pool, stop)] as const,
    run.signal,
  );
  const entry: ReceiverEntry = {
    state,
    type: spec.type,
    events: spec.events ?? [],
    ...(secret === undefined ? {} : { secret }),
    ...(spec.resourceFilter === undefined ? {} : { resourceFilter: spec.resourceFilter }),
    ...(spec.oidcProviders === undefined ? {} : { oidcProviders: spec.oidcProviders.map(toJsonObject) }),
    resources: state === "ready" ? selectResources(spec, rules, new Map(listed)) : [],
  };
  assertSize(entry);
  await receivers.save(path, entry, run.fence, run.signal);
}

/** By the objects that this Receiver selects. */
export function selectionRules({ deps, namespace }: ReceiverContext): SelectionRules {
  const { noCrossNamespaceRefs, reconciled: kinds } = deps;
  return { namespace, kinds, noCrossNamespaceRefs };
}

/** Leaves of the entry only that the Receiver is not ready. */
export async function saveNotReady({ before, deps, run }: ReceiverContext): Promise<void> {
  const { webhookPath: path = "" } = before;
  if (path === "") return;
  const entry: ReceiverEntry = { state: "not ready", type: "", events: [], resources: [] };
  await deps.receivers.save(path, entry, run.fence, run.signal);
}

function assertSize(entry: ReceiverEntry): void {
  try {
    packEntry(entry);
  } catch (error) {
    if (!(error instanceof EntryTooLarge)) throw error;
    const mend = "select fewer objects, or leave them to several Receivers";
    const what = "what spec.resources selects, with labels and annotations for filters,";
    throw new Failure("ReconciliationFailed", `${what} ${error.message}: ${mend}`, { cause: error });
  }
}
