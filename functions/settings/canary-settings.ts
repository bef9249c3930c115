import { z } from "zod";
import { canaryProviders } from "../../lib/api/canary-providers.ts";
import { type CanarySettings, defaultCanarySettings as usual } from "../../lib/canary/settings.ts";
import { documented } from "./documented.ts";

/** What Flagger's flag has by default, and the first version that has the setting. */
const flagger = (value: string) => ({ flagger: value, since: "0.2.0" });

/** Flagger's flags have commas between several values. */
function listOf(what: string, each: RegExp) {
  const fault = `must be a list of ${what}, or one text with commas between them`;
  return z
    .union([z.string(fault).transform((text) => text.split(",")), z.array(z.string(fault))], fault)
    .transform((given) => given.map((one) => one.trim()).filter((one) => one !== ""))
    .refine((given) => given.every((one) => each.test(one)), fault);
}

const labelKey = /^(?:[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?\/)?[A-Za-z0-9](?:[-\w.]{0,61}[A-Za-z0-9])?$/;
const labelPrefix = /^(?:\*|[A-Za-z0-9][-\w./]{0,316})$/;

const line = "must be one line of at most 253 characters";
const shortText = z.string(line).regex(/^.{0,253}$/, line);

function isHttpUrl(text: string): boolean {
  const protocol = URL.parse(text)?.protocol;
  return protocol === "https:" || protocol === "http:";
}

const anHttpUrl = "must be an http or https URL";
const address = z
  .string(anHttpUrl)
  .max(2_048, anHttpUrl)
  .refine((text) => text === "" || isHttpUrl(text), anHttpUrl)
  .default("");

/** The settings of an installation for its Canaries, each under the name of Flagger's flag. */
export const canarySettingFields = {
  "mesh-provider": documented(
    {
      description:
        "The [provider](canary-providers.md) of a [Canary](canaries.md) without `spec.provider`, by Flagger's names.",
      ...flagger("istio"),
    },
    z.enum(canaryProviders, `must be one of ${canaryProviders.join(", ")}`).default("istio"),
  ),
  "metrics-server": documented(
    {
      description:
        "The Prometheus that answers the built-in metrics and the queries of a Canary that has no `spec.metricsServer`: its URL, or `none`.",
      ...flagger(usual.metricsServer),
    },
    z
      .string(`${anHttpUrl}, or none`)
      .refine((text) => text === "none" || isHttpUrl(text), `${anHttpUrl}, or none`)
      .default(usual.metricsServer),
  ),
  "selector-labels": documented(
    {
      description:
        "The labels that identify the pods of a Canary's target, in the order of preference: Sluice uses the first one that the selector of the target has. A list, or names separated by commas.",
      ...flagger("app,name,app.kubernetes.io/name"),
    },
    listOf("keys of labels", labelKey)
      .refine((labels) => labels.length > 0, "must name at least one label")
      .default([...usual.selectorLabels]),
  ),
  "include-label-prefix": documented(
    {
      description:
        "The prefixes of the labels and annotations that Sluice copies from a Canary's target to the primary: a list, or prefixes separated by commas; `*` stands for all. Empty: only the label of the selector.",
      ...flagger("none"),
    },
    listOf("beginnings of labels", labelPrefix).default([...usual.includeLabelPrefixes]),
  ),
  "enable-config-tracking": documented(
    {
      description:
        "The primary of a Canary gets copies of the ConfigMaps and Secrets that its target names, and a change of one of them starts a run, as a change of the target does.",
      ...flagger("true"),
    },
    z.boolean("must be true or false").default(usual.tracksConfigs),
  ),
  "event-webhook": documented(
    {
      description:
        "Sluice sends the events of a Canary to this URL if the Canary has no webhook of type `event`. Empty: none.",
      ...flagger("none"),
    },
    address,
  ),
  "cluster-name": documented(
    { description: "The name of the cluster in alerts of Canaries. Empty: they have none.", ...flagger("none") },
    shortText.default(usual.clusterName),
  ),
  "slack-url": documented(
    {
      description:
        "The Slack webhook for the alerts of a Canary without `spec.analysis.alerts`. Anyone who knows the URL can write to the channel, and the document of the installation contains it. An AlertProvider keeps the URL in a Secret instead.",
      ...flagger("none"),
    },
    address,
  ),
  "slack-user": documented(
    { description: "The name of the sender of such an alert.", ...flagger("flagger") },
    shortText.default("flagger"),
  ),
  "slack-channel": documented(
    { description: "The Slack channel for such an alert.", ...flagger("none") },
    shortText.default(""),
  ),
  "slack-token": documented(
    {
      description:
        "The token of a Slack bot for such an alert. The token is secret, and the document of the installation contains it. An AlertProvider keeps the token in a Secret instead.",
      ...flagger("none"),
    },
    shortText.default(""),
  ),
  "slack-proxy-url": documented({ description: "The proxy to Slack for such an alert.", ...flagger("none") }, address),
  "msteams-url": documented(
    {
      description:
        "The Microsoft Teams webhook for the alerts of a Canary without `spec.analysis.alerts`. It is used instead of `slack-url`, and is as secret.",
      ...flagger("none"),
    },
    address,
  ),
  "msteams-proxy-url": documented(
    { description: "The proxy to Microsoft Teams for such an alert.", ...flagger("none") },
    address,
  ),
  "ingress-annotations-prefix": documented(
    {
      description: "The prefix of the annotations with which the provider `nginx` splits the traffic.",
      ...flagger(usual.ingressAnnotationsPrefix),
    },
    shortText.min(1, "must not be empty").default(usual.ingressAnnotationsPrefix),
  ),
  "ingress-class": documented(
    {
      description: "The class of the HTTPProxies of the provider `contour`. Empty: none.",
      ...flagger("none"),
    },
    shortText.default(usual.ingressClass),
  ),
};

const Values = z.object(canarySettingFields);

/** What the settings of an installation say about its Canaries. As Flagger, Teams stands in place of Slack. */
export function canarySettingsOf(
  values: z.output<typeof Values> & { readonly "no-cross-namespace-refs": boolean },
): CanarySettings {
  const globalAlerts = globalAlertsOf(values);
  return {
    meshProvider: values["mesh-provider"],
    metricsServer: values["metrics-server"],
    selectorLabels: values["selector-labels"],
    includeLabelPrefixes: values["include-label-prefix"],
    tracksConfigs: values["enable-config-tracking"],
    noCrossNamespaceRefs: values["no-cross-namespace-refs"],
    eventWebhook: values["event-webhook"],
    clusterName: values["cluster-name"],
    ...(globalAlerts === undefined ? {} : { globalAlerts }),
    ingressAnnotationsPrefix: values["ingress-annotations-prefix"],
    ingressClass: values["ingress-class"],
  };
}

function globalAlertsOf(values: z.output<typeof Values>): CanarySettings["globalAlerts"] {
  const { "msteams-url": teams, "slack-url": slack } = values;
  const sender = {
    channel: values["slack-channel"],
    username: values["slack-user"],
    token: values["slack-token"],
  };
  if (teams !== "") return { type: "msteams", address: teams, ...sender, proxy: values["msteams-proxy-url"] };
  return slack === "" ? undefined : { type: "slack", address: slack, ...sender, proxy: values["slack-proxy-url"] };
}
