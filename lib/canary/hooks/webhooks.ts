import type { CanaryPhase, CanaryWebhook } from "../../api/canary.ts";
import { goJson } from "../../core/go-json.ts";
import { goUrlFault } from "../../core/go-url-fault.ts";
import type { Clock } from "../../core/ports/clock.ts";
import type { Http } from "../../core/ports/http.ts";
import { shownUrl } from "../../notify/go-client-words.ts";
import { type SendingRules, sendMessage, textOf } from "../../notify/post-json.ts";
import type { Canary } from "../canary.ts";
import type { StepDeps } from "../canary-deps.ts";
import { statusChecksum } from "../revision/checksum.ts";
import { hookTimeoutMs, noHookTime } from "./hook-timeout.ts";
import type { Hooks } from "./hooks.ts";

/** What webhook calls need in addition to a step's parts. */
export interface HookParts {
  /** Reaches also Services of the cluster. */
  readonly http: Http;
  /** Waits before a retry. */
  readonly sleep: Clock["sleep"];
}

export type HookDeps = StepDeps & HookParts;

/** The webhooks of a Canary (reference canary 12). */
export function hooksOf(canary: Canary, deps: HookDeps): Hooks {
  return { call: (hook, phase) => postHook(canary, { hook, phase, metadata: hook.metadata ?? {} }, deps) };
}

/** One call of a webhook. */
export interface HookCall {
  readonly hook: Pick<CanaryWebhook, "disableTLS" | "retries" | "timeout" | "url">;
  readonly phase: CanaryPhase;
  readonly metadata: Readonly<Record<string, string>>;
}

/**
 * Posts what Flagger posts, and passes at any status up to 202. Throws an `Error` with the answer's body, or with the words of Flagger's
 * client if there is no answer; where the signal is aborted, its reason.
 */
export async function postHook(canary: Canary, { hook, phase, metadata }: HookCall, deps: HookDeps): Promise<void> {
  const { url, retries = 0, disableTLS = false } = hook;
  const fault = url.startsWith(":") ? "missing protocol scheme" : goUrlFault(url);
  if (fault !== undefined) throw new Error(`parse ${JSON.stringify(shownUrl(url))}: ${fault}`);
  const timeoutMs = hookTimeoutMs(hook.timeout);
  const leftMs = deps.hooksLeftMs();
  if (leftMs === 0) throw new Error(noHookTime);
  const rules: SendingRules = {
    maxAttempts: Math.max(0, retries) + 1,
    minWaitMs: 1_000,
    timeoutMs: Math.min(timeoutMs, leftMs),
    followsByGet: true,
    saysAsGo: true,
  };
  const { http, sleep, clock, signal } = deps;
  const message = {
    url,
    // A connection of its own, as with Flagger: a kept one may be closed by now, and a hook is not called twice to find out.
    headers: { connection: "close" },
    body: payload(canary, { phase, metadata }),
    tls: { insecure: disableTLS },
  };
  const limited = AbortSignal.any([signal, AbortSignal.timeout(leftMs)]);
  try {
    const answer = await sendMessage(message, { http, sleep, now: clock.now }, limited, rules);
    if (answer.status > 202) throw new Error(textOf(answer.body));
  } catch (error) {
    // The end of the run is not a refusal by the hook, also where it is a timeout.
    signal.throwIfAborted();
    throw error;
  }
}

function payload(
  { name, namespace, status }: Canary,
  { phase, metadata }: Pick<HookCall, "metadata" | "phase">,
): string {
  const given = new Map(Object.entries(metadata));
  return goJson({
    name,
    namespace,
    phase,
    checksum: statusChecksum(status),
    metadata: given.size === 0 ? undefined : given,
  });
}
