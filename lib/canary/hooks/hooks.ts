import type { AlertSeverity, CanaryPhase, CanaryWebhook } from "../../api/canary.ts";

/** Calls the webhooks of a Canary. */
export interface Hooks {
  /** Throws an `Error` with the text for the event: the answer's body, or why there is no answer. */
  call(hook: CanaryWebhook, phase: CanaryPhase): Promise<void>;
}

/** Sends the events of a Canary to its event webhooks, or to that of the installation. Failures are only logged. */
export interface EventHooks {
  send(event: { readonly type: "Normal" | "Warning"; readonly message: string }, phase: CanaryPhase): Promise<void>;
}

/** Sends the alerts of a Canary to its AlertProviders, or to that of the installation. Failures are only logged. */
export interface Alerts {
  /** @param hasFields whether target, threshold, deadline and traffic are included */
  send(alert: {
    readonly message: string;
    readonly severity: AlertSeverity;
    readonly hasFields: boolean;
  }): Promise<void>;
}
