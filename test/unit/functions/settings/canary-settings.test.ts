import { describe, expect, test } from "vitest";
import { canarySettingsOf } from "../../../../functions/settings/canary-settings.ts";
import { effectiveSettings } from "../../../../functions/settings/effective-settings.ts";
import { defaultCanarySettings } from "../../../../lib/canary/settings.ts";

function settingsOf(document: Readonly<Record<string, unknown>>) {
  const read = effectiveSettings(document);
  if ("faults" in read) throw new Error(read.faults.join("; "));
  return canarySettingsOf(read.values);
}

function faultsOf(document: Readonly<Record<string, unknown>>): readonly string[] {
  const read = effectiveSettings(document);
  return "faults" in read ? read.faults : [];
}

describe("the settings for Canaries", () => {
  test("have the defaults of Flagger's flags", () => {
    expect(settingsOf({})).toEqual(defaultCanarySettings);
  });

  test("have the names of Flagger's flags", () => {
    const document = {
      "mesh-provider": "gatewayapi:v1",
      "metrics-server": "http://prometheus.monitoring:9090",
      "selector-labels": "component, app",
      "include-label-prefix": ["team", "app.kubernetes.io/"],
      "enable-config-tracking": false,
      "no-cross-namespace-refs": true,
      "event-webhook": "https://example.test/events",
      "cluster-name": "prod",
      "ingress-annotations-prefix": "custom.example.test",
      "ingress-class": "contour",
    };
    expect(settingsOf(document)).toEqual({
      meshProvider: "gatewayapi:v1",
      metricsServer: "http://prometheus.monitoring:9090",
      selectorLabels: ["component", "app"],
      includeLabelPrefixes: ["team", "app.kubernetes.io/"],
      tracksConfigs: false,
      noCrossNamespaceRefs: true,
      eventWebhook: "https://example.test/events",
      clusterName: "prod",
      ingressAnnotationsPrefix: "custom.example.test",
      ingressClass: "contour",
    });
  });

  test("send alerts to Slack as the sender flagger", () => {
    const document = { "slack-url": "https://hooks.example.test/a", "slack-channel": "releases", "slack-token": "t" };
    expect(settingsOf({ ...document, "slack-proxy-url": "http://proxy.example.test" }).globalAlerts).toEqual({
      type: "slack",
      address: "https://hooks.example.test/a",
      channel: "releases",
      username: "flagger",
      token: "t",
      proxy: "http://proxy.example.test",
    });
  });

  test("send alerts to Teams instead of Slack, as in Flagger", () => {
    const document = { "slack-url": "https://hooks.example.test/a", "slack-proxy-url": "http://proxy.example.test" };
    expect(settingsOf({ ...document, "msteams-url": "https://teams.example.test/b" }).globalAlerts).toEqual({
      type: "msteams",
      address: "https://teams.example.test/b",
      channel: "",
      username: "flagger",
      token: "",
      proxy: "",
    });
  });

  test("without a metrics server use none", () => {
    expect(settingsOf({ "metrics-server": "none" }).metricsServer).toBe("none");
  });

  test.each([
    ["mesh-provider", "isto", "must be one of apisix, appmesh,"],
    ["metrics-server", "prometheus:9090", "must be an http or https URL, or none"],
    ["selector-labels", "", "must name at least one label"],
    ["selector-labels", [], "must name at least one label"],
    ["selector-labels", "app=web", "must be a list of keys of labels, or one text with commas between them"],
    ["include-label-prefix", "team!", "must be a list of beginnings of labels"],
    ["enable-config-tracking", "yes", "must be true or false"],
    ["event-webhook", "ftp://example.test", "must be an http or https URL"],
    ["slack-url", "hooks.example.test", "must be an http or https URL"],
    ["cluster-name", "two\nlines", "must be one line of at most 253 characters"],
    ["ingress-annotations-prefix", "", "must not be empty"],
  ])("refuse %s with %j, without quoting it", (key, value, why) => {
    const [fault = "", ...others] = faultsOf({ [key]: value });
    expect(fault).toMatch(new RegExp(`^${key} `));
    expect(fault).toContain(why);
    expect(others).toEqual([]);
  });
});
