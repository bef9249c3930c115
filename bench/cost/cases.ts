import { billedAlarms } from "../../infra/lib/alarms.ts";
import type { Workload } from "./assumptions.ts";

/** The case of the promise: one cluster, no VPC, no NAT, nothing is pushed. */
export const atRest: Workload = {
  clusters: 1,
  networks: 1,
  kustomizations: 100,
  sources: 5,
  intervalMinutes: 10,
  pushesPerDay: 0,
  deliveriesPerDay: 0,
  notificationsPerDay: 0,
  notificationQueues: 0,
  admissionSecrets: 0,
  dashboards: 0,
  ownKeys: 0,
  alarms: billedAlarms(1),
  auditLogs: 0,
  guardDuty: 0,
};

/** What Sluice's requests cost the owner of the cluster who has both switched on. */
export const audited: Workload = { ...atRest, auditLogs: 1, guardDuty: 1 };

/** US dollars a month that {@link atRest} may cost, everything counted. */
export const mostAtRest = 7;

/** With both functions that have a URL. */
export const withWebhooks: Workload = {
  ...atRest,
  deliveriesPerDay: 1_000,
  admissionSecrets: 1,
  alarms: billedAlarms(1, ["webhooks", "admission"]),
};

export const withNotifications: Workload = {
  ...atRest,
  notificationsPerDay: 1_000,
  notificationQueues: 1,
  alarms: billedAlarms(1, ["notifications"]),
};

export const pushing: Workload = { ...atRest, pushesPerDay: 1_000 };

/** The most clusters of one installation (lib: the installation document). */
export const clustersPerInstallation = 200;

/** A fiftieth of 10,000 clusters and 1,000,000 units: one installation, since none takes more than 200 clusters. */
export const largest: Workload = {
  ...atRest,
  clusters: clustersPerInstallation,
  kustomizations: 19_000,
  sources: 1_000,
  pushesPerDay: 20_000,
};
