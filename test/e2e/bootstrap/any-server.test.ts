import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { gitPrograms } from "../../doubles/git-server.ts";
import { type Hosting, hosting } from "../../doubles/hosting.ts";
import { newSshKey } from "../../doubles/ssh-server.ts";
import { type CliWorld, cliWorld } from "../cli-world.ts";

const { signal } = new AbortController();
const done = "✔ the cluster follows the repository";

describe.skipIf(gitPrograms === undefined)("sluice bootstrap git (git with http-backend is needed)", () => {
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

  const bootstrap = (namespace: string, ...args: readonly string[]) =>
    world.runIn(
      { KUBECONFIG: world.kubeconfig },
      ...["bootstrap", "git", "-n", namespace, `--path=clusters/${namespace}`, ...args],
    );
  const lastLine = (err: string): string => err.split("\n").at(-2) ?? "";
  const secretOf = async (name: string) => {
    const ref = { group: "", version: "v1", kind: "Secret", namespace: name, name };
    const data: unknown = (await world.cluster.get(ref, signal))?.["data"];
    return Object.fromEntries(
      Object.entries(data ?? {}).map(([key, value]) => [key, Buffer.from(String(value), "base64").toString()]),
    );
  };

  test("by HTTPS logs in with username and password, also for the cluster, and commits as the options say", async () => {
    await host.create("team/by-password", { isPrivate: true });
    const url = `${host.origin}/team/by-password.git`;
    const login = ["--url", url.replace("//", "//jane@"), "--allow-insecure-http", "-p", host.token];
    const author = ["--author-name=Jane", "--author-email=jane@example.com", "--commit-message-appendix=[skip ci]"];
    const { code, err } = await bootstrap("by-password", ...login, ...author, "--interval=5m");
    expect([code, lastLine(err)]).toEqual([0, done]);
    expect(err).toContain("► no webhook: bootstrap git knows no API of the host.");
    expect(await secretOf("by-password")).toEqual({ username: "jane", password: host.token });
    expect(await host.git("team/by-password", "log", "--format=%an <%ae>|%B", "main")).toBe(
      "Jane <jane@example.com>|Add Sluice sync manifests\n\n[skip ci]",
    );
    expect(await host.git("team/by-password", "show", "main:clusters/by-password/by-password/gotk-sync.yaml")).toBe(
      `# Written by sluice bootstrap: the cluster follows this repository, this file included.
# Sluice has no controllers in the cluster, and its definitions are not here: its installation brings them.
---
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata:
  annotations:
    sluice.dev/cluster: ${await world.cluster.uid(signal)}
  name: by-password
  namespace: by-password
spec:
  interval: 5m0s
  ref:
    branch: main
  secretRef:
    name: by-password
  url: ${url}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata:
  annotations:
    sluice.dev/cluster: ${await world.cluster.uid(signal)}
  name: by-password
  namespace: by-password
spec:
  interval: 10m0s
  path: ./clusters/by-password
  prune: true
  sourceRef:
    kind: GitRepository
    name: by-password`,
    );
    const again = await bootstrap("by-password", ...login, ...author, "--interval=5m");
    expect([again.code, again.err.includes("✔ sync manifests are up to date")]).toEqual([0, true]);
    expect(await host.git("team/by-password", "rev-list", "--count", "main")).toBe("1");
  });

  test("a wrong password is reported without showing it, and nothing is written", async () => {
    const url = `${host.origin}/team/by-password.git`;
    const login = ["--url", url, "--allow-insecure-http", "-p", "wrong-password"];
    const { code, err } = await bootstrap("wrong", ...login);
    expect([code, lastLine(err)]).toEqual([
      1,
      `✗ failed to clone repository: ${url}/info/refs: authentication required (status code 401); check --url, --username and --password`,
    ]);
    expect(err).not.toContain("wrong-password");
    expect(await secretOf("wrong")).toEqual({});
  });

  test("by SSH uses a key from a file, which also signs the commit", async () => {
    await host.create("team/by-key", { isPrivate: true });
    const key = await newSshKey();
    const line = `${key.type} ${key.getPublicSSH().toString("base64")}`;
    host.repositories.get("team/by-key")?.keys.push({ title: "jane", key: line, isReadOnly: false });
    const file = join(world.folder, "key");
    await writeFile(file, key.getPrivatePEM());
    const args = [`--url=ssh://git@${host.ssh}/team/by-key.git`, `--private-key-file=${file}`];
    const { code, err } = await bootstrap("by-key", ...args, "--ssh-signing-reuse-private-key");
    expect([code, lastLine(err)]).toEqual([0, done]);
    expect(await host.git("team/by-key", "cat-file", "commit", "main")).toContain(
      "\ngpgsig -----BEGIN SSH SIGNATURE-----\n",
    );
    expect((await secretOf("by-key"))["identity"]).toBe(key.getPrivatePEM());
    const again = await bootstrap("by-key", ...args);
    expect([again.code, again.err.includes("✔ sync manifests are up to date")]).toEqual([0, true]);
  });

  test("by SSH without a key creates one, and continues when the user has added it", async () => {
    await host.create("team/new-key", { isPrivate: true });
    const url = `--url=ssh://git@${host.ssh}/team/new-key.git`;
    const first = await bootstrap("new-key", url);
    expect([first.code, lastLine(first.err)]).toEqual([
      1,
      "✗ aborting: add it to the repository with the right to write, and run the command again with --silent",
    ]);
    const key = (await secretOf("new-key"))["identity.pub"]?.trim() ?? "";
    expect(first.err).toContain(`✚ deploy key: ${key}\n`);
    const early = await bootstrap("new-key", url, "--silent");
    expect(early.code).toBe(1);
    expect(lastLine(early.err)).toContain(
      "; add the deploy key of the Secret to the repository with the right to write, or give --private-key-file",
    );
    host.repositories.get("team/new-key")?.keys.push({ title: "sluice", key, isReadOnly: false });
    const { code, err } = await bootstrap("new-key", url, "--silent");
    expect([code, lastLine(err)]).toEqual([0, done]);
    expect((await secretOf("new-key"))["identity.pub"]?.trim()).toBe(key);
  });
});
