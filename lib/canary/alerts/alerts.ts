import type { AlertSeverity, CanaryAlert } from "../../api/canary.ts";
import { messageOf } from "../../core/failure.ts";
import type { Http } from "../../core/ports/http.ts";
import { safeMessage } from "../../core/safe-text.ts";
import { maskValues } from "../../notify/mask.ts";
import { inWords, type SendingRules, sendOnce, textOf } from "../../notify/post-json.ts";
import { type Canary, canaryText } from "../canary.ts";
import type { StepDeps } from "../canary-deps.ts";
import { noHookTime } from "../hooks/hook-timeout.ts";
import type { Alerts } from "../hooks/hooks.ts";
import { alertFields } from "./alert-fields.ts";
import { type AlertReceiver, type AlertWords, alertMessage } from "./alert-message.ts";
import { alertReceiver } from "./alert-receiver.ts";

/** What alerts need in addition to a step's parts. */
export interface AlertParts {
  /** For what an object of this namespace names: it reaches Services of that namespace too. */
  readonly httpOf: (namespace: string) => Http;
}

type AlertDeps = StepDeps & AlertParts;

/**
 * The alerts of a Canary (reference canary 13). Each of `analysis.alerts` gets the messages of its severity; without any, the receiver of
 * the installation gets all. A failure is logged without addresses and tokens, and the other receivers still get the alert.
 */
export function alertsOf(canary: Canary, deps: AlertDeps): Alerts {
  const { alerts = [] } = canary.analysis;
  const { clusterName, globalAlerts } = deps.settings;
  const ofCluster = clusterName === "" ? [] : [{ name: "Cluster", value: clusterName }];
  return {
    async send({ message, severity, hasFields }) {
      const fields = [...ofCluster, ...(hasFields ? alertFields(canary) : [])];
      const words: AlertWords = { of: canaryText(canary), message, severity, fields };
      if (alerts.length === 0) {
        if (globalAlerts !== undefined)
          await orLogged(canary, deps, () => post({ receiver: globalAlerts, of: canary, as: "alert" }, words, deps));
        return;
      }
      for (const alert of alerts.filter((each) => isFor(each, severity))) {
        await orLogged(canary, deps, () => tell(canary, alert, words, deps));
      }
    },
  };
}

/** An alert without a severity is for no message at all. */
function isFor({ severity: from }: CanaryAlert, severity: AlertSeverity): boolean {
  return from === "info" || from === severity || (from === "warn" && severity === "error");
}

async function tell(canary: Canary, alert: CanaryAlert, words: AlertWords, deps: AlertDeps): Promise<void> {
  const { name, namespace = "" } = alert.providerRef;
  const provider = { name, namespace: namespace === "" ? canary.namespace : namespace };
  const receiver = await alertReceiver(provider, deps);
  await post({ receiver, of: provider, as: `alert provider ${provider.name}.${provider.namespace}` }, words, deps);
}

const rules: SendingRules = { maxAttempts: 1, minWaitMs: 0, timeoutMs: 5_000, followsByGet: true, saysAsGo: true };

/** Where an alert goes. */
interface Target {
  readonly receiver: AlertReceiver;
  /** Who names the address. */
  readonly of: { readonly namespace: string };
  /** How an error names the receiver. */
  readonly as: string;
}

async function post(target: Target, words: AlertWords, deps: AlertDeps): Promise<void> {
  const { receiver, as } = target;
  // As Flagger: a receiver without an address gets nothing.
  if (receiver.address === "") return;
  try {
    await sendTo(target, words, deps);
  } catch (error) {
    deps.signal.throwIfAborted();
    // The path of an address is often its credential, and answers may quote the token.
    const hidden = [receiver.address, receiver.token, receiver.proxy];
    throw new Error(`${as} send error: ${safeMessage(maskValues(messageOf(error), hidden))}`, { cause: error });
  }
}

async function sendTo(
  { receiver, of }: Target,
  words: AlertWords,
  { hooksLeftMs, httpOf, clock, signal }: AlertDeps,
): Promise<void> {
  const leftMs = hooksLeftMs();
  if (leftMs === 0) throw new Error(noHookTime);
  const message = alertMessage(receiver, words);
  const parts = { http: httpOf(of.namespace), now: clock.now, sleep: noRetry };
  const { status, body } = await inWords("postMessage failed: sending notification failed to send", signal, () =>
    sendOnce(message, parts, signal, { ...rules, timeoutMs: Math.min(rules.timeoutMs, leftMs) }),
  );
  if (status >= 200 && status < 300) return;
  throw new Error(`postMessage failed: sending notification bad response ${status}: ${textOf(body)}`);
}

async function noRetry(): Promise<void> {
  throw new Error("an alert is sent once");
}

async function orLogged(canary: Canary, { log, signal }: AlertDeps, act: () => Promise<void>): Promise<void> {
  try {
    await act();
  } catch (error) {
    signal.throwIfAborted();
    log.error("alert can't be sent", { canary: canaryText(canary), error: messageOf(error) });
  }
}
