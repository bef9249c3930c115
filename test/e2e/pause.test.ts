import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type CliWorld, cliWorld } from "./cli-world.ts";

const { signal } = new AbortController();
const source = { apiVersion: "source.toolkit.fluxcd.io/v1", kind: "OCIRepository" };
const spec = { interval: "1h", url: "oci://127.0.0.1:1/nowhere" };
const metadata = { name: "app", namespace: "flux-system" };

let world: CliWorld;
beforeAll(async () => {
  world = await cliWorld();
  const namespace = { apiVersion: "v1", kind: "Namespace", metadata: { name: "flux-system" } };
  await world.cluster.apply(namespace, { manager: "test", force: true }, signal);
});
afterAll(async () => {
  await world.close();
});

/** Whether Sluice has written to the source at all. */
async function isTouched(): Promise<boolean> {
  const ref = { group: "source.toolkit.fluxcd.io", version: "v1", kind: source.kind, ...metadata };
  return (await world.cluster.get(ref, signal))?.metadata.finalizers !== undefined;
}

describe("sluice pause and sluice resume", () => {
  test("stop all writes and report who paused; requests made meanwhile are handled after the resume", async () => {
    expect(await world.sh("pause", "--by", "eve")).toMatchObject({
      code: 0,
      err: expect.stringMatching(/^✔ this cluster is paused by eve since \S+Z\n◎ no write starts after 5 s; /),
    });
    expect(await world.sh("pause")).toMatchObject({
      code: 0,
      err: expect.stringMatching(/^✔ this cluster is already paused by eve since \S+Z\n$/),
    });
    // The gate goes by what it saw for five seconds; a closed one lets nothing through from then on.
    await expect.poll(async () => (await world.sh("check")).err).toContain("this cluster is paused by eve");
    const made = { ...source, metadata, spec };
    await world.cluster.apply(made, { manager: "test", force: true }, signal);
    expect(await world.sh("get", "sources", "oci")).toMatchObject({
      code: 0,
      err: expect.stringMatching(/^⚠️ this cluster is paused by eve since \S+Z: nothing changes until sluice resume\n$/),
    });
    expect(await world.sh("resume")).toMatchObject({
      code: 0,
      err: expect.stringMatching(
        /^✔ this cluster is resumed; it was paused by eve since \S+Z\n◎ requests that arrived meanwhile /,
      ),
    });
    expect(await world.sh("resume")).toMatchObject({ code: 0, err: "✔ this cluster is not paused\n" });
    // Not a word of the pause any more, and the source is reconciled, which fails: it leads nowhere.
    expect((await world.sh("get", "sources", "oci")).err).toBe("");
    await expect
      .poll(async () => {
        await world.sh("reconcile", "source", "oci", "app", "--timeout", "1s");
        return isTouched();
      })
      .toBe(true);
  });

  test("accept only the right cluster name, and refuse conflicting arguments", async () => {
    const name = (await world.sh("pause", "--cluster", "nowhere")).err;
    expect(name).toMatch(/^✗ kubeconfig \S+ has no cluster nowhere: it has (\S+)\n$/);
    const [, cluster = ""] = /it has (\S+)/.exec(name) ?? [];
    expect(await world.sh("pause", "--cluster", cluster)).toMatchObject({ code: 0 });
    expect(await world.sh("resume", "--cluster", cluster)).toMatchObject({ code: 0 });
    expect(await world.sh("resume", "--cluster", cluster, "--context", "x")).toMatchObject({
      code: 1,
      err: "✗ give --context or --cluster, not both\n",
    });
    expect(await world.sh("resume", "terraform")).toMatchObject({
      code: 1,
      err: expect.stringMatching(/^✗ unknown command 'terraform'/),
    });
  });
});
