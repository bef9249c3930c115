import { orAborted } from "../core/concurrency.ts";
import { messageOf } from "../core/failure.ts";
import type { IndexedReceiver, ReceiverIndex } from "../core/ports/receiver-index.ts";
import { formatWorkKey } from "../core/work-key.ts";
import { type Authentications, isReceiverType } from "./authenticate.ts";
import { type Delivery, requestOf } from "./delivery.ts";
import type { RefusalLog } from "./refusal-log.ts";
import type { SecretCache } from "./secret-cache.ts";
import { bytesOfSecret, type SecretValues } from "./secret-values.ts";
import { type FilterValues, type WakeDeps, wakeSelected } from "./wake-selected.ts";
import { isWebhookPath, webhookPath } from "./webhook-path.ts";

export interface DeliveryDeps extends WakeDeps {
  readonly receivers: Pick<ReceiverIndex, "find">;
  readonly secretOf: SecretCache;
  readonly authentications: Authentications;
  readonly refused: RefusalLog;
  /** Whether this process needs a cluster for the first time, or, with an empty name, the state. */
  isFirstContact(cluster: string): boolean;
}

/** The status of the answer, which has no body. */
type Status = 200 | 400 | 404 | 500 | 503;

/** By when each step of a delivery has to end. */
export interface Deadlines {
  /** Who sends it is known. */
  readonly authentic: AbortSignal;
  /** The same where this process has only begun to use what it needs for that. */
  readonly firstAuthentic: AbortSignal;
  /** What it is for is asked to run. A sender may have given up by then and not come again, so what it asked for is done all the same. */
  readonly woken: AbortSignal;
}

/** If several Receivers share one path, the first status in this list that one of them answers: a sender repeats a failed delivery. */
const bySeverity: readonly Status[] = [500, 200, 400, 503];

/**
 * Takes a delivery whose body is within its limit, step by step as Flux does (reference notifications 5): path, state, token,
 * authentication with the events filter, body, selection. Nothing of the body is applied, so a delivery that is repeated does nothing
 * but run the same objects again. The log says why one is refused; the answer does not.
 */
export async function handleDelivery(delivery: Delivery, deps: DeliveryDeps, deadlines: Deadlines): Promise<Status> {
  if (!isWebhookPath(delivery.uri)) return 404;
  const authentic = deps.isFirstContact("") ? deadlines.firstAuthentic : deadlines.authentic;
  const found = await orAborted(deps.receivers.find(delivery.uri, authentic), authentic);
  // At the same time: a cluster that does not answer takes no time from the others.
  const answers = await Promise.all(
    found.map((receiver) =>
      handleFor(receiver, delivery, deps, deadlines).catch((error: unknown): Status => {
        deps.log.error("webhook not handled", { receiver: formatWorkKey(receiver.key), error: messageOf(error) });
        return 500;
      }),
    ),
  );
  return bySeverity.find((status) => answers.includes(status)) ?? 404;
}

async function handleFor(
  receiver: IndexedReceiver,
  delivery: Delivery,
  deps: DeliveryDeps,
  deadlines: Deadlines,
): Promise<Status> {
  const { key, entry } = receiver;
  const { woken: wokenBy } = deadlines;
  // Without a Secret nothing is asked of the cluster, and the path can be guessed.
  const isFirst = entry.secret !== undefined && deps.isFirstContact(key.cluster);
  const authentic = isFirst ? deadlines.firstAuthentic : deadlines.authentic;
  const admitted = await orAborted(admit(receiver, delivery, deps, authentic), authentic);
  if ("status" in admitted) {
    deps.refused(key, { ...admitted, isMeant: entry.secret !== undefined });
    if (admitted.status === 404) await deps.requests.hint(key, "webhook", wokenBy);
    return admitted.status;
  }
  const { isWhole, woken } = await orAborted(wakeSelected(receiver, admitted, deps, wokenBy), wokenBy);
  deps.log.info("webhook accepted", { receiver: formatWorkKey(key), woken, isWhole });
  return isWhole ? 200 : 500;
}

interface Refusal {
  readonly status: Exclude<Status, 200>;
  readonly why: string;
}

/** What filters read of a delivery that is authentic, or why it is not taken. */
async function admit(
  receiver: IndexedReceiver,
  delivery: Delivery,
  deps: DeliveryDeps,
  signal: AbortSignal,
): Promise<FilterValues | Refusal> {
  const { entry } = receiver;
  if (entry.state !== "ready") return { status: 503, why: `the Receiver is ${entry.state}` };
  const { type } = entry;
  const authenticate = isReceiverType(type) ? deps.authentications[type] : undefined;
  if (authenticate === undefined) return { status: 500, why: `type ${type} is not known to this release` };
  const secret = await readSecret(receiver, delivery, deps, signal);
  if ("status" in secret) return secret;
  const verdict = await authenticate({ delivery, secret, entry, tenant: receiver.key }, signal);
  if (verdict.kind === "refused") return { status: 400, why: verdict.why };

  const isFiltered = [entry.resourceFilter, ...entry.resources.map(({ filter }) => filter)].some(
    (filter = "") => filter !== "",
  );
  const req = isFiltered ? (verdict.req ?? requestOf(delivery)) : undefined;
  if (req !== undefined && "fault" in req) return { status: 500, why: `the body ${req.fault}` };
  return {
    ...(req === undefined ? {} : { req }),
    ...(verdict.claims === undefined ? {} : { claims: verdict.claims }),
  };
}

/** The Secret with the token from which the path was made, or the reason why there is none. */
async function readSecret(
  { key, entry }: IndexedReceiver,
  { uri }: Delivery,
  { secretOf }: DeliveryDeps,
  signal: AbortSignal,
): Promise<SecretValues | Refusal> {
  const { secret: name } = entry;
  if (name === undefined) return new Map();
  const refused = (why: string): Refusal => ({ status: 400, why });
  const fits = (values: SecretValues): boolean => {
    const token = values.get("token");
    return token !== undefined && webhookPath(bytesOfSecret(token), key) === uri;
  };
  try {
    const values = await secretOf({ cluster: key.cluster, namespace: key.namespace, name }, fits, signal);
    if (values === undefined) return refused(`secrets "${name}" not found`);
    if ((values.get("token")?.reveal() ?? "") === "") return refused(`the Secret ${name} has no token`);
    // For some types the sender only has to know the path, so the path of a replaced token must not work any more.
    return fits(values)
      ? values
      : { status: 404, why: `the path is of an earlier token than that of the Secret ${name}` };
  } catch (error) {
    signal.throwIfAborted();
    return refused(`the Secret ${name} cannot be read: ${messageOf(error)}`);
  }
}
