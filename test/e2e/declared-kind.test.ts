import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { ConditionReason, Conditions } from "../../lib/api/condition.ts";
import { ageColumn, readyColumn } from "../../lib/api/kinds/declaration.ts";
import { Failure } from "../../lib/core/failure.ts";
import { isJsonObject, toJson } from "../../lib/core/json.ts";
import { type LiveObject, refOf } from "../../lib/core/manifest.ts";
import { asHome } from "../../lib/core/ports/home-and-target.ts";
import type { Flow, Run } from "../../lib/core/ports/run.ts";
import type { WorkKey } from "../../lib/core/work-key.ts";
import { failing, setCondition } from "../../lib/flows/conditions.ts";
import type { FlowParts, Kind } from "../../lib/flows/kinds/kind.ts";
import { kinds } from "../../lib/flows/kinds/kinds.ts";
import { reportOutage } from "../../lib/flows/kinds/outages.ts";
import { runInput } from "../../lib/flows/kinds/run-input.ts";
import { reportParked } from "../../lib/flows/kinds/status-reporter.ts";
import { reportEvent } from "../../lib/flows/record-event.ts";
import type { SentRequest } from "../../lib/kube/api-client.ts";
import { systemClock } from "../../lib/process/system-clock.ts";
import { noHome } from "../doubles/no-cluster.ts";
import { type CliWorld, cliWorld } from "./cli-world.ts";

/** A kind that nothing in lib, functions, infra, local and cli knows: all that they know of it stands here. */
const toyKind: Kind = {
  group: "toys.example.com",
  kind: "Toy",
  plural: "toys",
  shortNames: ["ty"],
  categories: ["all"],
  description: "Toy is painted in a colour.",
  versions: ["v1", "v1beta1"],
  columns: [readyColumn, ageColumn],
  schemas: async () => ({
    spec: z.object({
      colour: z.enum(["red", "blue"]).describe("Colour of the paint."),
      suspend: z.boolean().exactOptional(),
      box: z.object({ kind: z.string(), name: z.string() }).describe("Where it is taken from.").exactOptional(),
    }),
    status: z.object({
      observedGeneration: z.number().int().exactOptional(),
      conditions: Conditions.exactOptional(),
      lastHandledReconcileAt: z.string().exactOptional(),
      paint: z.string().describe("Paint that it has.").exactOptional(),
    }),
  }),
  statusManager: "toy-status",
  eventSource: "toy-controller",
  isSource: false,
  sourceRefs: [["spec", "box"]],
  words: {
    one: "toy",
    many: "toys",
    aliases: ["ty"],
    plural: "Toys",
    revision: ["status", "paint"],
    done: "painted",
  },
  flow: paint,
  failing: (before, failure, now) => failing({ conditions: [...before] }, failure, now).conditions,
  input: async () => "dry",
};

function paint(parts: FlowParts): Flow {
  const { home, clock } = parts;
  return async (run) => {
    const live = await home.get({ ...run.key, version: "v1" }, run.signal);
    if (live === undefined) return { outcome: "absent", dueInMs: undefined };
    const colour = at(live, "spec", "colour");
    const { generation = 0, annotations } = live.metadata;
    const ready = { type: "Ready", status: "True", reason: "Painted", message: `is ${String(colour)}` } as const;
    const conditions = setCondition([], { ...ready, observedGeneration: generation }, clock.now());
    const requestedAt = annotations?.["reconcile.fluxcd.io/requestedAt"];
    const status = {
      observedGeneration: generation,
      conditions: toJson(conditions),
      paint: `${String(colour)}@1`,
      ...(requestedAt === undefined ? {} : { lastHandledReconcileAt: requestedAt }),
    };
    const options = { manager: toyKind.statusManager, subresource: "status" };
    await home.patch(refOf(live), { type: "merge", body: { status } }, options, run.signal);
    const event = {
      type: "Normal",
      reason: ConditionReason.parse(ready.reason),
      message: ready.message,
      annotations: {},
    } as const;
    await reportEvent(home, live, event, toyKind.eventSource, run, parts);
    return { outcome: "painted", dueInMs: undefined };
  };
}

const never = new AbortController().signal;

describe("a kind that is declared in one file", () => {
  const sent: SentRequest[] = [];
  let world: CliWorld;
  beforeAll(async () => {
    world = await cliWorld({ kinds: [...kinds, toyKind], observe: (request) => sent.push(request) });
  });
  afterAll(() => world.close());

  const ref = { group: toyKind.group, version: "v1", kind: "Toy", namespace: "default" };
  const toy = (name: string, spec: object) => ({
    apiVersion: "toys.example.com/v1",
    kind: "Toy",
    metadata: { name, namespace: ref.namespace },
    spec: { ...spec },
  });
  const apply = (name: string, spec: object) =>
    world.cluster.apply(toy(name, spec), { manager: "test", force: true }, never);
  const read = (name: string) => world.cluster.get({ ...ref, name }, never);
  const ready = async (name: string) => {
    const conditions = at((await read(name)) ?? {}, "status", "conditions");
    return Conditions.parse(conditions ?? []).find(({ type }) => type === "Ready");
  };

  test("is installed: the API server accepts its definition, serves every version and validates objects by its schema", async () => {
    const name = "toys.toys.example.com";
    const crd = { group: "apiextensions.k8s.io", version: "v1", kind: "CustomResourceDefinition", namespace: "", name };
    const definition = await world.cluster.get(crd, never);
    expect(definition).toMatchObject({
      spec: { names: { shortNames: ["ty"], plural: "toys" }, versions: [{ name: "v1" }, { name: "v1beta1" }] },
      status: {
        conditions: expect.arrayContaining([expect.objectContaining({ type: "Established", status: "True" })]),
      },
    });
    await expect(apply("odd", { colour: "green" })).rejects.toThrow("spec.colour");
    const check = await world.sh("check");
    expect(check.err).toMatch(/^✔ toys\.toys\.example\.com\/v1\b/m);
  });

  test("is swept and watched", async () => {
    const asked = () => {
      const requests = sent.filter(({ path }) => path.startsWith("/apis/toys.example.com/v1/toys"));
      return new Set(requests.map(({ verb }) => verb));
    };
    await expect.poll(asked).toEqual(new Set(["list", "watch"]));
  });

  test("is reconciled, and shown by the command line", async () => {
    await apply("ball", { colour: "red", box: { kind: "OCIRepository", name: "box" } });
    await expect.poll(() => ready("ball")).toMatchObject({ status: "True", message: "is red" });
    const live = await read("ball");
    expect(statusManagers(live)).toEqual(["toy-status"]);

    const { out } = await world.sh("get", "toys", "-n", "default", "--show-source");
    expect(cellsOf(out)).toEqual([
      ["NAME", "SOURCE", "REVISION", "SUSPENDED", "READY", "MESSAGE"],
      ["ball", "OCIRepository/default/box", "red@1", "False", "True", "is red"],
    ]);
    expect((await world.sh("get", "ty", "ball", "-n", "default")).code).toBe(0);
    // It comes after the status.
    const event = async () =>
      cellsOf((await world.sh("events", "--for", "Toy/ball", "-n", "default")).out)[1]?.slice(1);
    await expect.poll(event).toEqual(["Normal", "Painted", "Toy/ball", "is red"]);

    expect((await world.sh("reconcile", "toy", "ball", "-n", "default")).err).toBe(
      "► annotating Toy ball in default namespace\n✔ Toy annotated\n◎ waiting for Toy reconciliation\n✔ painted revision red@1\n",
    );
    expect((await world.sh("suspend", "toy", "ball", "-n", "default")).err).toBe(
      "► suspending toy ball in default namespace\n✔ toy suspended\n",
    );
  });

  test("gets its status from outside its flow, with its own field manager and event source", async () => {
    await apply("broken", { colour: "red" });
    const key = { cluster: "home", group: toyKind.group, kind: "Toy", namespace: ref.namespace, name: "broken" };
    const run = runOf(key);
    const deps = { home: asHome(world.cluster), clock: systemClock, kinds: [toyKind] };
    await expect.poll(() => ready("broken")).toMatchObject({ status: "True" });
    await reportParked(run, "no run ends", deps);
    expect(await ready("broken")).toMatchObject({ status: "False", reason: "Poisoned", message: "no run ends" });
    expect(statusManagers(await read("broken"))).toEqual(["toy-status"]);
    await reportOutage(run, new Failure("ReconciliationFailed", "no paint"), false, deps);
    expect(await ready("broken")).toMatchObject({ status: "False", reason: "ReconciliationFailed" });
    const events = await world.cluster.list({ group: "", version: "v1", kind: "Event" }, never);
    expect(events.filter(({ reason }) => reason === "Poisoned")).toMatchObject([
      { source: { component: "toy-controller" }, involvedObject: { name: "broken" } },
    ]);
  });
});

describe("a kind that is not declared", () => {
  const key = { cluster: "home", group: "toys.example.com", kind: "Toy", namespace: "default", name: "ball" };

  test("has no run input and no status reporter, and the error names it", async () => {
    const run = runOf(key);
    const home = noHome;
    await expect(reportParked(run, "no run ends", { home, clock: systemClock, kinds })).rejects.toThrow(
      "no status reporter for kind Toy",
    );
    await expect(runInput(key, { home, kinds }, never)).rejects.toThrow("no run input for kind Toy");
  });
});

function runOf(key: WorkKey): Run {
  const fence = { key, token: 1 };
  return {
    key,
    signal: never,
    fence,
    assertLease: () => undefined,
    carried: undefined,
    isRequested: true,
    superseded: async () => false,
  };
}

function statusManagers(object: LiveObject | undefined): readonly string[] {
  const entries = object?.metadata.managedFields?.filter(({ subresource }) => subresource === "status") ?? [];
  return entries.map(({ manager }) => manager);
}

function at(value: unknown, ...path: readonly string[]): unknown {
  return path.reduce<unknown>((part, key) => (isJsonObject(part) ? part[key] : undefined), value);
}

function cellsOf(table: string): readonly (readonly string[])[] {
  return table
    .trimEnd()
    .split("\n")
    .map((line) => line.split("\t").map((cell) => cell.trim()));
}
