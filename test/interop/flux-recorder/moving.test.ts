import { mkdtemp } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { findCondition } from "../../../lib/api/condition.ts";
import { parseKustomization } from "../../../lib/api/kustomization.ts";
import type { JsonObject } from "../../../lib/core/json.ts";
import type { LiveObject } from "../../../lib/core/manifest.ts";
import { homeNetwork } from "../../../lib/core/network/network-policy.ts";
import type { Cluster } from "../../../lib/core/ports/cluster.ts";
import { httpClient } from "../../../lib/http/http-client.ts";
import { startSluiceProcess } from "../../../local/sluice-process.ts";
import { deadlineMs } from "../../deadline.ts";
import { pushFiles } from "../../e2e/recorded-flux/push-files.ts";
import { mayHaveOwnControlPlane, type OwnControlPlane } from "../../real/own-control-plane.ts";
import { movingScene } from "../moving-scene.ts";
import { builtFlux } from "./built-flux.ts";
import { startFlux } from "./start-flux.ts";

const { signal } = new AbortController();
const built = await builtFlux();
const missing = built === undefined || !mayHaveOwnControlPlane();
const needs =
  "needs SLUICE_FLUX_CONTROLLERS, SLUICE_FLUX_CRDS and SLUICE_REAL_KUBECONFIG: test/interop/flux-recorder/README.md";
const namespace = "default";
const groups = { OCIRepository: "source.toolkit.fluxcd.io", Kustomization: "kustomize.toolkit.fluxcd.io" } as const;

describe.skipIf(missing)(`Flux itself, on its own control plane, and Sluice${missing ? ` (${needs})` : ""}`, () => {
  const open = new AsyncDisposableStack();
  const http = httpClient({ network: homeNetwork });
  let plane: OwnControlPlane;
  let folder: string;
  let cluster: Cluster;
  let registry: string;

  beforeAll(async () => {
    ({ plane, folder, cluster, registry } = await movingScene(open));
  });
  afterAll(async () => {
    await open.disposeAsync();
    http.close();
  });

  const push = (...names: readonly string[]): Promise<string> => {
    const file = (name: string) => [`${name}.yaml`, JSON.stringify(configMap(name))] as const;
    return pushFiles(`oci://${registry}/app:v1`, Object.fromEntries(names.map(file)), http, signal);
  };
  const flux = async (adopts: boolean) => {
    if (built === undefined) throw new Error(needs);
    const own = await mkdtemp(join(folder, "flux-"));
    return startFlux({ ...built, kubeconfig: plane.adminKubeconfig, folder: own, cluster, adopts }, signal);
  };
  const sluice = () => startSluiceProcess(["--state", join(folder, "state"), "--kubeconfig", plane.kubeconfig], signal);
  /** Requests a run of both objects, and waits until the status of each confirms it. */
  const reconcile = async (digest: string): Promise<void> => {
    for (const kind of ["OCIRepository", "Kustomization"] as const) {
      const value = String(performance.now());
      const body = { metadata: { annotations: { "reconcile.fluxcd.io/requestedAt": value } } };
      const ref = { group: groups[kind], version: "v1", kind, namespace, name: "app" };
      await cluster.patch(ref, { type: "merge", body }, { manager: "flux" }, signal);
      await vi.waitFor(
        async () => {
          const live = await cluster.get(ref, signal);
          expect(live?.["status"]).toMatchObject({ lastHandledReconcileAt: value });
          if (kind === "Kustomization" && live !== undefined) expect(readyMessage(live)).toContain(digest);
        },
        { timeout: deadlineMs, interval: 200 },
      );
    }
  };
  const objects = async (): Promise<readonly LiveObject[]> =>
    cluster.list({ group: "", version: "v1", kind: "ConfigMap", namespace, labelSelector }, signal);

  test("a team moves over and back: unchanged objects are not written, and each side prunes objects that the other applied", async () => {
    const first = await push("a", "b", "c");
    {
      await using _flux = await flux(false);
      await create("OCIRepository", {
        interval: "1h",
        url: `oci://${registry}/app`,
        insecure: true,
        ref: { tag: "v1" },
      });
      const sourceRef = { kind: "OCIRepository", name: "app" };
      await create("Kustomization", { interval: "1h", prune: true, targetNamespace: namespace, sourceRef });
      await reconcile(first);
    }
    const byFlux = await objects();
    expect(byFlux.map(({ metadata }) => metadata.name)).toEqual(["a", "b", "c"]);

    const over = await sluice();
    await reconcile(first);
    expect(await objects()).toEqual(byFlux);
    await reconcile(await push("a", "c"));
    expect(await objects()).toEqual(byFlux.filter(({ metadata }) => metadata.name !== "b"));
    await reconcile(await push("a", "c", "d"));
    expect(await over.stop()).toBe(0);
    const bySluice = await objects();
    expect(bySluice.map(({ metadata }) => metadata.name)).toEqual(["a", "c", "d"]);

    await using _flux = await flux(true);
    const last = await push("a", "d");
    await reconcile(last);
    expect(await objects()).toEqual(bySluice.filter(({ metadata }) => metadata.name !== "c"));
  });

  async function create(kind: keyof typeof groups, spec: JsonObject): Promise<void> {
    const manifest = { apiVersion: `${groups[kind]}/v1`, kind, metadata: { name: "app", namespace }, spec };
    await cluster.apply(manifest, { manager: "kubectl", force: false }, signal);
  }
});

const labelSelector = `${groups.Kustomization}/name=app`;

function configMap(name: string): JsonObject {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name }, data: { k: "v" } };
}

function readyMessage(live: LiveObject): string {
  const ready = findCondition(parseKustomization(live).status.conditions ?? [], "Ready");
  return ready?.status === "True" ? ready.message : "";
}
