import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { assumptions } from "../../../../bench/cost/assumptions.ts";
import { atRest, mostAtRest, pushing } from "../../../../bench/cost/cases.ts";
import { monthly, printCompared } from "../../../../bench/cost/compared.ts";
import { linesOf, priced, receives, secondsOf, totalOf } from "../../../../bench/cost/model.ts";
import { prices, regions } from "../../../../bench/cost/prices.ts";
import { printCost } from "../../../../bench/cost/print.ts";
import { billedAlarms } from "../../../../infra/lib/alarms.ts";
import { furtherNetworkUsd } from "../../../../infra/lib/network-cost.ts";

/** One Kustomization each ten minutes and nothing else: 4,380 runs and 43,800 sweeps of either kind in a month of 730 hours. */
const one = { ...atRest, kustomizations: 1, sources: 0, alarms: 7, dashboards: 2, ownKeys: 3 };
const quantityOf = (what: string, workload = one): number => {
  const line = linesOf(workload, assumptions).find((candidate) => candidate.what === what);
  if (line === undefined) throw new Error(`no line "${what}"`);
  return line.quantity;
};

describe("the cost model", () => {
  test.each([
    { what: "Table, writes of runs and sweeps", quantity: 4_380 * 4 + 43_800 * 2 },
    { what: "Table, reads of runs and sweeps", quantity: 4_380 * 1.5 + 43_800 * (4 + 23) },
    { what: "Lambda, invocations", quantity: 4_380 + 2 * 43_800 },
    { what: "Queues, sent and deleted wake-ups and hints", quantity: 2 * (4_380 + 43_800) },
    { what: "Queues, groups of messages", quantity: 3 * (4_380 + 43_800) },
    // Five pollers ask each 20 seconds.
    { what: "Queues, polling of the hints", quantity: 5 * 3 * 60 * 730 },
    { what: "Lambda, pushes", quantity: 0 },
    { what: "Custom metrics", quantity: 0 },
    { what: "Alarms", quantity: 7 },
    { what: "Dashboard", quantity: 2 },
    { what: "Own KMS keys", quantity: 3 },
    { what: "Installation key", quantity: 1 },
  ])("$what, calculated by hand: $quantity", ({ what, quantity }) => {
    expect(quantityOf(what)).toBeCloseTo(quantity, 6);
  });

  test("each request to a cluster is an event of its audit log, which costs nothing while it is not read", () => {
    const requests = 4_380 * 6 + 43_800 * 18;
    expect(quantityOf("GuardDuty, EKS Protection", { ...one, guardDuty: 1 })).toBeCloseTo(requests, 6);
    expect(quantityOf("Audit log of the clusters", { ...one, auditLogs: 1 })).toBeCloseTo((requests * 1_500) / 1e9, 9);
    expect(quantityOf("GuardDuty, EKS Protection") + quantityOf("Audit log of the clusters")).toBe(0);
  });

  test("notifications are polled from a queue of each network, and each is sent, read and deleted", () => {
    const told = { ...one, notificationQueues: 2, notificationsPerDay: 0 };
    expect(quantityOf("Queues, polling of the notifications")).toBe(0);
    expect(quantityOf("Queues, polling of the notifications", told)).toBeCloseTo(2 * 5 * 3 * 60 * 730, 6);
    const many = { ...told, notificationsPerDay: 100 };
    expect(quantityOf("Queues, sent and deleted notifications", many)).toBeCloseTo((2 * 100 * 365) / 12, 6);
    expect(
      quantityOf("Table, writes of runs and sweeps", many) - quantityOf("Table, writes of runs and sweeps"),
    ).toBeCloseTo((100 * 365) / 12, 6);
  });

  test("a further network costs as much as synth says", () => {
    const costs = (networks: number) =>
      totalOf(
        priced(linesOf({ ...atRest, networks, alarms: billedAlarms(networks) }, assumptions), prices["us-east-1"]),
      );
    expect(costs(2) - costs(1)).toBeCloseTo(furtherNetworkUsd, 2);
  });

  test("a run uses its share of a core and the round trips that it waits for", () => {
    const given = { ...assumptions, memoryGbPerCore: 2 };
    // 10 ms of a core are 20 ms of half a core; 3 × 10, 4 × 5 and 1 × 10 ms of waiting.
    expect(secondsOf("unchanged", 1, 10, given)).toBeCloseTo(0.08, 9);
    // More memory than a core has does not make one thread faster.
    expect(secondsOf("unchanged", 4, 10, given)).toBeCloseTo(0.07, 9);
  });

  test("a message ends a poll of the queue early, and each of many messages costs a poll", () => {
    const seconds = 730 * 3_600;
    expect(receives(0, assumptions)).toBe((5 * seconds) / 20);
    // One message a second for each poller: each question takes a second on average.
    expect(receives(5 * seconds, assumptions) / seconds).toBeCloseTo(5, 5);
  });

  test("a push adds its three runs, and metrics only with the first", () => {
    const pushes = (1_000 * 365) / 12;
    const added = (what: string): number => quantityOf(what, pushing) - quantityOf(what, atRest);
    expect(added("Table, writes of runs and sweeps")).toBeCloseTo(pushes * (11 + 12), 3);
    expect(added("Lambda, invocations")).toBeCloseTo(pushes * 3, 3);
    expect(added("Custom metrics")).toBe(4);
  });

  test("prices are multiplied, and the most expensive line comes first", () => {
    const lines = [
      { what: "cheap", price: "alarmMonth", quantity: 2 },
      { what: "dear", price: "dashboardMonth", quantity: 1 },
    ] as const;
    const bill = priced(lines, prices["us-east-1"]);
    expect(bill.map(({ what, usd }) => [what, usd])).toEqual([
      ["dear", 3],
      ["cheap", 0.2],
    ]);
    expect(totalOf(bill)).toBeCloseTo(3.2, 9);
  });

  test.each(regions)("an installation at rest costs less than the allowed maximum, in %s", (region) => {
    expect(totalOf(priced(linesOf(atRest, assumptions), prices[region]))).toBeLessThan(mostAtRest);
  });
});

test("docs/cost-compared.md has the output of the comparison", async () => {
  const page = await readFile(join(import.meta.dirname, "../../../../docs/cost-compared.md"), "utf8");
  const [, generated] = page.split("<!-- printed by bench/cost/compared.ts -->\n\n");
  expect(generated).toBe(`${printCompared()}\n`);
});

test("the alternatives, calculated by hand: one Application is 730 hours and its capability, and Flux runs in each cluster", () => {
  const { argo, fluxShare, fluxFargate } = monthly({ ...atRest, clusters: 2, kustomizations: 1 });
  expect(argo).toBeCloseTo(730 * (0.02771 + 0.00136), 9);
  expect(fluxShare).toBeCloseTo(730 * 2 * 3 * 0.05 * 0.0336, 9);
  expect(fluxFargate).toBeCloseTo(730 * 2 * 3 * (0.25 * 0.04048 + 0.5 * 0.004445), 9);
});

test("docs/cost.md has the output of the model", async () => {
  const page = await readFile(join(import.meta.dirname, "../../../../docs/cost.md"), "utf8");
  const [, generated] = page.split("<!-- printed by node bench/cost/main.ts -->\n\n");
  expect(generated).toBe(`${printCost()}\n`);
});

test("the pages name the costs that the model calculates", async () => {
  const page = async (name: string) =>
    (await readFile(join(import.meta.dirname, "../../../..", name), "utf8")).replaceAll(/\s+/g, " ");
  const [cost, deploy, readme] = await Promise.all(["docs/cost.md", "docs/deploy.md", "README.md"].map(page));
  const bills = regions.map((region) => priced(linesOf(atRest, assumptions), prices[region]));
  const [low, high] = bills.map(totalOf).toSorted((one, other) => one - other);
  expect(deploy).toContain(`it costs ${low?.toFixed(1)} to ${high?.toFixed(1)} USD a month`);
  expect(readme).toContain(`[about ${(Math.round((low ?? 0) * 2) / 2).toFixed(2)} USD a month]`);

  const { memoryGb, requests, roundTripMs, waits } = assumptions;
  /** What so many more milliseconds of these runs cost in a month. */
  const more = (runs: number, ms: number) =>
    `$${((runs * ms * memoryGb.reconcile * prices["us-east-1"].lambdaGbSecond.usd) / 1_000).toFixed(2)}`;
  const unsaid = requests.unchanged.cluster - waits.unchanged.cluster;
  expect(cost).toContain(`at rest would cost ${more(100 * 4_380, unsaid * roundTripMs.cluster)} more`);
  // The look at the owner, the lease, its return and the state of the cluster come one after the other in any case.
  const kinds = waits.clusterSweep.cluster - 1;
  const saved = more(43_800, (kinds - 1) * (roundTripMs.cluster + roundTripMs.table));
  expect(cost).toContain(`instead of one after the other (${saved} for each cluster)`);
  const line = (what: string) => `($${bills[0]?.find((one) => one.what === what)?.usd.toFixed(2)})`;
  expect(cost).toContain(`if an installation has one cluster ${line("Queues, groups of messages")}`);
  expect(cost).toContain(`without a queue that is polled ${line("Queues, polling of the hints")}`);
});
