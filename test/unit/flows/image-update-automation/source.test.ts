import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../../lib/core/json.ts";
import { selectorOf } from "../../../../lib/flows/image-update-automation/label-selector.ts";
import { gitPrograms } from "../../../doubles/git-server.ts";
import { automationScenes, type Scene } from "./opened-world.ts";

const { scene } = automationScenes("source");

const retried = "Reconciling=True ProgressingWithRetry: processing object: new generation -1 -> 1";

/** What must not happen: nothing of a repository is asked for. */
async function conditionsOf(
  more: Scene,
  before: (one: Awaited<ReturnType<typeof scene>>) => Promise<unknown> = async () => undefined,
) {
  const one = await scene(more);
  await before(one);
  one.server.seen.length = 0;
  const { outcome, dueInMs } = await one.run();
  expect(one.server.seen).toEqual([]);
  expect(await one.commits()).toBe(1);
  const [said, ready] = await one.conditions();
  return { outcome, dueInMs, said, ready, events: one.events(), namespace: one.namespace };
}

describe.skipIf(gitPrograms === undefined)("the GitRepository of an ImageUpdateAutomation", () => {
  test("if it is missing, the run fails and retries", async () => {
    const { said, ready, dueInMs, events } = await conditionsOf({
      spec: { sourceRef: { kind: "GitRepository", name: "none" } },
    });
    const why =
      'failed configuring source manager: referenced git repository does not exist: GitRepository.source.toolkit.fluxcd.io "none" not found';
    expect([said, ready]).toEqual([retried, `Ready=False SourceManagerFailed: ${why}`]);
    expect(dueInMs).toBe(750);
    expect(events).toEqual([`Warning SourceManagerFailed: ${why}`]);
  });

  test("without the field git it is not used, until the spec changes", async () => {
    const one = await scene();
    await one.apply("ImageUpdateAutomation", "none", {
      interval: "60m",
      sourceRef: { kind: "GitRepository", name: "app" },
    });
    expect(await one.run("none")).toMatchObject({ outcome: "stalled", dueInMs: undefined });
    const why =
      "InvalidSourceConfiguration: source kind 'GitRepository' necessitates field .spec.git: invalid source configuration";
    expect(await one.conditions("none")).toEqual([`Stalled=True ${why}`, `Ready=False ${why}`]);
    expect((await one.status("none")).observedGeneration).toBe(1);
    expect(one.events("none")).toEqual([`Warning ${why}`]);
  });

  test.each<{ name: string; source: JsonObject; secret?: Readonly<Record<string, string>>; said: string }>([
    {
      name: "provider github without a Secret",
      source: { provider: "github" },
      said: "InvalidSourceConfiguration: secretRef with github app data must be specified when provider is set to github: invalid source configuration",
    },
    {
      name: "provider github and a Secret without an App",
      source: { provider: "github", secretRef: { name: "login" } },
      secret: { username: "git", password: "x" },
      said: "InvalidSourceConfiguration: secretRef with github app data must be specified when provider is set to github: invalid source configuration",
    },
    {
      name: "an App without provider github",
      source: { secretRef: { name: "login" } },
      secret: { githubAppID: "1" },
      said: "InvalidSourceConfiguration: secretRef 'NAMESPACE/login' has github app data but provider is not set to github: invalid source configuration",
    },
    {
      name: "its own identity",
      source: { provider: "aws", serviceAccountName: "writer" },
      said: "FeatureGateDisabled: to use spec.serviceAccountName for provider authentication please enable the ObjectLevelWorkloadIdentity feature gate in the controller",
    },
  ])("with $name stalls the automation", async ({ source, secret, said }) => {
    const one = await conditionsOf({ source }, async (made) => {
      if (secret !== undefined) await made.secret("login", secret);
    });
    const text = said.replace("NAMESPACE", one.namespace);
    expect(one).toMatchObject({ outcome: "stalled", said: `Stalled=True ${text}`, ready: `Ready=False ${text}` });
  });

  test.each<{ name: string; source: JsonObject; secret?: Readonly<Record<string, string>>; said: string }>([
    {
      name: "a Secret that is missing",
      source: { secretRef: { name: "login" } },
      said: "failed to get auth secret 'NAMESPACE/login': secrets \"login\" not found",
    },
    {
      name: "a password without a user",
      source: { secretRef: { name: "login" } },
      secret: { password: "x" },
      said: "failed to configure authentication options: invalid 'http' auth option: 'password' requires 'username' to be set",
    },
    {
      name: "a key for ssh that is missing",
      source: { url: "ssh://git@git.example.test/app", secretRef: { name: "login" } },
      secret: { username: "git" },
      said: "failed to configure authentication options: invalid 'ssh' auth option: 'identity' is required; name a Secret with the keys identity and known_hosts in spec.secretRef: sluice create secret git makes one",
    },
    {
      name: "a proxy whose Secret is missing",
      source: { proxySecretRef: { name: "proxy" } },
      said: "secret 'NAMESPACE/proxy' not found",
    },
    {
      name: "a URL that cannot be read",
      source: { url: "http://[::1" },
      said: "failed to parse URL 'http://[::1': missing ']' in host",
    },
  ])("with $name fails, and the run retries", async ({ source, secret, said }) => {
    const one = await conditionsOf({ source }, async (made) => {
      if (secret !== undefined) await made.secret("login", secret);
    });
    const text = `failed configuring source manager: ${said.replace("NAMESPACE", one.namespace)}`;
    expect(one).toMatchObject({ outcome: "failed", said: retried, ready: `Ready=False SourceManagerFailed: ${text}` });
  });

  test("image-automation/65: in another namespace is refused if that is forbidden, and otherwise used with its own Secrets", async () => {
    const one = await scene();
    const elsewhere = `${one.namespace}-elsewhere`;
    const manifest = { apiVersion: "v1", kind: "Namespace", metadata: { name: elsewhere } };
    await one.cluster.create(manifest, { manager: "test" }, new AbortController().signal);
    await one.source({ secretRef: { name: "login" } }, "app", elsewhere);
    await one.secret("login", { username: "git", password: "x" }, elsewhere);
    await one.automation({ sourceRef: { kind: "GitRepository", name: "app", namespace: elsewhere } });
    one.state.noCrossNamespaceRefs = true;
    expect(await one.run()).toMatchObject({ outcome: "stalled" });
    const why = `AccessDenied: can't access 'GitRepository/${elsewhere}/app', cross-namespace references have been blocked`;
    expect(await one.conditions()).toEqual([`Stalled=True ${why}`, `Ready=False ${why}`]);
    one.state.noCrossNamespaceRefs = false;
    one.server.seen.length = 0;
    expect(await one.run()).toMatchObject({ outcome: "pushed" });
    expect(one.server.seen[0]?.headers.authorization).toBe(`Basic ${Buffer.from("git:x").toString("base64")}`);
  });

  test("is used even if it is suspended and has no artifact", async () => {
    const one = await scene({ source: { suspend: true } });
    expect(await one.run()).toMatchObject({ outcome: "pushed" });
  });

  test("that does not answer fails the checkout with Flux's text", async () => {
    const one = await scene({ source: { url: "http://127.0.0.1:1/app.git" } });
    await one.run();
    expect((await one.conditions()).at(-1)).toMatch(
      /^Ready=False GitOperationFailed: failed to checkout source: unable to clone 'http:\/\/127\.0\.0\.1:1\/app\.git': /,
    );
  });

  test("that is empty fails the checkout", async () => {
    const one = await scene();
    await one.repository.git("update-ref", "-d", "refs/heads/main");
    await one.run();
    expect((await one.conditions()).at(-1)).toBe(
      `Ready=False GitOperationFailed: failed to checkout source: unable to clone '${one.server.url}': remote repository is empty`,
    );
  });
});

describe.skipIf(gitPrograms === undefined)("the signing key of an ImageUpdateAutomation", () => {
  const git = (type: string): JsonObject => ({
    commit: { author: { email: "flux@example.test" }, signingKey: { type, secretRef: { name: "key" } } },
  });

  test.each<{ type: string; secret?: Readonly<Record<string, string>>; said: string }>([
    { type: "gpg", said: "could not find signing key secret 'key': secrets \"key\" not found" },
    { type: "gpg", secret: { identity: "x" }, said: "signing key secret 'key' does not contain a 'git.asc' key" },
    { type: "ssh", secret: { "git.asc": "x" }, said: "signing key secret 'key' does not contain an 'identity' key" },
  ])("image-automation/64: of type $type fails before the clone: $said", async ({ type, secret, said }) => {
    const one = await conditionsOf({ git: git(type) }, async (made) => {
      if (secret !== undefined) await made.secret("key", secret);
    });
    const text = `failed configuring source manager: ${said}`;
    expect(one).toMatchObject({ outcome: "failed", said: retried, ready: `Ready=False SourceManagerFailed: ${text}` });
  });
});

describe.skipIf(gitPrograms === undefined)("the policy selector of an ImageUpdateAutomation", () => {
  test("image-automation/60: stalls the automation if it is invalid", async () => {
    const selector = { matchExpressions: [{ key: "team", operator: "Is", values: ["a"] }] };
    const one = await conditionsOf({ spec: { policySelector: selector } });
    const why = 'InvalidPolicySelector: failed to parse policy selector: "Is" is not a valid label selector operator';
    expect(one).toMatchObject({ outcome: "stalled", said: `Stalled=True ${why}`, ready: `Ready=False ${why}` });
  });

  test("when the automation stalls, Ready keeps the failure of a step that no later run got past, as in Flux", async () => {
    const one = await scene({ spec: { update: { path: "none", strategy: "Setters" } } });
    await one.run();
    await one.automation({ policySelector: { matchLabels: { "a b": "c" } } });
    await one.run();
    const [stalled, ready] = await one.conditions();
    expect(stalled).toMatch(
      /^Stalled=True InvalidPolicySelector: failed to parse policy selector: key: Invalid value: "a b": name part/,
    );
    expect(ready).toMatch(/^Ready=False UpdateFailed: failed to apply policies: /);
    expect(one.events().at(-1)).toMatch(/^Warning UpdateFailed: failed to apply policies: /);
    await one.automation({ sourceRef: { kind: "GitRepository", name: "none" } });
    await one.run();
    expect((await one.conditions()).at(-1)).toMatch(/^Ready=False SourceManagerFailed: /);
    const withoutGit = { interval: "60m", sourceRef: { kind: "GitRepository", name: "app" } };
    await one.apply("ImageUpdateAutomation", "app", withoutGit);
    await one.run();
    expect((await one.conditions()).at(-1)).toMatch(/^Ready=False SourceManagerFailed: /);
  });

  test("when the automation stalls, Ready drops the failure of a step that a later run got past", async () => {
    const one = await scene({ spec: { policySelector: { matchLabels: { "a b": "c" } } } });
    await one.run();
    expect((await one.conditions()).at(-1)).toMatch(/^Ready=False InvalidPolicySelector: /);
    const withoutGit = { interval: "60m", sourceRef: { kind: "GitRepository", name: "app" } };
    await one.apply("ImageUpdateAutomation", "app", withoutGit);
    await one.run();
    expect((await one.conditions()).at(-1)).toMatch(/^Ready=False InvalidSourceConfiguration: /);
  });
});

describe("a label selector", () => {
  const labels = { app: "web", tier: "" };
  test.each<{ name: string; selector: Parameters<typeof selectorOf>[0]; selects: boolean }>([
    { name: "nothing", selector: {}, selects: true },
    { name: "an existing label", selector: { matchLabels: { app: "web" } }, selects: true },
    { name: "a label with another value", selector: { matchLabels: { app: "api" } }, selects: false },
    { name: "one of several values", selector: expression("app", "In", ["api", "web"]), selects: true },
    { name: "none of several values", selector: expression("app", "NotIn", ["api"]), selects: true },
    {
      name: "none of several values of a missing label",
      selector: expression("x", "NotIn", ["a"]),
      selects: true,
    },
    { name: "an existing empty label", selector: expression("tier", "Exists"), selects: true },
    { name: "a label that must not exist", selector: expression("tier", "DoesNotExist"), selects: false },
    { name: "a label of the language", selector: expression("constructor", "Exists"), selects: false },
    {
      name: "two that do not both hold",
      selector: { matchLabels: { app: "web" }, ...expression("x", "Exists") },
      selects: false,
    },
  ])("selects by $name: $selects", ({ selector, selects }) => {
    expect(selectorOf(selector)(labels)).toBe(selects);
  });

  test.each<{ selector: Parameters<typeof selectorOf>[0]; says: string }>([
    { selector: expression("app", "Gt", ["1"]), says: '"Gt" is not a valid label selector operator' },
    {
      selector: expression("app", "In"),
      says: "values: Invalid value: null: for 'in', 'notin' operators, values set can't be empty",
    },
    {
      selector: expression("app", "Exists", ["a"]),
      says: 'values: Invalid value: ["a"]: values set must be empty for exists and does not exist',
    },
    {
      selector: expression("app", "In", ["a b"]),
      says: 'values[0][app]: Invalid value: "a b": a valid label must be an empty string',
    },
  ])("that is invalid is reported with Kubernetes' text: $says", ({ selector, says }) => {
    expect(() => selectorOf(selector)).toThrow(says);
  });
});

function expression(key: string, operator: string, values?: string[]): Parameters<typeof selectorOf>[0] {
  return { matchExpressions: [{ key, operator, ...(values === undefined ? {} : { values }) }] };
}
