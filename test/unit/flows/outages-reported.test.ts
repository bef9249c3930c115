import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { ApiError } from "../../../lib/core/ports/cluster.ts";
import type { Flow } from "../../../lib/core/ports/run.ts";
import { kinds } from "../../../lib/flows/kinds/kinds.ts";
import { type OutageDeps, reportOutage, retryOutages } from "../../../lib/flows/kinds/outages.ts";
import { ociRepositoryFlow } from "../../../lib/flows/oci-repository/oci-repository-flow.ts";
import { ociRepository, sourceWorld, type World } from "./source-world.ts";

let world: World;
beforeEach(async () => {
  world = await sourceWorld();
});
afterEach(async () => {
  await world.close();
});

const Status = z.looseObject({
  conditions: z.array(z.object({ type: z.string(), status: z.string(), reason: z.string(), message: z.string() })),
});
const conditions = () => Status.parse(world.get("app")["status"]).conditions;
const said = () => conditions().map(({ type, status, reason }) => `${type}=${status} ${reason}`);
const ready = () => conditions().find(({ type }) => type === "Ready");

/** Runs as an installation has them, each when it is due, for as long as this. */
async function outlast(ms: number): Promise<void> {
  const { state } = world;
  const flowOf = (deps: World["deps"]): Flow => {
    const { clock, home, log } = deps;
    const report: OutageDeps["report"] = (run, failure, wasReported) =>
      reportOutage(run, failure, wasReported, { home, clock, kinds });
    return retryOutages(ociRepositoryFlow(deps), { clock, log, report });
  };
  for (const until = state.now + ms; state.now < until; ) {
    const { dueInMs = ms } = await world.run("app", new AbortController().signal, flowOf);
    state.now += dueInMs;
  }
}

const refused = async (): Promise<never> => {
  throw new Error("s3:PutObject on bucket b: AWS cannot be reached");
};

describe("an outage that affects an OCIRepository", () => {
  test("in the artifact store is reported once, with Flux's text for storage, and ends by itself", async () => {
    await world.push("latest", { "a.yaml": "a" });
    world.apply(ociRepository("app", { url: `oci://${world.address}/app` }));
    const { put } = world.deps.artifacts;
    world.deps.artifacts.put = refused;
    await outlast(3_600_000);
    expect(said()).toEqual(
      expect.arrayContaining([
        "Reconciling=True ProgressingWithRetry",
        "Ready=False ArchiveOperationFailed",
        "StorageOperationFailed=True ArchiveOperationFailed",
      ]),
    );
    expect(ready()?.message).toBe(
      "unable to archive artifact to storage: s3:PutObject on bucket b: AWS cannot be reached",
    );
    expect(world.events.map(({ type, reason }) => `${String(type)} ${String(reason)}`)).toEqual([
      "Warning ArchiveOperationFailed",
    ]);

    world.deps.artifacts.put = put;
    await outlast(1);
    expect(said().toSorted()).toEqual(["ArtifactInStorage=True Succeeded", "Ready=True Succeeded"]);
  });

  test("while reading Secrets is reported as a failure to get credentials", async () => {
    await world.push("latest", { "a.yaml": "a" });
    world.apply(ociRepository("app", { url: `oci://${world.address}/app`, secretRef: { name: "pull" } }));
    const present = { ...world.deps.home };
    world.deps.home.get = async (ref, signal) => {
      if (ref.kind !== "Secret") return present.get(ref, signal);
      throw new ApiError({ code: 0, reason: "Unreachable", message: "no answer within 10s" });
    };
    await outlast(60_000);
    expect(ready()).toMatchObject({
      status: "False",
      reason: "AuthenticationFailed",
      message: "failed to get credential: failed to get secret 'apps/pull': no answer within 10s",
    });
  });

  test("that is short leaves Ready as it is", async () => {
    await world.push("latest", { "a.yaml": "a" });
    world.apply(ociRepository("app", { url: `oci://${world.address}/app` }));
    await outlast(1);
    const before = world.get("app")["status"];
    const { has } = world.deps.artifacts;
    world.deps.artifacts.has = refused;
    await outlast(10_000);
    expect(world.get("app")["status"]).toEqual(before);
    world.deps.artifacts.has = has;
    await outlast(1);
    expect(world.get("app")["status"]).toEqual(before);
  });

  test("is not assumed for a bug in a store", async () => {
    await world.push("latest", { "a.yaml": "a" });
    world.apply(ociRepository("app", { url: `oci://${world.address}/app` }));
    world.deps.artifacts.put = async () => {
      throw new TypeError("undefined is not a function");
    };
    await expect(outlast(1_000)).rejects.toThrow("undefined is not a function");
  });
});
