import { describe, expect, test } from "vitest";
import { promoteCanary, rollBackCanary } from "../../../cli/steer-canary.ts";
import { whyCanary } from "../../../cli/why-canary.ts";
import type { JsonObject } from "../../../lib/core/json.ts";
import type { LiveObject } from "../../../lib/core/manifest.ts";
import { condition } from "./cluster-objects.ts";
import { fakeSession } from "./fake-session.ts";

const namespace = "flux-system";
const of = "podinfo.flux-system";

function canaryOf(status: JsonObject, spec: JsonObject = {}): LiveObject {
  return {
    apiVersion: "flagger.app/v1beta1",
    kind: "Canary",
    metadata: { name: "podinfo", namespace, uid: "u", resourceVersion: "1" },
    spec: {
      targetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "podinfo" },
      service: { port: 9898 },
      analysis: { interval: "10s", threshold: 2, maxWeight: 50, stepWeight: 25 },
      ...spec,
    },
    status: { lastTransitionTime: "2026-11-29T10:59:00Z", ...status },
  };
}

/** The events of a Canary in the order in which they were told, all in one second. */
function events(...told: readonly (string | JsonObject)[]): readonly LiveObject[] {
  return told.map((each, at) => {
    const words = typeof each === "string" ? { message: each } : each;
    const when = "2026-11-29T10:00:00Z";
    return {
      apiVersion: "v1",
      kind: "Event",
      metadata: { name: `e${at}`, namespace, uid: "u", resourceVersion: String(100 + at) },
      involvedObject: { kind: "Canary", name: "podinfo", namespace, uid: "u" },
      ...{ reason: "Synced", type: "Normal", firstTimestamp: when, lastTimestamp: when, count: 1 },
      ...words,
    };
  });
}

type Shares = readonly [primary: number, canary?: number];

/** A route with a rule for each of these. */
function routeOf(kind: "GRPCRoute" | "HTTPRoute", ...rules: readonly Shares[]): LiveObject {
  const backends = ([primary, canary]: Shares) => [
    { kind: "Service", name: "podinfo-primary", weight: primary },
    ...(canary === undefined ? [] : [{ kind: "Service", name: "podinfo-canary", weight: canary }]),
  ];
  return {
    apiVersion: "gateway.networking.k8s.io/v1",
    kind,
    metadata: { name: "podinfo", namespace, uid: "u", resourceVersion: "1" },
    spec: { rules: rules.map((shares) => ({ backendRefs: backends(shares) })) },
  };
}

async function rows(...objects: readonly LiveObject[]): Promise<readonly string[]> {
  const session = fakeSession(objects);
  await whyCanary("podinfo", session);
  const lines = session.output.out.trimEnd().split("\n").slice(1);
  return lines.map((line) =>
    line
      .split("\t")
      .slice(1, 4)
      .map((cell) => cell.trim())
      .join(" | "),
  );
}

const warning = (message: string): JsonObject => ({ type: "Warning", message });

describe("why canary", () => {
  test("shows a failed run as it happened, with the canary's share after each step and its current state", async () => {
    const status = {
      ...{ phase: "Failed", canaryWeight: 0, failedChecks: 0 },
      conditions: [condition("Promoted", "False", "Canary analysis failed, Deployment scaled to zero.")],
    };
    const told = events(
      `New revision detected! Scaling up ${of}`,
      warning(`canary deployment ${of} not ready: waiting for rollout to finish: 1 of 2`),
      `Starting canary analysis for ${of}`,
      "Pre-rollout check load passed",
      `Advance ${of} canary weight 25`,
      {
        ...warning(`Halt ${of} advancement success rate 50.12% < 99%`),
        count: 2,
        lastTimestamp: "2026-11-29T10:00:50Z",
      },
      warning(`Rolling back ${of} failed checks threshold reached 2`),
      warning(`Canary failed! Scaling down ${of}`),
    );
    expect(await rows(canaryOf(status), routeOf("HTTPRoute", [100, 0]), ...told)).toEqual([
      `0% | began | New revision detected! Scaling up ${of}`,
      `0% | waits | canary deployment ${of} not ready: waiting for rollout to finish: 1 of 2`,
      `0% | began | Starting canary analysis for ${of}`,
      "0% | passed | Pre-rollout check load passed",
      `25% | advanced | Advance ${of} canary weight 25`,
      `25% | check failed | Halt ${of} advancement success rate 50.12% < 99% (2 times, last 2026-11-29T10:00:50Z)`,
      `25% | rolled back | Rolling back ${of} failed checks threshold reached 2`,
      `0% | rolled back | Canary failed! Scaling down ${of}`,
      "0% | now | Failed: Canary analysis failed, Deployment scaled to zero; failed checks 0 of 2; HTTPRoute podinfo sends 100% to podinfo-primary, 0% to podinfo-canary",
    ]);
  });

  test.each([
    [`Advance ${of} primary weight 50`, "50% | advanced"],
    ["Routing all traffic to canary", "100% | advanced"],
    ["Initialization done! podinfo.flux-system", "0% | initialized"],
    ["skipping canary run as object is suspended", "? | suspended"],
    ["Terminated canary podinfo.flux-system", "? | deleted"],
    [warning(`Promotion of ${of} failed, primary not ready: x`), "? | failed"],
    [warning(`Canary failed! Keeping ${of}: the primary is not ready, so all traffic stays on it`), "100% | failed"],
    [warning(`canary ${of} was scaled to zero during its analysis: scaling it up again`), "0% | error"],
    ["Routing all traffic to primary", "0% | promoted"],
    [`Promotion completed! Scaling down ${of}`, "0% | promoted"],
    [`Copying ${of} template spec to podinfo-primary.flux-system`, "? | promoted"],
    [warning(`Halt ${of} advancement waiting for promotion approval gate`), "? | waits"],
    [warning("Rollback check gate passed"), "? | rolled back"],
    [warning("Post-rollout hook second failed nothing to clean"), "? | hook failed"],
    [warning("GatewayRefs must be specified when using Gateway API as a provider."), "? | error"],
  ])("parses Flagger's text %j", async (told, row) => {
    const [first = ""] = await rows(canaryOf({ phase: "Progressing" }), ...events(told));
    expect(first.startsWith(row)).toBe(true);
  });

  test("shows two runs one after the other, even if the cluster counts repeated texts of the second one", async () => {
    const at = (minute: number) => `2026-11-29T10:0${minute}:00Z`;
    const told = (message: string, first: number, last = first): JsonObject => ({
      ...{ message, firstTimestamp: at(first), lastTimestamp: at(last), count: last === first ? 1 : 2 },
    });
    const [began, advanced] = [`New revision detected! Scaling up ${of}`, `Advance ${of} canary weight 25`];
    const objects = events(
      ...[told(began, 0, 4), told(advanced, 1, 5)],
      ...[told(`Canary failed! Scaling down ${of}`, 2), told(`Advance ${of} canary weight 50`, 6)],
    );
    expect((await rows(canaryOf({ phase: "Progressing" }), ...objects)).slice(0, -1)).toEqual([
      `0% | began | ${began}`,
      `25% | advanced | ${advanced}`,
      `0% | rolled back | Canary failed! Scaling down ${of}`,
      `0% | began | ${began} (2 times since ${at(0)})`,
      `25% | advanced | ${advanced} (2 times since ${at(1)})`,
      `50% | advanced | Advance ${of} canary weight 50`,
    ]);
  });

  test("leaves out events of an earlier Canary of the same name and of other reporters", async () => {
    const involvedObject = { kind: "Canary", name: "podinfo", namespace, uid: "earlier" };
    const others = events(
      { message: "Routing all traffic to primary", involvedObject },
      { reason: "Other", message: "x" },
    );
    expect(await rows(canaryOf({ phase: "Succeeded" }), ...others)).toHaveLength(1);
  });

  const match = [{ headers: { "x-user": { exact: "a" } } }];
  const byMatch = { interval: "10s", threshold: 2, iterations: 2, match };

  test("shows an A/B test like weights: iterations, failed checks with reasons, and that only matching requests reach the canary", async () => {
    const told = events(
      `New revision detected! Scaling up ${of}`,
      `Advance ${of} canary iteration 1/2`,
      warning(`Halt ${of} advancement success rate 50.12% < 99%`),
      `Advance ${of} canary iteration 2/2`,
      `Copying ${of} template spec to podinfo-primary.flux-system`,
      "Routing all traffic to primary",
    );
    const status = { phase: "Progressing", iterations: 2, failedChecks: 1 };
    const route = routeOf("HTTPRoute", [0, 100], [100]);
    expect(await rows(canaryOf(status, { analysis: byMatch }), route, ...told)).toEqual([
      `0% | began | New revision detected! Scaling up ${of}`,
      `matches | advanced | Advance ${of} canary iteration 1/2`,
      `matches | check failed | Halt ${of} advancement success rate 50.12% < 99%`,
      `matches | advanced | Advance ${of} canary iteration 2/2`,
      `matches | promoted | Copying ${of} template spec to podinfo-primary.flux-system`,
      "0% | promoted | Routing all traffic to primary",
      "matches | now | Progressing; iteration 2 of 2; failed checks 1 of 2; HTTPRoute podinfo sends of the requests that match 0% to podinfo-primary, 100% to podinfo-canary, of all others 100% to podinfo-primary",
    ]);
  });

  test("shows for Blue/Green how many iterations have passed, also in the step after the last one", async () => {
    const analysis = { interval: "10s", threshold: 2, iterations: 3 };
    expect(await rows(canaryOf({ phase: "Progressing", iterations: 4 }, { analysis }))).toEqual([
      "0% | now | Progressing; iteration 3 of 3; failed checks 0 of 2",
    ]);
  });

  test("shows what a Canary that is being deleted waits for", async () => {
    const told = "New Deployment detected, starting initialization.";
    const canary = canaryOf({ phase: "Terminating", conditions: [condition("Promoted", "Unknown", told)] });
    const deletionTimestamp = "2026-11-29T10:58:00Z";
    expect(await rows({ ...canary, metadata: { ...canary.metadata, deletionTimestamp } })).toEqual([
      "0% | now | Terminating: deleted at 2026-11-29T10:58:00Z, its target gets the replicas of the primary, and the Canary goes once that is ready; failed checks 0 of 2",
    ]);
  });

  test("shows for a Canary without a step which other one has its target", async () => {
    const told = "Canary podinfo.apps is not released: its target belongs to the older Canary older.apps";
    expect(await rows(canaryOf({ conditions: [condition("Promoted", "False", told)] }))).toEqual([
      `0% | now | ${told}; failed checks 0 of 2`,
    ]);
  });

  test("reads the shares from the rule for all requests, not from those for cookies", async () => {
    const [now = ""] = await rows(
      canaryOf({ phase: "Progressing", canaryWeight: 25 }),
      routeOf("HTTPRoute", [0, 100], [100, 0], [75, 25]),
    );
    expect(now).toBe(
      "25% | now | Progressing; failed checks 0 of 2; HTTPRoute podinfo sends 75% to podinfo-primary, 25% to podinfo-canary",
    );
  });

  test("reads the GRPCRoute of a Canary that asks for one", async () => {
    const canary = canaryOf({ phase: "Progressing" });
    const annotations = { "sluice.dev/route-kind": "GRPCRoute" };
    const [now = ""] = await rows(
      { ...canary, metadata: { ...canary.metadata, annotations } },
      routeOf("GRPCRoute", [50, 50]),
    );
    expect(now).toContain("GRPCRoute podinfo sends 50% to podinfo-primary, 50% to podinfo-canary");
  });

  test("without events and route shows the status, and whether it is suspended", async () => {
    const status = { phase: "Progressing", canaryWeight: 25, failedChecks: 1 };
    expect(await rows(canaryOf(status, { suspend: true }))).toEqual([
      "25% | now | Progressing; suspended; failed checks 1 of 2",
    ]);
    expect(await rows(canaryOf({}))).toEqual(["0% | now | no step yet; failed checks 0 of 2"]);
  });
});

const hook = (type: string) => ({ name: type, type, url: "http://x" });
const gated = (...types: readonly string[]) => ({ analysis: { interval: "30s", webhooks: types.map(hook) } });
const [rollout, increase, promotion] = ["confirm-rollout", "confirm-traffic-increase", "confirm-promotion"];

describe("promote canary", () => {
  test.each([
    ["Waiting", gated(rollout, promotion), rollout, "for this run"],
    ["WaitingPromotion", gated(rollout, increase, promotion), promotion, "for this run"],
    ["Progressing", gated(promotion), promotion, "for this run"],
    ["Progressing", gated(promotion, increase), `${increase} 20`, "for the next weight after 20%"],
    ["Progressing", { ...gated(promotion, increase), provider: "kubernetes" }, promotion, "for this run"],
  ])("in phase %s opens the next gate", async (phase, spec, gate, until) => {
    const session = fakeSession([canaryOf({ phase, canaryWeight: 20 }, spec)]);
    await promoteCanary("podinfo", session);
    const after = await session.cluster.get(
      { group: "flagger.app", version: "v1beta1", kind: "Canary", namespace, name: "podinfo" },
      session.signal,
    );
    expect(after?.metadata.annotations).toEqual({
      "sluice.dev/promote": expect.stringMatching(new RegExp(String.raw`^\d{4}-\d\d-\d\dT\S*Z ${gate}$`)),
    });
    const [type] = gate.split(" ");
    expect(session.output.err).toBe(
      `✔ gate ${type} of Canary podinfo is open ${until}\n◎ the next step is within 30s; see sluice why canary podinfo\n`,
    );
  });

  test.each([
    [
      canaryOf({ phase: "Succeeded" }, gated(promotion)),
      "Canary podinfo has no run with a gate to open: its phase is Succeeded",
    ],
    [canaryOf({}, gated(promotion)), "Canary podinfo has no run with a gate to open: it has had no step yet"],
    [
      canaryOf({ phase: "Progressing" }, gated(rollout)),
      "Canary podinfo has no gate to open: its phase is Progressing, and spec.analysis.webhooks has no webhook of type confirm-traffic-increase or confirm-promotion. Its run goes on when its checks have passed",
    ],
  ])("without a gate to open is refused, and nothing is written", async (canary, why) => {
    const session = fakeSession([canary]);
    await expect(promoteCanary("podinfo", session)).rejects.toThrow(why);
    expect(session.patched).toEqual([]);
  });
});

describe("rollback canary", () => {
  test("requests the end of the run, and says that a suspended Canary takes no step", async () => {
    const session = fakeSession([canaryOf({ phase: "Progressing" }, { suspend: true })]);
    await rollBackCanary("podinfo", session);
    expect(session.patched).toEqual(["Canary/podinfo"]);
    expect(session.output.err).toBe(
      "✔ Canary podinfo will be rolled back\n⚠️ Canary podinfo is suspended: it takes no step until it is resumed\n",
    );
  });

  test("of a Canary without a run is refused, and the message says what to do instead", async () => {
    const session = fakeSession([canaryOf({ phase: "Succeeded" })]);
    await expect(rollBackCanary("podinfo", session)).rejects.toThrow(
      "Canary podinfo has no run to roll back: its phase is Succeeded. To go back to another version, change Deployment podinfo, for example by a revert in git",
    );
    expect(session.patched).toEqual([]);
  });
});
