import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { definedKinds } from "../../../lib/api/kinds/declared-kinds.ts";
import { declaredKustomization } from "../../../lib/api/kinds/kustomization.ts";
import { customResourceDefinition } from "../../../lib/definitions/custom-resource-definition.ts";
import { deadlineMs } from "../../deadline.ts";
import { gitPrograms } from "../../doubles/git-server.ts";
import { hosting } from "../../doubles/hosting.ts";
import { removeOwner } from "../../doubles/remove-owner.ts";
import { mayHaveOwnControlPlane, type OwnControlPlane, ownControlPlane } from "../../real/own-control-plane.ts";
import { playStory } from "../bootstrap/story.ts";
import { killedInApply } from "../local/killed-in-apply.ts";
import { configMap, type LocalWorld, localWorld } from "../local/local-world.ts";
import { twoInstallations } from "../two-installations/two-installations.ts";
import { playDemo } from "./play-demo.ts";
import { whatIsThere } from "./what-is-there.ts";

const { signal } = new AbortController();
const patient = { timeout: deadlineMs, interval: 200 };
const OfDefinition = z.object({ message: z.string(), name: z.string() });
const definition = { group: "apiextensions.k8s.io", version: "v1", kind: "CustomResourceDefinition", namespace: "" };
const names = definedKinds.map(({ plural, group }) => `${plural}.${group}`);

describe.skipIf(!mayHaveOwnControlPlane())("sluice local on a real control plane (set SLUICE_REAL_KUBECONFIG)", () => {
  let plane: OwnControlPlane;
  let world: LocalWorld;
  beforeAll(async () => {
    plane = await ownControlPlane();
    world = await localWorld();
  });
  afterAll(async () => {
    await world[Symbol.asyncDispose]();
    await plane[Symbol.asyncDispose]();
  });

  /** What a start says of the definitions. */
  const said = async (): Promise<readonly string[]> => {
    const before = world.log.length;
    const local = await world.start("--kubeconfig", plane.kubeconfig);
    expect(await local.end("SIGTERM")).toBe(0);
    const lines = world.log.slice(before).filter((line) => line.includes("custom resource definition"));
    return lines.map((line) => OfDefinition.parse(JSON.parse(line))).map(({ message, name }) => `${message} ${name}`);
  };

  test("missing definitions are installed, present ones stay unchanged, older ones are renewed, and the log lists them", async () => {
    expect(await said()).toEqual(names.map((name) => `custom resource definition installed ${name}`));
    expect(await said()).toEqual([]);

    // As Flux had it before v1 came, which Sluice reads.
    const cluster = await world.cluster(plane);
    const kind = declaredKustomization;
    const name = `${kind.plural}.${kind.group}`;
    await cluster.delete({ ...definition, name }, { propagation: "Background" }, signal);
    await expect.poll(() => cluster.get({ ...definition, name }, signal), patient).toBe(undefined);
    const older = {
      ...(await customResourceDefinition({ ...kind, versions: ["v1beta2"] })),
      ...{ metadata: { name } },
    };
    const flux = { manager: "flux", force: false };
    await cluster.apply({ ...older, apiVersion: "apiextensions.k8s.io/v1", kind: definition.kind }, flux, signal);
    expect(await said()).toEqual([`custom resource definition renewed ${name}`]);
    expect(await cluster.resource({ group: kind.group, version: "v1", kind: kind.kind }, signal)).toBeDefined();
  });

  test.skipIf(gitPrograms === undefined)(
    "the first steps of a flux user: bootstrap, podinfo as files, commit, and a watch until it is ready",
    async () => {
      await using host = await hosting();
      await host.create("jane/podinfo", { isPrivate: false, branch: "master" });
      const text = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: podinfo}\ndata: {color: blue}\n";
      await host.commit("jane/podinfo", "kustomize/config.yaml", text, "master");
      const local = await world.start("--kubeconfig", plane.kubeconfig);
      const { watched } = await playStory({ host, kubeconfig: plane.kubeconfig, receiver: local.receiver });
      expect(watched).toMatch(/^podinfo\s+master@sha1:[0-9a-f]{8}\s+False\s+True\s+Applied revision: master@sha1:/m);
      const cluster = await world.cluster(plane);
      const applied = { group: "", version: "v1", kind: "ConfigMap", namespace: "default", name: "podinfo" };
      expect((await cluster.get(applied, signal))?.["data"]).toEqual({ color: "blue" });
      // It prunes what it has applied, podinfo's Kustomization too, which prunes the rest.
      const owner = { group: "kustomize.toolkit.fluxcd.io", version: "v1", kind: "Kustomization" };
      const flux = { ...owner, namespace: "flux-system", name: "flux-system" };
      await cluster.delete(flux, { propagation: "Background" }, signal);
      await expect.poll(() => cluster.get(applied, signal), patient).toBe(undefined);
      expect(await local.end("SIGTERM")).toBe(0);
    },
  );

  test("does not start on a cluster on which Flux renews its lease", async () => {
    const cluster = await world.cluster(plane);
    const ref = { group: "coordination.k8s.io", version: "v1", kind: "Lease", namespace: "default" };
    const metadata = { name: "kustomize-controller-leader-election", namespace: ref.namespace };
    const renew = (second: number) => {
      const spec = {
        holderIdentity: "flux",
        leaseDurationSeconds: 35,
        renewTime: `2026-11-21T12:00:${second}.000000Z`,
      };
      const lease = { apiVersion: `${ref.group}/v1`, kind: ref.kind, metadata, spec };
      return cluster.apply(lease, { manager: "flux", force: false }, signal);
    };
    await renew(10);
    const renewed = new Promise((resolve) => {
      world.watchLog((line) => {
        const isLooking = line.includes("Flux has been here");
        if (isLooking) resolve(renew(15));
        return isLooking;
      });
    });
    const refusal = "Flux's kustomize-controller runs in namespace default of this cluster";
    await expect(world.start("--kubeconfig", plane.kubeconfig)).rejects.toThrow(refusal);
    await renewed;
    await cluster.delete({ ...ref, name: metadata.name }, { propagation: "Background" }, signal);
  });

  test("two installations: the second is refused and changes nothing, take-over moves the cluster, the first stops and reports it", async () => {
    await using second = await localWorld();
    await expect(twoInstallations(world, second, plane.kubeconfig)).resolves.toBe(undefined);
  });

  test("the demo ends as expected, twice in a row, and leaves nothing behind", async () => {
    const cluster = await world.cluster(plane);
    const before = await whatIsThere(cluster, signal);
    const elsewhere = await playDemo(plane.kubeconfig, signal);
    expect([elsewhere.code, elsewhere.output]).toEqual([1, expect.stringContaining("belongs to another Sluice")]);
    await removeOwner(cluster, signal);
    for (const _time of ["first", "second"]) {
      const { code, output } = await playDemo(plane.kubeconfig, signal);
      expect(output).toContain("Everything came out as expected");
      expect(code).toBe(0);
      // The cluster's own collector takes a moment for what a Deployment made.
      await expect.poll(() => whatIsThere(cluster, signal), patient).toEqual(before);
    }
  });

  test("the demo refuses to start if an object has one of its names, and changes nothing", async () => {
    const cluster = await world.cluster(plane);
    const { object } = await cluster.apply(configMap("not-ours", "mine"), { manager: "me", force: false }, signal);
    const { code, output } = await playDemo(plane.kubeconfig, signal);
    expect(code).toBe(1);
    expect(output).toMatch(
      /^✘ the demo failed: ConfigMap\/default\/not-ours: the cluster already has these objects, [^\n]*\n$/,
    );
    const ref = { group: "", version: "v1", kind: "ConfigMap", namespace: "default", name: "not-ours" };
    expect(await cluster.get(ref, signal)).toEqual(object);
    await cluster.delete(ref, { propagation: "Background" }, signal);
  });

  test("a demo that is interrupted removes its objects", async () => {
    const cluster = await world.cluster(plane);
    const before = await whatIsThere(cluster, signal);
    const stop = new AbortController();
    const playing = playDemo(plane.kubeconfig, stop.signal);
    await expect
      .poll(async () => (await whatIsThere(cluster, signal)).length, patient)
      .toBeGreaterThan(before.length + 2);
    stop.abort();
    const { code, output } = await playing;
    expect(code).toBe(143);
    expect(output).toContain("✘ stopped by SIGTERM");
    await expect.poll(() => whatIsThere(cluster, signal), patient).toEqual(before);
  });

  test("after a kill at any moment of an apply, the next start completes the apply and leaves no orphan", async () => {
    expect(await killedInApply(world, "--kubeconfig", plane.kubeconfig)).toBe(0);
  });
});
