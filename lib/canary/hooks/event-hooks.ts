import type { CanaryWebhook } from "../../api/canary.ts";
import { messageOf } from "../../core/failure.ts";
import { type Canary, canaryText } from "../canary.ts";
import type { EventHooks } from "./hooks.ts";
import { type HookDeps, postHook } from "./webhooks.ts";

/**
 * The webhooks that get every event of a Canary: those of type `event`, or the installation's if it has none (reference canary 12). A
 * failure is logged, and the other webhooks still get the event.
 */
export function eventHooksOf(canary: Canary, deps: HookDeps): EventHooks {
  const own = (canary.analysis.webhooks ?? []).filter(({ type }) => type === "event");
  const { eventWebhook } = deps.settings;
  const ofInstallation: readonly CanaryWebhook[] = eventWebhook === "" ? [] : [{ name: "events", url: eventWebhook }];
  const hooks = own.length > 0 ? own : ofInstallation;
  return {
    async send({ type, message }, phase) {
      for (const hook of hooks) {
        const of = { eventMessage: message, eventType: type, timestamp: String(deps.clock.now()) };
        try {
          await postHook(canary, { hook, phase, metadata: { ...hook.metadata, ...of } }, deps);
        } catch (error) {
          deps.signal.throwIfAborted();
          deps.log.error("error sending event to webhook", {
            canary: canaryText(canary),
            webhook: hook.name,
            error: messageOf(error),
          });
        }
      }
    },
  };
}
