import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { findLocalKubeconfig } from "../../../local/local-kubeconfig.ts";

describe("the kubeconfig of sluice local in the working folder", () => {
  let folder: string;
  let file: string;
  let homeDir: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "sluice-kubeconfig-"));
    file = join(folder, ".sluice", "kubeconfig");
    homeDir = join(folder, "home");
    await mkdir(join(folder, ".sluice"));
    await mkdir(join(homeDir, ".kube"), { recursive: true });
    await writeFile(file, kubeconfig({ server: "http://127.0.0.1:4711/access/x" }, { token: "x" }));
  });
  afterEach(() => rm(folder, { recursive: true }));

  const kubeconfig = (cluster: object, user: object) =>
    JSON.stringify({
      "current-context": "c",
      clusters: [{ name: "c", cluster }],
      users: [{ name: "u", user }],
      contexts: [{ name: "c", context: { cluster: "c", user: "u" } }],
    });
  const find = (env: Readonly<Record<string, string>> = {}) => findLocalKubeconfig({ env, homeDir, cwd: folder });

  test("is used if the user gives no other kubeconfig", async () => {
    expect(await find()).toEqual({ kind: "used", file });
    expect(await find({ KUBECONFIG: "" })).toEqual({ kind: "used", file });
  });

  test.each([
    ["KUBECONFIG", { KUBECONFIG: "/elsewhere" }],
    ["KUBECONFIG with an empty entry", { KUBECONFIG: `${delimiter}/elsewhere${delimiter}` }],
    ["the service account of a pod", { KUBERNETES_SERVICE_HOST: "10.0.0.1", KUBERNETES_SERVICE_PORT: "443" }],
  ])("does not take precedence over %s", async (_, env) => {
    expect(await find(env)).toEqual({ kind: "none" });
  });

  test("does not take precedence over ~/.kube/config, as with kubectl, but is named", async () => {
    await writeFile(join(homeDir, ".kube", "config"), "{}");
    expect(await find()).toEqual({ kind: "passed over", file, inFavourOf: join(homeDir, ".kube", "config") });
  });

  test("is optional", async () => {
    await rm(file);
    expect(await find()).toEqual({ kind: "none" });
  });

  const loopback = "http://127.0.0.1:1";
  test.each([
    ["another host", { server: "http://cluster.example:443" }, { token: "x" }],
    ["HTTPS", { server: "https://127.0.0.1:1" }, { token: "x" }],
    ["a proxy", { server: loopback, "proxy-url": "http://cluster.example" }, { token: "x" }],
    ["a program to run", { server: loopback }, { exec: { apiVersion: "v1", command: "./steal" } }],
    ["a file whose content is sent", { server: loopback }, { tokenFile: "/etc/hostname" }],
    ["no token", { server: loopback }, {}],
  ])("is refused if it names %s: a cloned repository may bring such a file", async (_, cluster, user) => {
    await writeFile(file, kubeconfig(cluster, user));
    await expect(find()).rejects.toThrow(
      `${file} was not written by sluice local: give --kubeconfig ${file} if you trust it, or another kubeconfig`,
    );
  });
});
