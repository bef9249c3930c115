import { NotificationProviderSpec } from "../api/notification-provider.ts";
import { parseLive } from "../api/parse-live.ts";
import { maxTimerMs, parseDuration } from "../core/duration.ts";
import { messageOf } from "../core/failure.ts";
import type { LiveObject } from "../core/manifest.ts";
import type { Clock } from "../core/ports/clock.ts";
import { ApiError, type Cluster } from "../core/ports/cluster.ts";
import type { ProviderType } from "./admits.ts";
import { watched } from "./last-attempt.ts";
import type { NotificationEvent } from "./notification-event.ts";
import type { NotificationProvider, ProviderParts } from "./provider.ts";
import { type LiveProvider, readSettings } from "./read-settings.ts";

/** A Provider that can be sent to. */
export interface ConnectedProvider {
  readonly provider: NotificationProvider;
  /** The time limit of one delivery with all its tries. */
  readonly timeoutMs: number;
  /** What became of the last request, to stand behind the text of a delivery that took too long. */
  readonly whyLate: (timeoutMs: number) => string;
}

export interface ConnectParts {
  /** The Alert for which events are sent. */
  readonly alert: Pick<LiveObject, "metadata">;
  /** Empty for types that set no status of a commit. */
  readonly commitStatus: string;
  /** Called with every value of a Secret as soon as it is read, so that no text shows the value. */
  readonly hide: (value: string) => void;
  readonly home: Pick<Cluster, "get">;
  readonly parts: ProviderParts;
}

/** As Flux's: of a Provider that names none. */
const defaultTimeout = "15s";

/** Parsed once for all deliveries that share a read of a Provider. */
const parsedProviders = new WeakMap<LiveObject, LiveProvider>();

/** The Provider as the cluster has it. Throws for a spec that cannot be read. */
export function liveProvider(live: LiveObject): LiveProvider {
  const known = parsedProviders.get(live);
  if (known !== undefined) return known;
  const { name, namespace = "", uid } = live.metadata;
  const parsed = { name, namespace, uid, spec: parseLive(live, "spec", NotificationProviderSpec) };
  parsedProviders.set(live, parsed);
  return parsed;
}

/**
 * Reads the Secrets of a Provider and makes the implementation of its type from them. Throws Flux's text for what is wrong with them, and an
 * `ApiError` where the cluster does not answer.
 *
 * @param of its type; undefined if there is none
 */
export async function connectProvider(
  provider: LiveProvider,
  of: ProviderType | undefined,
  { alert, commitStatus, hide, home, parts }: ConnectParts,
  signal: AbortSignal,
): Promise<ConnectedProvider> {
  const { parts: observed, whyLate } = watched(parts);
  const made = await inWords(initializingWords(provider.name), async () => {
    const own = await readSettings(provider, { home, hide, class: of?.class ?? "other" }, signal);
    const { name, namespace = "", uid } = alert.metadata;
    const settings = {
      ...own,
      alert: { name, namespace, uid },
      ...(commitStatus === "" ? {} : { commitStatus }),
    };
    return inWords(makingWords, async () => {
      if (of === undefined) throw new Error(`provider ${provider.spec.type} not supported`);
      return of.make(settings, observed);
    });
  });
  const timeoutMs = Math.min(parseDuration(provider.spec.timeout ?? defaultTimeout), maxTimerMs);
  return { provider: made, timeoutMs, whyLate };
}

/** The text before an error in a Provider's Secrets or settings. */
export function initializingWords(provider: string): string {
  return `failed to initialize notifier for provider '${provider}'`;
}
/** After that, before what is wrong with its settings. */
export const makingWords = "failed to initialize notifier";

/** Made once: an error has a stack. */
const over = new Error("the Provider has answered");

/** Sends an event. Throws what the Provider throws; beyond its timeout Go's text, and what became of the last request. */
export async function postInTime(
  { provider, timeoutMs, whyLate }: ConnectedProvider,
  event: NotificationEvent,
  clock: Pick<Clock, "sleep">,
  signal: AbortSignal,
): Promise<void> {
  signal.throwIfAborted();
  // Not `AbortSignal.any`, which costs more than the event's JSON. It also ends the timer.
  const limit = new AbortController();
  const { promise: ended, reject } = Promise.withResolvers<never>();
  let late: Error | undefined;
  const end = (reason: unknown): void => {
    limit.abort(reason);
    // A Provider may ignore its signal.
    reject(reason);
  };
  const onAbort = (): void => end(signal.reason);
  signal.addEventListener("abort", onAbort, { once: true });
  const timer = clock.sleep(timeoutMs, limit.signal).then(
    () => {
      late = new Error(`context deadline exceeded${whyLate(timeoutMs)}`);
      end(late);
    },
    () => undefined,
  );
  try {
    await Promise.race([provider.post(event, limit.signal), ended]);
  } catch (error) {
    signal.throwIfAborted();
    throw late ?? error;
  } finally {
    signal.removeEventListener("abort", onAbort);
    limit.abort(over);
    await timer;
  }
}

/** Puts words before the text of whatever `act` throws, as Go wraps errors; an error of the cluster stays what it is. */
export async function inWords<Result>(words: string, act: () => Promise<Result>): Promise<Result> {
  try {
    return await act();
  } catch (error) {
    if (error instanceof ApiError) throw error;
    throw new Error(`${words}: ${messageOf(error)}`, { cause: error });
  }
}
