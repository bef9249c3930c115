import { alertsOf } from "../../canary/alerts/alerts.ts";
import { eventHooksOf } from "../../canary/hooks/event-hooks.ts";
import { hooksOf } from "../../canary/hooks/webhooks.ts";
import { metricChecksOf } from "../../canary/metrics/metric-checks.ts";
import { routerOf } from "../../canary/routes/providers/router-of.ts";
import { servicesOf } from "../../canary/routes/services.ts";
import { scalerOf, workloadOf } from "../../canary/workload/workload-of.ts";
import type { Clock } from "../../core/ports/clock.ts";
import type { Http } from "../../core/ports/http.ts";
import type { CanaryParts } from "./canary-parts.ts";

/** The parts of a step as an installation has them. */
export function canaryParts({ clock, http }: { readonly clock: Clock; readonly http: Http }): CanaryParts {
  const outbound = { http, sleep: clock.sleep };
  return {
    workload: workloadOf,
    scaler: scalerOf,
    router: routerOf,
    services: servicesOf,
    metrics: (canary, step) => metricChecksOf(canary, { ...step, ...outbound }),
    hooks: (canary, step) => hooksOf(canary, { ...step, ...outbound }),
    eventHooks: (canary, step) => eventHooksOf(canary, { ...step, ...outbound }),
    alerts: (canary, step) => alertsOf(canary, { ...step, ...outbound }),
  };
}
