import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { load } from "js-yaml";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { unhonouredFlags } from "../../functions/settings/flux-flags.ts";
import { type LiveObject, type Manifest, refOf } from "../../lib/core/manifest.ts";
import { userFront } from "../doubles/cluster-fronts.ts";
import { type EmbeddedCluster, embeddedCluster } from "../doubles/embedded-cluster.ts";
import { unreliableProxy } from "../doubles/unreliable-proxy.ts";
import { runCommand } from "../doubles/run-command.ts";
import { controllerDeployment, fluxInstallation } from "./flux-installation.ts";

const { signal } = new AbortController();
const options = { manager: "flux", force: true };

let folder = "";
let flux: EmbeddedCluster;
let none: EmbeddedCluster;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "sluice-migration-"));
  flux = await embeddedCluster({ controllers: false });
  none = await embeddedCluster({ controllers: false, definitions: false });
  for (const object of fluxInstallation) await flux.cluster.apply(object, options, signal);
});
afterAll(async () => {
  await flux[Symbol.asyncDispose]();
  await none[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

const check = (kubeconfig: string, ...args: readonly string[]) =>
  runCommand(["check", "--migration", ...args], { env: { KUBECONFIG: kubeconfig }, folder });

/** The kubeconfig for another way to the same API server. */
async function kubeconfigFor(url: string, name: string): Promise<string> {
  const text = await readFile(flux.kubeconfig, "utf8");
  const file = join(folder, name);
  await writeFile(file, text.replace(flux.server.url, url));
  return file;
}

/** Runs the command beside objects that a typical installation does not have. */
async function beside<Result>(objects: readonly Manifest[], act: () => Promise<Result>): Promise<Result> {
  const made: LiveObject[] = [];
  try {
    for (const one of objects) made.push((await flux.cluster.apply(one, options, signal)).object);
    return await act();
  } finally {
    for (const one of made) await flux.cluster.delete(refOf(one), { propagation: "Background" }, signal);
  }
}

const Report = z.looseObject({
  canMove: z.boolean(),
  refused: z.array(z.looseObject({})),
  flags: z.array(z.looseObject({})),
});

describe("sluice check --migration", () => {
  test("says of a typical installation of Flux that everything can move, what to prepare and what to paste", async () => {
    const { code, err, out } = await check(flux.kubeconfig);
    expect([code, err]).toEqual([0, expect.stringMatching(/✔ everything can move\n$/)]);
    await expect(`${err}${out}`).toMatchFileSnapshot("check-migration.txt");
  });

  test("prints the same as one document of JSON or YAML", async () => {
    const { code, out } = await check(flux.kubeconfig, "-o", "json");
    const report: unknown = JSON.parse(out);
    expect([code, report]).toEqual([0, load((await check(flux.kubeconfig, "-o", "yaml")).out)]);
    expect(report).toMatchObject({
      canMove: true,
      controllers: [{ name: "helm-controller" }, { name: "kustomize-controller" }, { name: "source-controller" }],
      takenOver: expect.arrayContaining([
        { kind: "Kustomization", count: 2, objects: ["flux-system/apps", "flux-system/flux-system"] },
      ]),
      refused: [],
      unreconciled: [],
      unread: [],
    });
  });

  test("only reads: it sends nothing but GET requests", async () => {
    const methods = new Set<string>();
    await using proxy = await unreliableProxy(flux.server.url, (_count, _url, method) => {
      methods.add(method);
      return "forward";
    });
    expect(await check(await kubeconfigFor(proxy.url, "recorded"))).toMatchObject({ code: 0 });
    expect([...methods]).toEqual(["GET"]);
  });

  test("names each object, flag and kind that stays behind, and ends with 1", async () => {
    const { code, err } = await beside(staysBehind, () => check(flux.kubeconfig));
    expect(err.split("\n").filter((line) => line.startsWith("✗"))).toEqual([
      "✗ GitRepository/apps/azure: spec.provider azure is not supported: give a secretRef with a personal access token, or leave this GitRepository to Flux",
      "✗ Kustomization/apps/generated: can't access 'ExternalArtifact/apps/fleet', ExternalArtifact feature gate is disabled",
      `✗ --watch-label-selector of image-reflector-controller: not honoured: ${unhonouredFlags.get("watch-label-selector")}`,
      "✗ not everything can move yet: correct what is marked with ✗ and check again",
    ]);
    expect(code).toBe(1);
  });

  test("shows no value of a flag that may be a secret", async () => {
    const flagger = controllerDeployment("flagger", "1.44.0", "-slack-token=xoxb-1", "-mesh-provider=gatewayapi:v1");
    const { err, out } = await beside([flagger], () => check(flux.kubeconfig, "-o", "json"));
    expect(Report.parse(JSON.parse(out)).flags).toContainEqual(
      expect.objectContaining({ flag: "slack-token", reason: expect.stringContaining("copy it from the Deployment") }),
    );
    expect(`${err}${out}`).not.toContain("xoxb-1");
  });

  test("-o json escapes every character of an object that could move the cursor of a terminal", async () => {
    const spec = {
      interval: "1m",
      bucketName: "a\u009b2J\u202e",
      endpoint: "s3.eu-west-1.amazonaws.com",
      provider: "aws",
    };
    const bucket = { apiVersion: "source.toolkit.fluxcd.io/v1", kind: "Bucket", metadata: metadata("hostile"), spec };
    const { out } = await beside([bucket], () => check(flux.kubeconfig, "-o", "json"));
    expect(out).toContain(String.raw`"arn:aws:s3:::a\u009b2J\u202e"`);
    expect(out).not.toMatch(/[\u0080-\u009f\u202e]/);
  });

  test("warns of a Kustomization that applies Flux's own controllers, which would start them again", async () => {
    const ref = {
      group: "kustomize.toolkit.fluxcd.io",
      version: "v1",
      kind: "Kustomization",
      namespace: "flux-system",
    };
    const inventory = { entries: [{ id: "flux-system_source-controller_apps_Deployment", v: "v1" }] };
    await flux.cluster.patch(
      { ...ref, name: "flux-system" },
      { type: "merge", body: { status: { inventory } } },
      { manager: "flux", subresource: "status" },
      signal,
    );
    const { err } = await check(flux.kubeconfig);
    expect(err).toContain(
      "⚠️ Kustomization/flux-system/flux-system: Flux's own controllers are applied from here, so Sluice would start",
    );
    await flux.cluster.patch(
      { ...ref, name: "flux-system" },
      { type: "merge", body: { status: { inventory: null } } },
      { manager: "flux", subresource: "status" },
      signal,
    );
  });

  test("names what it may not read and the missing right, and does not say that everything can move", async () => {
    await using front = await userFront({ server: new URL(flux.server.url) }, "somebody");
    const kubeconfig = await kubeconfigFor(`http://127.0.0.1:${front.port}`, "forbidden");
    const { code, err } = await check(kubeconfig);
    expect(err).toContain("✗ kustomizations.kustomize.toolkit.fluxcd.io: not read, so it is unknown: ");
    expect(err).toContain('User "somebody" cannot list resource "kustomizations"');
    expect(err).toContain("⚠️ not known, since the Deployments could not be read; nor are their flags");
    expect(err).toContain("⚠️ what follows lacks what could not be read: do not paste it yet");
    expect([code, err]).toEqual([1, expect.not.stringContaining("everything can move\n")]);
  });

  test("says of a cluster without Flux that there is nothing to move", async () => {
    const { code, err, out } = await check(none.kubeconfig, "-o", "json");
    expect([code, JSON.parse(out)]).toMatchObject([
      1,
      { canMove: false, fault: expect.stringMatching(/^this cluster has/) },
    ]);
    expect(err).toContain("✗ this cluster has neither controllers nor objects of Flux or Flagger");
  });

  test("prints a document of a cluster that does not answer", async () => {
    const { code, out } = await check(await kubeconfigFor("http://127.0.0.1:1", "dead"), "-o", "yaml");
    expect([code, load(out)]).toMatchObject([1, { canMove: false, fault: expect.stringContaining("ECONNREFUSED") }]);
  });

  test("is not combined with --orphans", async () => {
    const { code, err } = await check(flux.kubeconfig, "--orphans");
    expect([code, err]).toEqual([
      1,
      expect.stringContaining("option '--migration' cannot be used with option '--orphans'"),
    ]);
  });
});

const metadata = (name: string) => ({ namespace: "apps", name });
const staysBehind: readonly Manifest[] = [
  {
    apiVersion: "source.toolkit.fluxcd.io/v1",
    kind: "GitRepository",
    metadata: metadata("azure"),
    spec: { interval: "1m", url: "https://dev.azure.com/org/fleet/_git/fleet", provider: "azure" },
  },
  {
    apiVersion: "kustomize.toolkit.fluxcd.io/v1",
    kind: "Kustomization",
    metadata: metadata("generated"),
    spec: { interval: "1m", prune: true, sourceRef: { kind: "ExternalArtifact", name: "fleet" } },
  },
  controllerDeployment("image-reflector-controller", "v1.2.4", "--watch-label-selector=team=a"),
];
