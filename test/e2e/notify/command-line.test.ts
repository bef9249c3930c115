import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type CliWorld, cliWorld } from "../cli-world.ts";

const never = new AbortController().signal;
const namespace = "default";

let world: CliWorld;
beforeAll(async () => {
  world = await cliWorld();
});
afterAll(() => world.close());

const sh = (line: string) => world.sh("-n", namespace, ...line.split(" "));

async function stored(kind: string, name: string) {
  const group = "notification.toolkit.fluxcd.io";
  return world.cluster.get({ group, version: "v1beta3", kind, namespace, name }, never);
}

describe("create alert and alert-provider", () => {
  test("store an Alert and its Provider, with flux's output", async () => {
    const provider = await sh(
      "create alert-provider slack --type slack --channel general --address https://hooks.slack.com/services/x --secret-ref webhook --label team=a",
    );
    expect([provider.code, provider.err.split("\n").slice(-6)]).toEqual([
      0,
      [
        "✚ generating Provider",
        "► applying Provider",
        "✔ Provider created",
        "◎ waiting for Provider reconciliation",
        "✔ Provider slack is ready",
        "",
      ],
    ]);
    expect(await stored("Provider", "slack")).toMatchObject({
      metadata: { labels: { team: "a" } },
      spec: {
        type: "slack",
        channel: "general",
        address: "https://hooks.slack.com/services/x",
        secretRef: { name: "webhook" },
      },
    });
    const alert = await sh(
      "create alert apps --provider-ref slack --event-severity error --event-source Kustomization/apps,GitRepository/my.app.flux-system --event-source HelmRelease/*",
    );
    expect([alert.code, alert.err]).toEqual([0, expect.stringContaining("✔ Alert created\n")]);
    expect(alert.err).toMatch(/✔ Alert apps is ready\n$/);
    expect((await stored("Alert", "apps"))?.["spec"]).toEqual({
      providerRef: { name: "slack" },
      eventSeverity: "error",
      eventSources: [
        { kind: "Kustomization", name: "apps" },
        { kind: "GitRepository", name: "my.app", namespace: "flux-system" },
        { kind: "HelmRelease", name: "*" },
      ],
    });
  });

  test("warn for an Alert with a missing Provider that nothing is sent, and say how to create one", async () => {
    const { code, err } = await sh("create alert lost --provider-ref chat --event-source Kustomization/apps");
    expect([code, err]).toEqual([
      0,
      expect.stringMatching(
        /✔ Alert lost is ready\n.*there is no Provider chat in namespace default: nothing is sent until it exists; create it, for example with sluice create alert-provider chat\n$/,
      ),
    ]);
    await sh("delete alert lost --silent");
  });

  test("overwrite the whole spec of an existing object", async () => {
    const { code, err } = await sh("create alert apps --provider-ref slack --event-source Kustomization/apps");
    expect([code, err]).toEqual([0, expect.stringContaining("✔ Alert updated\n")]);
    expect((await stored("Alert", "apps"))?.["spec"]).toEqual({
      providerRef: { name: "slack" },
      eventSeverity: "info",
      eventSources: [{ kind: "Kustomization", name: "apps" }],
    });
  });

  test("with --export print the object and store nothing", async () => {
    const { code, out } = await sh(
      "create alert printed --provider-ref slack --event-source Kustomization/apps --export",
    );
    expect([code, out]).toEqual([
      0,
      `---
apiVersion: notification.toolkit.fluxcd.io/v1beta3
kind: Alert
metadata:
  name: printed
  namespace: default
spec:
  eventSources:
  - kind: Kustomization
    name: apps
  providerRef:
    name: slack
`,
    ]);
    expect(await stored("Alert", "printed")).toBeUndefined();
  });

  test.each([
    ["create alert", "name is required"],
    ["create alert a!b --provider-ref x", "name 'a!b' is invalid"],
    ["create alert apps --event-source Kustomization/apps", "provider ref is required"],
    ["create alert apps --provider-ref slack", "at least one event source is required"],
    ["create alert apps --provider-ref slack --event-source apps", "invalid event source 'apps', must be in format"],
    ["create alert-provider slack", "Provider type is required"],
    ["create alert-provider slack --type pigeon", "pigeon"],
    ["create alert apps --provider-ref slack --event-source Pigeon/apps", "Pigeon"],
  ])("%s is refused: %s", async (line, why) => {
    const { code, err } = await sh(line);
    expect([code, err.split("\n").at(-2)]).toEqual([1, expect.stringContaining("✗ ")]);
    expect(err).toContain(why);
  });
});

describe("the commands for objects know alerts and alert-providers", () => {
  test("get shows flux's columns: an Alert has no revision, a Provider is only ready", async () => {
    const table = async (line: string) => {
      const { out } = await sh(line);
      return out
        .trimEnd()
        .split("\n")
        .map((row) =>
          row
            .trimEnd()
            .split("\t")
            .map((cell) => cell.trim()),
        );
    };
    expect(await table("get alerts")).toEqual([
      ["NAME", "SUSPENDED", "READY", "MESSAGE"],
      ["apps", "False", "True", "Alert is Ready"],
    ]);
    expect(await table("get alert-providers slack")).toEqual([
      ["NAME", "READY", "MESSAGE"],
      ["slack", "True", "Provider is Ready"],
    ]);
    expect((await table("get alert --status-selector ready=false")).length).toBe(1);
    expect((await table("get alert --status-selector ready=true")).length).toBe(2);
  });

  test("suspend and resume print alert provider, and do not wait", async () => {
    expect(await sh("suspend alert-provider slack")).toEqual({
      ...{ code: 0, out: "" },
      err: "► suspending alert provider slack in default namespace\n✔ alert provider suspended\n",
    });
    expect((await sh("suspend alerts apps")).code).toBe(0);
    expect((await sh("get alerts")).out).toMatch(/^apps\s+True/m);
    expect((await sh("resume alert apps")).err).toBe(
      "► resuming alert apps in default namespace\n✔ alert resumed\n◎ waiting for Alert reconciliation\n✔ Alert apps reconciliation completed\n✔ Alert reconciliation completed\n",
    );
    expect((await sh("resume alert-provider slack")).err).toContain("✔ Provider reconciliation completed\n");
  });

  test("reconcile prints that there is nothing to reconcile", async () => {
    expect(await sh("reconcile alert apps")).toMatchObject({
      ...{ code: 0, err: "✔ reconciliation not supported by the object\n" },
    });
  });

  test("export prints a manifest that can be applied", async () => {
    const { out } = await sh("export alert-provider slack");
    expect(out).toContain("kind: Provider\n");
    expect(out).toContain("type: slack\n");
    expect(out).not.toContain("finalizers");
  });
});

describe("delete", () => {
  const questions: string[] = [];

  test("asks first, and deletes nothing without a yes", async () => {
    world.answer = async (question) => {
      questions.push(question);
      return false;
    };
    const { code, err } = await sh("delete alert-provider slack");
    expect([code, err, questions]).toEqual([
      1,
      "✗ aborting\n",
      ["Are you sure you want to delete this alert provider?"],
    ]);
    expect(await stored("Provider", "slack")).toBeDefined();
  });

  test("needs --silent without a terminal", async () => {
    world.answer = undefined;
    const { code, err } = await sh("delete alert apps");
    expect([code, err]).toEqual([1, "✗ delete asks before it deletes: confirm it with --silent\n"]);
  });

  test("deletes an Alert and a Provider, and any other kind", async () => {
    expect(await sh("delete alert apps -s")).toEqual({
      ...{ code: 0, out: "", err: "► deleting alert apps in default namespace\n✔ alert deleted\n" },
    });
    await expect.poll(() => stored("Alert", "apps")).toBeUndefined();
    expect((await sh("delete alert-provider slack --silent")).code).toBe(0);
    await expect.poll(() => stored("Provider", "slack")).toBeUndefined();

    const manifest = {
      apiVersion: "source.toolkit.fluxcd.io/v1",
      kind: "GitRepository",
      metadata: { name: "app", namespace },
      spec: { url: "https://git.invalid/app", interval: "1h" },
    };
    await world.cluster.apply(manifest, { manager: "test", force: true }, never);
    expect((await sh("delete source git app -s")).err).toBe(
      "► deleting source git app in default namespace\n✔ source git deleted\n",
    );
    const ref = { group: "source.toolkit.fluxcd.io", version: "v1", kind: "GitRepository", namespace, name: "app" };
    await expect.poll(() => world.cluster.get(ref, never)).toBeUndefined();
  });

  test("keeps an object that was recreated while it asked", async () => {
    const create = "create alert twice --provider-ref slack --event-source Kustomization/apps";
    await sh(create);
    const ref = {
      group: "notification.toolkit.fluxcd.io",
      version: "v1beta3",
      kind: "Alert",
      namespace,
      name: "twice",
    };
    world.answer = async () => {
      await world.cluster.delete(ref, { propagation: "Background" }, never);
      await sh(create);
      return true;
    };
    const { code, err } = await sh("delete alert twice");
    world.answer = undefined;
    expect([code, err]).toEqual([1, expect.stringContaining("✗ ")]);
    expect(err).not.toContain("alert deleted");
    expect(await stored("Alert", "twice")).toBeDefined();
  });

  test("of a missing object fails and names it", async () => {
    const { code, err } = await sh("delete kustomization none -s");
    expect([code, err]).toEqual([1, `✗ Kustomization object 'none' not found in "default" namespace\n`]);
    expect((await sh("delete alert")).err).toContain("alert name is required");
  });
});

test("the API server refuses the same Alerts and Providers as with Flux", async () => {
  const apiVersion = "notification.toolkit.fluxcd.io/v1beta3";
  const spec = { type: "slack", commitStatusExpr: "'x'" };
  const manifest = { apiVersion, kind: "Provider", metadata: { name: "bad", namespace }, spec };
  const apply = (change: object) =>
    world.cluster.apply({ ...manifest, spec: { ...spec, ...change } }, { manager: "test", force: true }, never);
  await expect(apply({})).rejects.toThrow(
    "spec.commitStatusExpr is only supported for the 'github', 'gitlab', 'gitea', 'bitbucketserver', 'bitbucket', 'azuredevops' provider types",
  );
  await expect(apply({ type: "zoom", commitStatusExpr: undefined })).rejects.toThrow(/spec.type: Unsupported value/);
  await expect(apply({ type: "generic", commitStatusExpr: undefined, timeout: "1h" })).rejects.toThrow(/spec.timeout/);
});
