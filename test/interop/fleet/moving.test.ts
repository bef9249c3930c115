import { createHmac } from "node:crypto";
import { mkdtemp } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { z } from "zod";
import { type LiveObject, refOf } from "../../../lib/core/manifest.ts";
import type { Cluster } from "../../../lib/core/ports/cluster.ts";
import { readManifests } from "../../../local/demo/read-manifests.ts";
import { type SluiceProcess, startSluiceProcess } from "../../../local/sluice-process.ts";
import { withinDeadline } from "../../deadline.ts";
import { runCommand } from "../../doubles/run-command.ts";
import { type FleetHosts, fleetHosts, replaced } from "../../e2e/fleet/fleet-hosts.ts";
import { fluxsObjects, readyTexts } from "../../e2e/fleet/fluxs-objects.ts";
import { mayHaveOwnControlPlane, type OwnControlPlane } from "../../real/own-control-plane.ts";
import { movingScene } from "../moving-scene.ts";
import { builtWholeFlux } from "../flux-recorder/built-flux.ts";
import { startWholeFlux } from "./start-whole-flux.ts";

const { signal } = new AbortController();
const built = await builtWholeFlux();
const missing = built === undefined || !mayHaveOwnControlPlane();
const needs =
  "needs SLUICE_FLUX_ALL_CONTROLLERS, SLUICE_FLUX_ALL_CRDS and SLUICE_REAL_KUBECONFIG: test/interop/fleet/README.md";
const waiting = { ...withinDeadline, interval: 200 };

describe.skipIf(missing)(
  `Flux's six controllers, on their own control plane, and Sluice${missing ? ` (${needs})` : ""}`,
  () => {
    const open = new AsyncDisposableStack();
    let plane: OwnControlPlane;
    let folder: string;
    let cluster: Cluster;
    let hosts: FleetHosts;

    beforeAll(async () => {
      const scene = await movingScene(open);
      ({ plane, folder, cluster } = scene);
      hosts = await fleetHosts({ registry: scene.registry, environment: "staging" }, open, signal);
      await hosts.pushImage("6.9.0");
    });
    afterAll(() => open.disposeAsync());

    const flux = async () => {
      if (built === undefined) throw new Error(needs);
      const own = await mkdtemp(join(folder, "flux-"));
      return startWholeFlux({ ...built, kubeconfig: plane.adminKubeconfig, folder: own, cluster }, signal);
    };
    const sluice = () =>
      startSluiceProcess(["--state", join(folder, "state"), "--kubeconfig", plane.kubeconfig], signal);

    /** Requests a run of every object, as `flux reconcile` does, and waits until each has confirmed it and is Ready. */
    const reconcileAll = async (): Promise<void> => {
      const value = String(performance.now());
      const body = { metadata: { annotations: { "reconcile.fluxcd.io/requestedAt": value } } };
      for (const live of await fluxsObjects(cluster, signal)) {
        await cluster.patch(refOf(live), { type: "merge", body }, { manager: "flux" }, signal);
      }
      await vi.waitFor(async () => {
        const unheard = (await fluxsObjects(cluster, signal)).filter(
          (live) => live.kind !== "ImagePolicy" && Handled.parse(live["status"] ?? {}).lastHandledReconcileAt !== value,
        );
        expect(unheard.map(({ kind, metadata: { name } }) => `${kind}/${name}`)).toEqual([]);
      }, waiting);
      await untilReady();
    };
    /** Waits until Sluice has had a run of each object, without a request. */
    const untilRun = ({ ends }: SluiceProcess) =>
      vi.waitFor(async () => {
        const had = new Set(ends.map(({ key }) => `${key.kind}/${key.name}`));
        const all = (await fluxsObjects(cluster, signal)).map(({ kind, metadata: { name } }) => `${kind}/${name}`);
        expect(all.filter((name) => !had.has(name))).toEqual([]);
        await untilReady();
      }, waiting);
    const untilReady = () =>
      vi.waitFor(async () => {
        const texts = Object.entries(await readyTexts(cluster, signal));
        expect(texts.filter(([, text]) => !text.startsWith("True"))).toEqual([]);
        expect(texts).toHaveLength(14);
      }, waiting);
    /** Sends the webhook of a push to the address that the status of the Receiver names. */
    const callWebhook = async (host: string): Promise<number> => {
      const receiver = { kind: "Receiver", namespace: "flux-system", name: "flux-system" };
      const live = await cluster.get({ group: "notification.toolkit.fluxcd.io", version: "v1", ...receiver }, signal);
      const { webhookPath } = z.object({ webhookPath: z.string() }).parse(live?.["status"]);
      const body = JSON.stringify({ ref: "refs/heads/main", repository: { full_name: "platform/fleet" } });
      const digits = createHmac("sha256", "5d0f8b1a6c0e4f7e9a3b2d1c8e7f6a5b").update(body).digest("hex");
      const headers = { "x-github-event": "push", "x-hub-signature-256": `sha256=${digits}` };
      const sent = { method: "POST", body, headers: { ...headers, "content-type": "application/json" }, signal };
      return (await fetch(new URL(webhookPath, host), sent)).status;
    };
    const untilReleased = (image: string, replicas: number) =>
      vi.waitFor(async () => {
        const [deployment] = (await listed("apps", "Deployment")).filter(
          ({ metadata: { name } }) => name === "podinfo",
        );
        expect(deployment?.["spec"]).toMatchObject({ replicas });
        expect(JSON.stringify(deployment?.["spec"])).toContain(`:${image}"`);
        await untilReady();
      }, waiting);
    const untilTold = (text: string) => vi.waitFor(() => expect(hosts.told.join("\n")).toContain(text), waiting);
    const listed = (group: string, kind: string, version = "v1") => cluster.list({ group, version, kind }, signal);

    /** What has to be the same before and after a move, for each object by uid and version. */
    const present = async () => {
      const managed = await Promise.all([
        ...["Secret", "ConfigMap", "Service", "ServiceAccount", "Namespace"].map((kind) => listed("", kind)),
        listed("apps", "Deployment"),
        listed("batch", "Job"),
        listed("apiextensions.k8s.io", "CustomResourceDefinition"),
        listed("edge.example.com", "Entry"),
      ]);
      const fluxs = await fluxsObjects(cluster, signal);
      return {
        managed: managed.flat().filter(isOfTheRepository).map(versionOf).toSorted(),
        specs: fluxs.map(({ kind, metadata: { uid, name, generation } }) => [kind, name, uid, generation]),
        releases: fluxs.filter(({ kind }) => kind === "HelmRelease").map(({ status }) => History.parse(status)),
        commits: await hosts.log(),
        told: [...hosts.told],
      };
    };

    test("a team moves a repository like Flux's example to Sluice and back: no object, chart or commit changes, and each side goes on", async () => {
      {
        await using running = await flux();
        for (const manifest of readManifests(hosts.bootstrap)) {
          await cluster.apply(manifest, { manager: "flux", force: true }, signal);
        }
        await untilReady();
        await hosts.commit(replaced("apps/base/podinfo/values.yaml", "replicas: 1", "replicas: 2"));
        expect(await callWebhook(running.receiver)).toBe(200);
        await untilReleased("6.9.0", 2);
        await reconcileAll();
        const env = { KUBECONFIG: plane.adminKubeconfig };
        const { code, err } = await runCommand(["check", "--migration"], { env, folder });
        expect(err).toContain("\n✔ everything can move\n");
        expect(code).toBe(0);
      }
      await untilTold("Helm upgrade succeeded for release podinfo/podinfo.v2");
      const byFlux = await present();
      expect(byFlux.releases.map(({ history }) => history[0]?.version)).toEqual([1, 2]);

      const over = await sluice();
      await untilRun(over);
      expect(withoutWaits(await present())).toEqual(withoutWaits(byFlux));
      await reconcileAll();
      expect(withoutWaits(await present())).toEqual(withoutWaits(byFlux));
      await hosts.commit(replaced("apps/base/podinfo/values.yaml", "replicas: 2", "replicas: 3"));
      expect(await callWebhook(over.ready.receiver)).toBe(200);
      await untilReleased("6.9.0", 3);
      await hosts.pushImage("6.9.1");
      await reconcileImages();
      await vi.waitFor(async () => expect((await hosts.log())[0]).toBe("Update images of staging"), waiting);
      expect(await callWebhook(over.ready.receiver)).toBe(200);
      await untilReleased("6.9.1", 3);
      await reconcileAll();
      await untilTold("Helm upgrade succeeded for release podinfo/podinfo.v4");
      const bySluice = await present();
      expect(await over.stop()).toBe(0);
      const owner = { group: "", version: "v1", kind: "ConfigMap", namespace: "kube-system", name: "sluice-owner" };
      await cluster.delete(owner, { propagation: "Background" }, signal);

      await using back = await flux();
      await reconcileAll();
      expect(withoutWaits(await present())).toEqual(withoutWaits(bySluice));
      await hosts.pushImage("6.9.2");
      await reconcileImages();
      await vi.waitFor(async () => expect(await hosts.log()).toHaveLength(bySluice.commits.length + 1), waiting);
      expect(await callWebhook(back.receiver)).toBe(200);
      await untilReleased("6.9.2", 3);
    });

    async function reconcileImages(): Promise<void> {
      const ref = { group: "image.toolkit.fluxcd.io", version: "v1", namespace: "flux-system" };
      const body = { metadata: { annotations: { "reconcile.fluxcd.io/requestedAt": String(performance.now()) } } };
      const repository = { ...ref, kind: "ImageRepository", name: "podinfo" };
      await cluster.patch(repository, { type: "merge", body }, { manager: "flux" }, signal);
    }
  },
);

const Handled = z.object({ lastHandledReconcileAt: z.string().optional() });
const History = z.object({
  history: z.array(z.object({ version: z.number(), status: z.string(), digest: z.string() })),
});

/** What the repository brings, or Helm for it: not what the cluster, Sluice or the test makes for itself. */
function isOfTheRepository({ kind, metadata: { name, namespace } }: LiveObject): boolean {
  if (["default", "kube-root-ca.crt"].includes(name)) return false;
  if (kind === "Namespace" || kind === "CustomResourceDefinition")
    return /^(podinfo|edge-system|.*edge\.example\.com)$/.test(name);
  return ["podinfo", "edge-system", "flux-system"].includes(namespace ?? "");
}

function versionOf({ kind, metadata: { namespace = "", name, uid, resourceVersion } }: LiveObject): string {
  return `${kind} ${namespace}/${name} ${uid} ${resourceVersion}`;
}

/**
 * Without the messages that dependents wait, and wait no more. Both sides tell them once when they start, since the artifacts of the other
 * are fetched again: until then a Kustomization is not Ready.
 */
function withoutWaits<Told extends { readonly told: readonly string[] }>({ told, ...rest }: Told) {
  return {
    ...rest,
    told: told.filter((text) => !/Dependencies do not meet ready condition|is ready again/.test(text)),
  };
}
