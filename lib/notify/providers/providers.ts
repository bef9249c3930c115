import type { MakeProvider } from "../provider.ts";
import { alertmanager } from "./alertmanager.ts";
import { azureDevOps } from "./azuredevops.ts";
import { azureeventhub } from "./azureeventhub.ts";
import { bitbucket } from "./bitbucket.ts";
import { bitbucketServer } from "./bitbucketserver.ts";
import { datadog } from "./datadog.ts";
import { discord } from "./discord.ts";
import { generic, genericHmac } from "./generic.ts";
import { gitea } from "./gitea.ts";
import { giteaPullRequestComment } from "./giteapullrequestcomment.ts";
import { github } from "./github.ts";
import { githubDispatch } from "./githubdispatch.ts";
import { githubPullRequestComment } from "./githubpullrequestcomment.ts";
import { gitlab } from "./gitlab.ts";
import { gitlabMergeRequestComment } from "./gitlabmergerequestcomment.ts";
import { googlechat } from "./googlechat.ts";
import { googlepubsub } from "./googlepubsub.ts";
import { grafana } from "./grafana.ts";
import { lark } from "./lark.ts";
import { matrix } from "./matrix.ts";
import { msteams } from "./msteams.ts";
import { nats } from "./nats.ts";
import { opsgenie } from "./opsgenie.ts";
import { otel } from "./otel.ts";
import { pagerduty } from "./pagerduty.ts";
import { rocket } from "./rocket.ts";
import { sentry } from "./sentry.ts";
import { slack } from "./slack.ts";
import { telegram } from "./telegram.ts";
import { webex } from "./webex.ts";
import { zulip } from "./zulip.ts";

/**
 * Which events a type is for (section 13 of the reference): `generic` takes all; `commit-status` those that say something of a
 * commit; `change-request` those of a change request; `other` all but updates of a commit status.
 */
export type ProviderClass = "change-request" | "commit-status" | "generic" | "other";

export interface ProviderType {
  readonly make: MakeProvider;
  readonly class: ProviderClass;
}

/** The types of Provider. */
export const providers: Readonly<Record<string, ProviderType>> = {
  alertmanager: { make: alertmanager, class: "other" },
  azuredevops: { make: azureDevOps, class: "commit-status" },
  azureeventhub: { make: azureeventhub, class: "other" },
  bitbucket: { make: bitbucket, class: "commit-status" },
  bitbucketserver: { make: bitbucketServer, class: "commit-status" },
  datadog: { make: datadog, class: "other" },
  discord: { make: discord, class: "other" },
  generic: { make: generic, class: "generic" },
  "generic-hmac": { make: genericHmac, class: "generic" },
  gitea: { make: gitea, class: "commit-status" },
  giteapullrequestcomment: { make: giteaPullRequestComment, class: "change-request" },
  github: { make: github, class: "commit-status" },
  githubdispatch: { make: githubDispatch, class: "other" },
  githubpullrequestcomment: { make: githubPullRequestComment, class: "change-request" },
  gitlab: { make: gitlab, class: "commit-status" },
  gitlabmergerequestcomment: { make: gitlabMergeRequestComment, class: "change-request" },
  googlechat: { make: googlechat, class: "other" },
  googlepubsub: { make: googlepubsub, class: "other" },
  grafana: { make: grafana, class: "other" },
  lark: { make: lark, class: "other" },
  matrix: { make: matrix, class: "other" },
  msteams: { make: msteams, class: "other" },
  nats: { make: nats, class: "other" },
  opsgenie: { make: opsgenie, class: "other" },
  otel: { make: otel, class: "other" },
  pagerduty: { make: pagerduty, class: "other" },
  rocket: { make: rocket, class: "other" },
  sentry: { make: sentry, class: "other" },
  slack: { make: slack, class: "other" },
  telegram: { make: telegram, class: "other" },
  webex: { make: webex, class: "other" },
  zulip: { make: zulip, class: "other" },
};
