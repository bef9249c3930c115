import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { gitPrograms } from "../../doubles/git-server.ts";
import { type Hosting, hosting } from "../../doubles/hosting.ts";
import { type CliWorld, cliWorld } from "../cli-world.ts";

const { signal } = new AbortController();
const repo = "repos/acme/fleet";

describe.skipIf(gitPrograms === undefined)("a bootstrap that is refused (git with http-backend is needed)", () => {
  let world: CliWorld;
  let host: Hosting;
  beforeAll(async () => {
    host = await hosting();
    world = await cliWorld();
  });
  afterAll(async () => {
    await world.close();
    await host[Symbol.asyncDispose]();
  });

  const bootstrap = (token: string, ...more: readonly string[]) =>
    world.runIn(
      { KUBECONFIG: world.kubeconfig, GITHUB_TOKEN: token },
      ...["bootstrap", "github", "--hostname", host.origin, "--allow-insecure-http", "--ssh-hostname", host.ssh],
      ...["--owner=acme", "--repository=fleet", "--path=clusters/prod", `--webhook-url=${world.receiver}`],
      ...more,
    );
  const lastLine = (err: string): string => err.split("\n").at(-2) ?? "";
  const object = (kind: string, group = "source.toolkit.fluxcd.io") =>
    world.cluster.get({ group, version: "v1", kind, namespace: "flux-system", name: "flux-system" }, signal);

  test("with a wrong token reports it without showing it, and creates nothing", async () => {
    const token = "ghp_wrongwrongwrongwrongwrongwrongwrong";
    const { code, err } = await bootstrap(token);
    expect([code, lastLine(err)]).toEqual([
      1,
      "✗ GitHub does not take the token of GITHUB_TOKEN (401: Bad credentials Bearer *****): it is wrong or has expired, set GITHUB_TOKEN to another one",
    ]);
    expect(err).not.toContain(token);
    expect(host.repositories.size).toBe(0);
    expect(await object("GitRepository")).toBe(undefined);
  });

  /** What the host refuses at one step, and what the user reads; the next run completes what this one has begun. */
  const steps: readonly (readonly [string, string, number, string, string])[] = [
    [
      "create the repository",
      "POST orgs/acme/repos",
      403,
      "Resource not accessible by personal access token",
      `does not let the token of GITHUB_TOKEN create the repository acme/fleet (403: Resource not accessible by personal access token): it needs the scope "repo" (classic token) or the permission "Administration: write" (fine-grained token) of the organization acme; of a user, give --personal`,
    ],
    [
      "add the deploy key",
      `POST ${repo}/keys`,
      404,
      "Not Found",
      `does not let the token of GITHUB_TOKEN add the deploy key flux-system-main-flux-system-./clusters/prod to acme/fleet (404: Not Found): it needs the scope "repo" (classic token) or the permission "Administration: write" (fine-grained token)`,
    ],
    [
      "add the webhook",
      `POST ${repo}/hooks`,
      403,
      "Must have admin rights",
      `does not let the token of GITHUB_TOKEN add a webhook to acme/fleet (403: Must have admin rights): it needs the scope "admin:repo_hook" (classic token) or the permission "Webhooks: write" (fine-grained token)`,
    ],
    [
      "be used now, because the host is down",
      `GET ${repo}`,
      503,
      "Unicorn",
      "cannot read the repository acme/fleet now (503: Unicorn): run the command again",
    ],
  ];

  test.each(steps)(
    "with a token that must not %s prints one line with the mend",
    async (_step, request, status, message, text) => {
      host.refusals.set(request, { status, body: { message } });
      const { code, err } = await bootstrap(host.token);
      expect([code, lastLine(err)]).toEqual([1, `✗ GitHub ${text}`]);
      expect(err).not.toContain(host.token);
      host.refusals.clear();
    },
  );

  test("is completed by the next run, with one key, one webhook and one commit", async () => {
    const { code, err } = await bootstrap(host.token);
    expect([code, lastLine(err)]).toEqual([0, "✔ the cluster follows the repository"]);
    const { keys = [], hooks = [] } = host.repositories.get("acme/fleet") ?? {};
    expect([keys.length, hooks.length]).toEqual([1, 1]);
    expect(await host.git("acme/fleet", "rev-list", "--count", "main")).toBe("1");
    expect(await object("Kustomization", "kustomize.toolkit.fluxcd.io")).toBeDefined();
  });

  test("by a protected branch prints the host's text and the mend, and applies nothing", async () => {
    const other = ["-n", "second", "--path=clusters/second"];
    await host.protect("acme/fleet", "GH006: Protected branch update failed for refs/heads/main.");
    const { code, err } = await bootstrap(host.token, ...other);
    expect(code).toBe(1);
    expect(lastLine(err)).toContain("✗ the push to main failed: ");
    expect(lastLine(err)).toContain("GH006: Protected branch update failed");
    expect(lastLine(err)).toContain(
      "; the branch main is protected: let this login push to it, or give another --branch and merge it",
    );
    expect(err).not.toContain(host.token);
    const ref = { group: "source.toolkit.fluxcd.io", version: "v1", kind: "GitRepository" };
    expect(await world.cluster.get({ ...ref, namespace: "second", name: "second" }, signal)).toBe(undefined);
    await host.unprotect("acme/fleet");
    const again = await bootstrap(host.token, ...other);
    expect([again.code, lastLine(again.err)]).toEqual([0, "✔ the cluster follows the repository"]);
  });

  test("with a read-only login reports it, and applies nothing", async () => {
    await host.git("acme/fleet", "config", "http.receivepack", "false");
    const { code, err } = await bootstrap(host.token, "-n", "reader", "--path=clusters/reader");
    expect([code, lastLine(err)]).toEqual([
      1,
      `✗ the push to main failed: ${host.origin}/acme/fleet.git/info/refs: authorization failed (status code 403); the login may read and not write: give one that may push`,
    ]);
    const ref = { group: "source.toolkit.fluxcd.io", version: "v1", kind: "GitRepository" };
    expect(await world.cluster.get({ ...ref, namespace: "reader", name: "reader" }, signal)).toBe(undefined);
    await host.git("acme/fleet", "config", "http.receivepack", "true");
  });

  test("on a branch that moves during the push keeps both commits, the other one first", async () => {
    host.beforePush = () => host.commit("acme/fleet", "README.md", "ours\n");
    const { code, err } = await bootstrap(host.token, "-n", "raced", "--path=clusters/raced");
    expect([code, lastLine(err)]).toEqual([0, "✔ the cluster follows the repository"]);
    expect(err).toContain("◎ git conflict detected, retrying with a fresh clone");
    expect((await host.git("acme/fleet", "log", "--format=%s", "-2", "main")).split("\n")).toEqual([
      "Add Sluice sync manifests",
      "change README.md",
    ]);
  });

  test("with a missing branch lists the existing branches", async () => {
    const { code, err } = await bootstrap(host.token, "--branch=prod", "-n", "third", "--path=clusters/third");
    expect([code, lastLine(err)]).toEqual([
      1,
      "✗ the repository has no branch prod, it has main: create it, or give another --branch",
    ]);
  });

  test("for a folder with Flux's controllers says what to remove", async () => {
    await host.commit("acme/fleet", "clusters/flux/flux-system/gotk-components.yaml", "kind: Namespace\n");
    const { code, err } = await bootstrap(host.token, "--path=clusters/flux", "-n", "flux-system", "--force");
    expect([code, lastLine(err)]).toEqual([
      1,
      '✗ sync path configuration ("./clusters/flux") would overwrite path ("./clusters/prod") of existing Kustomization flux-system/flux-system: give --path=./clusters/prod, or delete the Kustomization first',
    ]);
    await host.commit("acme/fleet", "clusters/flux/fourth/gotk-components.yaml", "kind: Namespace\n");
    const fourth = await bootstrap(host.token, "--path=clusters/flux", "-n", "fourth", "--force");
    expect([fourth.code, lastLine(fourth.err)]).toEqual([
      1,
      "✗ clusters/flux/fourth/gotk-components.yaml installs Flux's controllers, which would reconcile the same objects as Sluice: remove it and its line in kustomization.yaml (docs/moving-from-flux.md), or choose another --path",
    ]);
  });

  test("for a sync file that names no cluster needs --force", async () => {
    await host.commit("acme/fleet", "clusters/old/fifth/gotk-sync.yaml", "kind: GitRepository\n");
    const { code, err } = await bootstrap(host.token, "--path=clusters/old", "-n", "fifth");
    expect([code, lastLine(err)]).toEqual([
      1,
      "✗ clusters/old/fifth/gotk-sync.yaml exists and names no cluster, so another cluster may follow ./clusters/old: choose another --path, or give --force if no other cluster does",
    ]);
  });

  test("with a suspended object reports it, and does not change the repository", async () => {
    const head = await host.git("acme/fleet", "rev-parse", "main");
    expect((await world.sh("suspend", "source", "git", "flux-system")).code).toBe(0);
    const { code, err } = await bootstrap(host.token);
    expect([code, lastLine(err)]).toEqual([
      1,
      "✗ GitRepository flux-system/flux-system is suspended: resume it with sluice resume source git flux-system -n flux-system",
    ]);
    expect(await host.git("acme/fleet", "rev-parse", "main")).toBe(head);
  });
});
