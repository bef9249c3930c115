import { describe, expect, test } from "vitest";
import { flagOwner, unhonouredFlags } from "../../../../functions/settings/flux-flags.ts";
import { readSettings } from "../../../../functions/settings/read-settings.ts";
import { maxServiceNamespaces } from "../../../../functions/settings/service-namespaces.ts";
import { defaultSettings, Settings } from "../../../../functions/settings/settings.ts";

function valuesOf(text: string): Settings {
  const settings = readSettings(text);
  if ("faults" in settings) throw new Error(settings.faults.join("; "));
  return settings.values;
}

function faultsOf(text: string): readonly string[] {
  const settings = readSettings(text);
  return "faults" in settings ? settings.faults : [];
}

/** Other ways to write a flag: with its dashes, in camel case, in snake case, in capitals. */
function spellings(flag: string): readonly string[] {
  const camel = flag.replaceAll(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
  const snake = flag.replaceAll("-", "_");
  return [`--${flag}`, `--${camel}`, snake, snake.toUpperCase()];
}

describe("a document of settings", () => {
  test.each(["", "\n", "# nothing yet\n", "---\n", "{}"])("that sets nothing keeps the defaults: %j", (text) => {
    expect(readSettings(text)).toEqual({ values: defaultSettings, given: new Set() });
  });

  test.each(["no-cross-namespace-refs: true\n", '{"no-cross-namespace-refs": true}'])(
    "may be YAML or JSON, and unset keys have their defaults: %j",
    (text) => {
      expect(valuesOf(text)).toEqual({ ...defaultSettings, "no-cross-namespace-refs": true });
      expect(readSettings(text)).toMatchObject({ given: new Set(["no-cross-namespace-refs"]) });
    },
  );

  test.each([
    ["no-cross-namespace-refs: yes", "no-cross-namespace-refs must be true or false"],
    ['no-cross-namespace-refs: "true"', "no-cross-namespace-refs must be true or false"],
    ["no-cross-namespace-refs:", "no-cross-namespace-refs must be true or false"],
    ["concurrent-ssa: 0", "concurrent-ssa must be a whole number from 1 to 100"],
    ["concurrent-ssa: 101", "concurrent-ssa must be a whole number from 1 to 100"],
    ["concurrent-ssa: 1.5", "concurrent-ssa must be a whole number from 1 to 100"],
    ["concurrent-ssa: hunter2", "concurrent-ssa must be a whole number from 1 to 100"],
    ["concurrent-ssa: 1\nconcurrent-ssa: 2", "line 2 is not YAML: duplicated mapping key"],
    [
      "canary-service-namespaces: monitoring",
      "canary-service-namespaces must be a list of namespaces, such as [monitoring]",
    ],
    ...["monitoring", "true"].map((text) => [
      `notification-service-namespaces: ${text}`,
      "notification-service-namespaces must be a list of namespaces, such as [monitoring]",
    ]),
    ...["[Monitoring]", '["*"]', "[a/b]", "[1]", '[""]'].map((text) => [
      `notification-service-namespaces: ${text}`,
      "notification-service-namespaces.0 must be the name of a namespace",
    ]),
    [
      `notification-service-namespaces: [${Array.from({ length: maxServiceNamespaces + 1 }, (_, index) => `n${index}`).join(", ")}]`,
      "notification-service-namespaces must not have more than 100 namespaces",
    ],
    [
      "no-remote-bases: false",
      "no-remote-bases can only be true: builds have no network, so a remote base cannot be fetched",
    ],
    [
      "watch-all-namespaces: false",
      "watch-all-namespaces can only be true: an installation looks after all namespaces of a cluster",
    ],
    ...["0s", "999ms", "25h", "hunter2", "9999999999h", "30"].map((text) => [
      `requeue-dependency: "${text}"`,
      "requeue-dependency must be a duration from 1s to 24h, such as 45s or 1m30s",
    ]),
    ["requeue-dependency: 30", "requeue-dependency must be a duration from 1s to 24h, such as 45s or 1m30s"],
    ...["-1", "100", "5%", "2.5"].map((text) => [
      `interval-jitter-percentage: ${text}`,
      "interval-jitter-percentage must be a whole number from 0 to 99",
    ]),
    ["min-retry-delay: 99ms", "min-retry-delay must be a duration from 100ms to 24h, such as 45s or 1m30s"],
    ["max-retry-delay: 1ms", "max-retry-delay must be a duration from 1s to 24h, such as 45s or 1m30s"],
    ["min-retry-delay: 16m", "min-retry-delay must not be longer than max-retry-delay"],
    ["max-retry-delay: 1s\nmin-retry-delay: 2s", "min-retry-delay must not be longer than max-retry-delay"],
    ["network: hunter2", "network must have allow, unlisted or both"],
    ["network:", "network must have allow, unlisted or both"],
    ["network: {allow: hunter2}", "network.allow must be a list of hosts and ranges"],
    ["network: {unlisted: hunter2}", "network.unlisted must be anything, public or refused"],
    ["network: {hunter: 2}", "network.hunter is not a setting"],
    ...["https://hunter2", "7", "hunter2 "].map((entry) => [
      `network: {allow: [r.test, ${entry.endsWith(" ") ? JSON.stringify(entry) : entry}]}`,
      "network.allow.1 must be a host such as registry.example.com, *.example.com or registry.example.com:5000, or a range such as 10.20.0.0/16",
    ]),
    ["a: [", "line 1 is not YAML: unexpected end of the stream within a flow collection"],
    ["a: 1\n---\nb: hunter2", "this holds 2 documents: write all settings in one, without --- between them"],
    ["---\na: 1\n---\n---\n", "this holds 3 documents: write all settings in one, without --- between them"],
    ["- hunter2", "this is not a document of settings: write `key: value` lines"],
    ["hunter2", "this is not a document of settings: write `key: value` lines"],
  ])("with an error is refused naming the error, without quoting a value: %j", (text = "", fault = "") => {
    expect(faultsOf(text)).toEqual([fault]);
    expect(faultsOf(text).join()).not.toContain("hunter2");
  });

  test.each([
    ["no-cross-namespace-ref", "did you mean no-cross-namespace-refs?"],
    ["noCrossNamespaceRefs", "did you mean no-cross-namespace-refs?"],
    ["--no-cross-namespace-refs", "did you mean no-cross-namespace-refs?"],
    ["NO_CROSS_NAMESPACE_REFS", "did you mean no-cross-namespace-refs?"],
    ["concurent-ssa", "did you mean concurrent-ssa?"],
    ["constructor", "remove it, or see docs/settings.md for the settings"],
    ["x".repeat(100_000), "remove it, or see docs/settings.md for the settings"],
  ])("with the unknown key %.40s is refused by that name: %s", (key, mend) => {
    expect(faultsOf(JSON.stringify({ [key]: true }))).toEqual([`${key} is not a setting: ${mend}`]);
  });

  test.each([
    ["no-remote-bases: true", "no-remote-bases", true],
    ["watch-all-namespaces: true", "watch-all-namespaces", true],
    ["requeue-dependency: 1m30s", "requeue-dependency", "1m30s"],
    ["interval-jitter-percentage: 0", "interval-jitter-percentage", 0],
    ["min-retry-delay: 15m", "min-retry-delay", "15m"],
    ["max-retry-delay: 1h", "max-retry-delay", "1h"],
  ] as const)("accepts %s", (text, key, value) => {
    expect(valuesOf(text)).toEqual({ ...defaultSettings, [key]: value });
  });

  test("reports all errors at once", () => {
    expect(faultsOf("concurrent-ssa: 0\nno-cross-namespace-refs: 1\nx: 1")).toHaveLength(3);
  });

  test.each([...unhonouredFlags].map(([flag, why]) => ({ flag, why })))(
    "with the flag $flag, which Sluice does not honour, is refused with the reason",
    ({ flag, why }) => {
      expect(faultsOf(`${flag}: x`)).toEqual([
        `${flag} is a flag of ${flagOwner(flag)} that Sluice does not honour: ${why}; remove it`,
      ]);
    },
  );

  test.each([...unhonouredFlags].flatMap(([flag, why]) => spellings(flag).map((key) => ({ flag, key, why }))))(
    "with such a flag in another spelling gets the same message: $key",
    ({ flag, key, why }) => {
      expect(faultsOf(`${key}: x`)).toEqual([
        `${key} is a flag of ${flagOwner(flag)} that Sluice does not honour: ${why}; remove it`,
      ]);
    },
  );

  test.each([
    ["helm-cache-tll", "helm-cache-ttl", "an index is read again only if it has changed"],
    ["--recieverAddr", "receiverAddr", "sluice local has --receiver-port, and the function has an address of its own"],
  ])("with a misspelled flag of this kind gets its message: %s", (key, flag, why) => {
    expect(faultsOf(`${key}: x`)).toEqual([
      `${key} is not a setting: did you mean ${flag}? That is a flag of Flux that Sluice does not honour: ${why}; remove it`,
    ]);
  });
});

test("no flag is both honoured and refused", () => {
  expect(Object.keys(Settings.shape).filter((key) => unhonouredFlags.has(key))).toEqual([]);
});

test("each flag of Flagger 1.44 is either honoured or refused with a reason", () => {
  const flags =
    "cluster-name control-loop-interval enable-config-tracking enable-leader-election event-webhook include-label-prefix ingress-annotations-prefix ingress-class kubeconfig-burst kubeconfig-qps kubeconfig-service-mesh leader-election-namespace log-level mesh-provider metrics-server msteams-proxy-url msteams-url namespace no-cross-namespace-refs port selector-labels slack-channel slack-proxy-url slack-token slack-url slack-user threadiness zap-encoding zap-replace-globals";
  const known = new Set([...Object.keys(Settings.shape), ...unhonouredFlags.keys()]);
  expect(flags.split(" ").filter((flag) => !known.has(flag))).toEqual([]);
});
