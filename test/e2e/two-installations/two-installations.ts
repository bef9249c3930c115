import { homedir } from "node:os";
import { Readable } from "node:stream";
import { expect } from "vitest";
import { z } from "zod";
import { run } from "../../../cli/run.ts";
import { terminal } from "../../../cli/terminal.ts";
import type { Cluster } from "../../../lib/core/ports/cluster.ts";
import { deadlineMs } from "../../deadline.ts";
import { applied, configMap, followApp, type LocalWorld } from "../local/local-world.ts";

const { signal } = new AbortController();
const patient = { timeout: deadlineMs, interval: 200 };
const kustomize = "kustomize.toolkit.fluxcd.io";
const within = { version: "v1", namespace: "default", name: "app" };
/** What `followApp` has made. */
const app = [
  { ...within, group: "source.toolkit.fluxcd.io", kind: "OCIRepository" },
  { ...within, group: kustomize, kind: "Kustomization" },
];
const requestedAt = "reconcile.fluxcd.io/requestedAt";
const OwnerData = z.object({
  data: z.object({ installation: z.string(), where: z.string().default("nowhere"), version: z.string() }),
});

export async function ownerOf(cluster: Cluster): Promise<z.infer<typeof OwnerData>["data"]> {
  const ref = { group: "", version: "v1", kind: "ConfigMap", namespace: "kube-system", name: "sluice-owner" };
  return OwnerData.parse(await cluster.get(ref, signal)).data;
}

/** Kind, name and version of every object that a Sluice could have written. */
async function versions(cluster: Cluster): Promise<readonly string[]> {
  const kinds = [
    { group: "", version: "v1", kind: "ConfigMap" },
    { group: "", version: "v1", kind: "Event" },
    { group: kustomize, version: "v1", kind: "Kustomization" },
    { group: "source.toolkit.fluxcd.io", version: "v1", kind: "OCIRepository" },
    { group: "apiextensions.k8s.io", version: "v1", kind: "CustomResourceDefinition" },
  ];
  const lists = await Promise.all(kinds.map((kind) => cluster.listMetadata(kind, signal)));
  return lists.flat().map(({ kind, metadata }) => `${kind}/${metadata.name} ${metadata.resourceVersion}`);
}

/** A command as its process would run it; what it writes for people. */
export async function sluice(...args: readonly string[]): Promise<{ readonly code: number; readonly said: string }> {
  let said = "";
  const write = (text: string): void => {
    said += text;
  };
  const code = await run(args, {
    terminal: terminal(write, write),
    ...{ env: {}, homeDir: homedir(), cwd: "/", stdin: Readable.from([]), signal, onSignal: () => {} },
    exit: () => {
      throw new Error("exit");
    },
  });
  return { code, said };
}

/** Requests a run of the source and of its Kustomization, as `kubectl annotate` does. */
async function ask(cluster: Cluster): Promise<void> {
  const body = { metadata: { annotations: { [requestedAt]: String(performance.now()) } } };
  for (const ref of app) await cluster.patch(ref, { type: "merge", body }, { manager: "test" }, signal);
}

/** Two of them on the cluster of this kubeconfig: one owner at any time, and the other one changes nothing. */
export async function twoInstallations(first: LocalWorld, second: LocalWorld, kubeconfig: string): Promise<void> {
  const onCluster = ["--kubeconfig", kubeconfig];
  const initial = await first.start(...onCluster);
  const cluster = await first.cluster(initial);
  await first.push(initial, [configMap("a", "1")]);
  await followApp(cluster, initial);
  await expect.poll(() => applied(cluster), patient).toEqual(["a=1"]);
  const ownerA = await ownerOf(cluster);
  expect(ownerA.where).toContain(first.state);

  // The cluster belongs to the first also while that is not running, and then nothing but the second could write.
  expect(await initial.end("SIGTERM")).toBe(0);
  // The second is refused, says by whom and how to move the cluster, and has written nothing at all.
  const before = await versions(cluster);
  const refused = second.start(...onCluster);
  await expect(refused).rejects.toThrow("sluice local ended with 1");
  await expect(refused).rejects.toThrow(
    `this cluster belongs to another Sluice, ${ownerA.installation} at ${ownerA.where}`,
  );
  await expect(refused).rejects.toThrow(`sluice take-over --state ${second.state} --kubeconfig ${kubeconfig}`);
  expect(await versions(cluster)).toEqual(before);
  expect(second.log.filter((line) => line.includes("belongs to another Sluice"))).toHaveLength(1);
  const a = await first.start(...onCluster);

  // The command moves it; the first stops and says so, once.
  const isClosed = (world: LocalWorld): readonly number[] =>
    world.log.flatMap((line, index) => (line.includes("nothing is written to the cluster") ? [index] : []));
  const moved = await sluice("take-over", "--state", second.state, ...onCluster);
  expect(moved).toMatchObject({ code: 0, said: expect.stringContaining(`belonged to ${ownerA.installation}`) });
  const ownerB = await ownerOf(cluster);
  expect(ownerB.where).toContain(second.state);
  expect(await sluice("take-over", "--state", second.state, ...onCluster)).toMatchObject({
    code: 0,
    said: `✔ this cluster already belongs to ${ownerB.installation}\n`,
  });
  const untilItStops = async (world: LocalWorld, times: number): Promise<void> => {
    await expect
      .poll(async () => {
        await ask(cluster);
        return isClosed(world).length;
      }, patient)
      .toBe(times);
  };
  await untilItStops(first, 1);
  expect(first.log[isClosed(first)[0] ?? -1]).toContain(`belongs to another Sluice, ${ownerB.installation}`);

  // What is pushed to the registry of the first, is applied by the second.
  await first.push(a, [configMap("a", "2"), configMap("b", "2")]);
  const b = await second.start(...onCluster);
  await expect.poll(() => applied(cluster), patient).toEqual(["a=2", "b=2"]);
  const sinceStop = first.log.slice(isClosed(first)[0]);
  expect(sinceStop.filter((line) => /reconcile (finished|failed)/.test(line))).toEqual([]);

  // And back, by the id alone: the first continues, and the second stops.
  expect(await sluice("take-over", "--installation", ownerA.installation, ...onCluster)).toMatchObject({ code: 0 });
  await untilItStops(second, 1);
  await expect
    .poll(async () => {
      await ask(cluster);
      return first.log.some((line) => line.includes("the cluster is written to again"));
    }, patient)
    .toBe(true);
  await first.push(a, [configMap("b", "3")]);
  await expect.poll(() => applied(cluster), patient).toEqual(["b=3"]);
  expect([isClosed(first).length, isClosed(second).length]).toEqual([1, 1]);
  for (const ref of app) await cluster.delete(ref, { propagation: "Background" }, signal);
  await expect
    .poll(
      async () => [...(await applied(cluster)), ...(await Promise.all(app.map((ref) => cluster.get(ref, signal))))],
      patient,
    )
    .toEqual([undefined, undefined]);
  expect(await b.end("SIGTERM")).toBe(0);
  expect(await a.end("SIGTERM")).toBe(0);

  const nowhere = await sluice("take-over", "--state", `${second.state}-nowhere`, ...onCluster);
  expect(nowhere).toEqual({ code: 1, said: `✗ ${second.state}-nowhere is not a state folder of Sluice\n` });
}
