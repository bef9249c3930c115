import { z } from "zod";
import { mapLimit } from "../lib/core/concurrency.ts";
import { cutText } from "../lib/core/cut-text.ts";
import { Failure, messageOf } from "../lib/core/failure.ts";
import type { Log } from "../lib/core/ports/log.ts";
import type { Metrics } from "../lib/core/ports/metrics.ts";
import type { ObservedResources } from "../lib/core/ports/observed-resources.ts";
import type { ReconcileHints } from "../lib/core/ports/reconcile-requests.ts";
import type { Subscriptions } from "../lib/core/ports/subscriptions.ts";
import { formatWorkKey, type WorkKey } from "../lib/core/work-key.ts";
import { concernedBy } from "../lib/sources/followed.ts";
import { type Announcement, Envelope, type Names, type Sender } from "./ingest/announcement.ts";
import { codeCommit } from "./ingest/code-commit.ts";
import { custom } from "./ingest/custom.ts";
import { ecr } from "./ingest/ecr.ts";
import { s3 } from "./ingest/s3.ts";
import { type BatchResponse, handleBatch } from "./sqs-batch.ts";

/** Who tells of changes. Another sender is a file in `ingest/`, a line here, and a pattern in `infra/patterns`. */
const senders: readonly Sender[] = [ecr, s3, codeCommit, custom];

export interface IngestDeps extends Names {
  readonly subscriptions: Pick<Subscriptions, "followers">;
  readonly observed: Pick<ObservedResources, "get">;
  readonly requests: ReconcileHints;
  readonly metrics: Metrics;
  readonly log: Log;
  /** Whether the installation takes events from this account and region. */
  isAdmitted(account: string, region: string): boolean;
}

/** The limit for an event as text, which is that of EventBridge and SQS. */
export const maxEventBytes = 1_048_576;
const maxQuotedBytes = 256;
const concurrency = 16;

/**
 * Takes an event of EventBridge and asks for a run of every object that it may concern. The event only says that something may
 * have changed: what is there now, the object's own run finds out. An event that is not understood, or not admitted, is logged and
 * counted, and is done: it would be the same when it came again. Throws if the state or the queue fails.
 */
export function ingestHandler(deps: IngestDeps): (event: unknown, signal: AbortSignal) => Promise<void> {
  return async (event, signal) => {
    const read = readEvent(event, deps);
    if (read.kind === "refused") return refuse(read.why, deps);
    if (read.announcement === undefined) return;
    const { topics, change, object, about } = read.announcement;
    const found = await mapLimit(
      topics,
      concurrency,
      (topic, stop) => deps.subscriptions.followers(topic, stop),
      signal,
    );
    const concerned = await concernedBy(change, found.flat(), signal);
    const named = object !== undefined && (await deps.observed.get(object, signal)) !== undefined ? [object] : [];
    const keys = new Map([...concerned.map(({ key }) => key), ...named].map((key) => [formatWorkKey(key), key]));
    deps.log.info("change announced", { ...about, subscribers: found.flat().length, woken: keys.size });
    const request = (key: WorkKey, stop: AbortSignal) => deps.requests.hint(key, "event", stop);
    await mapLimit([...keys.values()], concurrency, request, signal);
  };
}

type Read =
  | { readonly kind: "taken"; readonly announcement: Announcement | undefined }
  | { readonly kind: "refused"; readonly why: string };

function readEvent(event: unknown, deps: IngestDeps): Read {
  const envelope = Envelope.safeParse(event);
  if (!envelope.success) return refused(`no event of EventBridge: ${faultsOf(envelope.error)}`);
  const { source, "detail-type": type, account, region } = envelope.data;
  const quoted = cutText(JSON.stringify({ source, type, account, region }), maxQuotedBytes);
  const sender = senders.find((one) => one.source === source && one.detailTypes.includes(type));
  if (sender === undefined) return refused(`an event of a type that is not read here: ${quoted}`);
  if (!deps.isAdmitted(account, region)) {
    return refused(`an event from an account or region that the installation does not list in pushesFrom: ${quoted}`);
  }
  try {
    return { kind: "taken", announcement: sender.read(event, deps) };
  } catch (error) {
    if (error instanceof z.ZodError)
      return refused(`an event that is not as documented: ${quoted}: ${faultsOf(error)}`);
    if (error instanceof Failure) return refused(`an event that is not as documented: ${quoted}: ${error.message}`);
    throw error;
  }
}

function refused(why: string): Read {
  return { kind: "refused", why };
}

/** The installation's own counter: no cluster and no object is to blame. */
const noObject: WorkKey = { cluster: "", group: "", kind: "", namespace: "", name: "" };

function refuse(why: string, { log, metrics }: IngestDeps): void {
  log.warn("event not taken", { why });
  metrics.record(noObject, { EventsRefused: 1 }, { why });
}

/** Names fields and rules, and quotes nothing of the event. */
function faultsOf({ issues }: z.ZodError): string {
  const texts = issues.map(({ path, message }) => `${path.join(".") || "event"}: ${message}`);
  return cutText([...new Set(texts)].join("; "), maxQuotedBytes);
}

/** Takes events from the queue of hints. If its subscribers cannot be woken, the event comes again, and finally becomes a dead letter. */
export function ingestBatchHandler(deps: IngestDeps): (event: unknown, signal: AbortSignal) => Promise<BatchResponse> {
  const ingest = ingestHandler(deps);
  return (batch, signal) =>
    handleBatch(batch, async ({ messageId, body }) => {
      try {
        await ingest(parsed(body), signal);
        return true;
      } catch (error) {
        deps.log.error("hint not handled", { messageId, error: messageOf(error) });
        return false;
      }
    });
}

/** Undefined, which is not an event, for a text that is too long or no JSON. */
function parsed(body: string): unknown {
  if (Buffer.byteLength(body) > maxEventBytes) return undefined;
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}
