import { afterEach, describe, expect, test, vi } from "vitest";
import type { LiveObject } from "../../../lib/core/manifest.ts";
import { readManifests } from "../../../local/demo/read-manifests.ts";
import { withinDeadline } from "../../deadline.ts";
import { gitPrograms } from "../../doubles/git-server.ts";
import { type CliWorld, cliWorld } from "../cli-world.ts";
import { type Environment, type FleetHosts, fleetHosts } from "./fleet-hosts.ts";
import { readyTexts } from "./fluxs-objects.ts";

const { signal } = new AbortController();
const waiting = { ...withinDeadline, interval: 250 };

describe.skipIf(gitPrograms === undefined)("examples/fleet, a repository as Flux's own example is laid out", () => {
  let open = new AsyncDisposableStack();
  afterEach(async () => {
    await open.disposeAsync();
    open = new AsyncDisposableStack();
  });

  /** A Sluice that got what `flux bootstrap` writes, and the hosts around it. */
  async function started(environment: Environment): Promise<{ world: CliWorld; hosts: FleetHosts }> {
    const world = await cliWorld();
    open.defer(() => world.close());
    const hosts = await fleetHosts({ registry: world.registry, environment }, open, signal);
    await hosts.pushImage("6.9.0");
    for (const manifest of readManifests(hosts.bootstrap)) {
      await world.cluster.apply(manifest, { manager: "flux", force: true }, signal);
    }
    return { world, hosts };
  }

  const untilReady = (world: CliWorld, count: number) =>
    vi.waitFor(async () => {
      const texts = await readyTexts(world.cluster, signal);
      const waits = Object.entries(texts).filter(([, text]) => !text.startsWith("True"));
      expect(waits).toEqual([]);
      expect(Object.keys(texts)).toHaveLength(count);
    }, waiting);

  const podinfo = ({ cluster }: CliWorld, group: string, kind: string): Promise<LiveObject | undefined> =>
    cluster.get({ group, version: "v1", kind, namespace: "podinfo", name: "podinfo" }, signal);

  test("production becomes Ready from one commit: charts, patches, values from a Secret under SOPS, and a message in the chat", async () => {
    const { world, hosts } = await started("production");
    await untilReady(world, 11);
    expect(await podinfo(world, "apps", "Deployment")).toMatchObject({ spec: { replicas: 3 } });
    expect(await podinfo(world, "", "ConfigMap")).toMatchObject({ data: { message: "Hello from production" } });
    const entry = { group: "edge.example.com", version: "v1", kind: "Entry", namespace: "edge-system", name: "public" };
    expect(await world.cluster.get(entry, signal)).toMatchObject({ spec: { host: "production.example.com" } });
    await vi.waitFor(
      () => expect(hosts.told.join("\n")).toContain("Helm install succeeded for release podinfo/podinfo"),
      waiting,
    );
  });

  test("staging runs an image that is pushed: its tag is committed, and the release upgraded", async () => {
    const { world, hosts } = await started("staging");
    await untilReady(world, 14);
    expect(await hosts.log()).toEqual(["change"]);
    await hosts.pushImage("6.9.1");
    await vi.waitFor(async () => expect(await hosts.log()).toEqual(["Update images of staging", "change"]), waiting);
    expect((await world.sh("reconcile", "source", "git", "flux-system")).code).toBe(0);
    await vi.waitFor(async () => {
      const image = `${world.registry}/podinfo:6.9.1`;
      expect(JSON.stringify(await podinfo(world, "apps", "Deployment"))).toContain(`"image":"${image}"`);
    }, waiting);
  });
});
