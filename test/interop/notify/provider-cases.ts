import type { JsonObject } from "../../../lib/core/json.ts";
import type { NotificationEvent } from "../../../lib/notify/notification-event.ts";
import { metadata } from "../../unit/notify/sample-events.ts";

/** What of a Provider its type needs, and what is special about comparing its requests. */
export interface ProviderCase {
  /** Of the address of its host: `/<type>` by default. */
  readonly path?: string;
  /** The whole address, for types whose address is not that of the host. */
  readonly address?: (origin: string) => string;
  readonly spec?: JsonObject;
  /** The Secret: one with a token by default. */
  readonly secret?: keyof typeof secrets;
  /** Whether Flux takes several keys of metadata in any order, as Go takes them out of a map. */
  readonly isUnordered?: true;
  /** Whether an event is posted once the requests of the one before have come, since the host answers by what it has got. */
  readonly isStepwise?: true;
  /** In the annotations of every event's object. */
  readonly annotations?: Readonly<Record<string, string>>;
  /** Whether events of severity `trace` are left out, since Sluice differs on purpose: docs/notification-providers.md. */
  readonly isWithoutTraces?: true;
}

const repository = { path: "/golden/repo" };
const comments: ProviderCase = { ...repository, isStepwise: true, annotations: { change_request: "7" } };

/** The types that can be made to send to a host of the test. docs/maintainers/conformance.md says why the others are missing. */
export const providerCases: Readonly<Record<string, ProviderCase>> = {
  generic: {},
  "generic-hmac": {},
  slack: { isUnordered: true, spec: { channel: "general" } },
  discord: { isUnordered: true, path: "/api/webhooks/1/a" },
  rocket: { isUnordered: true, spec: { channel: "general" } },
  msteams: {},
  googlechat: { isUnordered: true },
  webex: { isUnordered: true, spec: { channel: "room" } },
  lark: { isUnordered: true },
  matrix: { isUnordered: true, spec: { channel: "!room:matrix.example" } },
  opsgenie: {},
  alertmanager: { path: "/api/v2/alerts/" },
  grafana: { isUnordered: true, path: "/api/annotations" },
  pagerduty: { spec: { channel: "routing-key" } },
  datadog: { isUnordered: true },
  zulip: { spec: { channel: "stream/topic" } },
  telegram: { isUnordered: true, spec: { channel: "-100200:7", proxySecretRef: { name: "proxy" } } },
  sentry: {
    address: (origin) => `${origin.replace("//", "//key@")}/1`,
    spec: { channel: "production" },
    isWithoutTraces: true,
  },
  otel: {},
  nats: { address: (origin) => origin.replace("http:", "nats:"), spec: { channel: "subject" }, secret: "login" },
  github: {
    ...repository,
    spec: { commitStatusExpr: "event.involvedObject.kind + '/' + provider.metadata.name" },
  },
  gitlab: repository,
  gitea: repository,
  bitbucket: { address: () => "https://bitbucket.org/golden/repo", secret: "login" },
  bitbucketserver: { path: "/context/scm/golden/repo.git" },
  azuredevops: { path: "/Golden/project/_git/repo" },
  githubdispatch: repository,
  githubpullrequestcomment: comments,
  gitlabmergerequestcomment: comments,
  giteapullrequestcomment: comments,
};

export const namespace = "default";
/** The Secrets that Providers name, by their names. */
export const secrets = {
  token: { token: "golden-token" },
  login: { token: "golden:golden-token", username: "golden", password: "golden-password" },
} as const;

const commit = "0a1b2c3d4e5f60718293a4b5c6d7e8f901234567";

/** Each event is for one type, by the name of its object: what Flux has taken once it refuses for five minutes. */
export function eventsFor(type: string, of: ProviderCase): readonly NotificationEvent[] {
  const revision = `main@sha1:${commit}`;
  const many = { revision, "app-version": "1.4", summary: "of the controller" };
  const annotated = (own: Readonly<Record<string, string>>, ofUsers = {}) =>
    metadata(own, { ...of.annotations, ...ofUsers });
  const changes: readonly Partial<NotificationEvent>[] = [
    { message: "info without metadata", metadata: annotated({}) },
    { message: "an error", severity: "error", reason: "HealthCheckFailed", metadata: annotated({ revision }) },
    { message: "a commit", metadata: annotated({}, { commit }) },
    { message: "on the way", reason: "Progressing", metadata: annotated({ revision }) },
    { message: "a heartbeat", metadata: annotated({ revision, commit_status: "update" }) },
    ...(of.isWithoutTraces ? [] : [{ message: "a trace", severity: "trace", metadata: annotated({}) }]),
    {
      message: 'odd: <b> & "quotes" \\ * _ ` é \u2028 \u{1F600}\n\tsecond line',
      metadata: annotated({}, { "a:b": "<&>" }),
    },
    { message: "m".repeat(5_000), severity: "error", metadata: annotated({ revision }) },
    ...(of.isUnordered ? [] : [{ message: "many keys", metadata: annotated(many, { env: "prod" }) }]),
  ];
  return changes.map((change) => ({
    involvedObject: {
      apiVersion: "kustomize.toolkit.fluxcd.io/v1",
      kind: "Kustomization",
      namespace,
      name: type,
      uid: "5e1c7a90-2f6b-4d3e-9a41-7c0d2b8e6f15",
      resourceVersion: "48211",
    },
    severity: "info",
    timestamp: "2026-03-02T11:31:07Z",
    message: "",
    reason: "ReconciliationSucceeded",
    reportingController: "kustomize-controller",
    reportingInstance: "kustomize-controller-test",
    ...change,
  }));
}
