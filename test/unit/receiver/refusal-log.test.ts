import { expect, test } from "vitest";
import { quietMs, refusalLog } from "../../../lib/receiver/refusal-log.ts";
import { recordedLog } from "../../doubles/recorded-log.ts";
import { recordedMetrics } from "../../doubles/recorded-metrics.ts";
import { steppedClock } from "../../doubles/stepped-clock.ts";
import { receiverWorld } from "./receiver-world.ts";

test("a refused delivery logs one warning per second for each Receiver, however many come", async () => {
  const world = receiverWorld();
  const warned: unknown[] = [];
  const debugged: unknown[] = [];
  world.log.warn = (message, fields) => void warned.push([message, fields?.["receiver"]]);
  world.log.debug = (message, fields) => void debugged.push([message, fields?.["receiver"]]);
  const refused = (name: string) => ["webhook refused", world.keyText(name)];
  for (const name of ["one", "two"]) await world.ready({ type: "gitlab" }, name);
  warned.length = debugged.length = 0;

  const deliver = (name: string) => world.deliver({ uri: world.path(name) });
  expect([await deliver("one"), await deliver("one"), await deliver("two")]).toEqual([400, 400, 400]);
  expect([warned, debugged]).toEqual([[refused("one"), refused("two")], [refused("one")]]);
  world.state.now += quietMs;
  await deliver("one");
  expect(warned).toEqual([refused("one"), refused("two"), refused("one")]);
});

/** Refusals, and the Receivers that they were warnings about. */
function refusals() {
  const clock = steppedClock();
  const warned: unknown[] = [];
  const log = { ...recordedLog(), warn: (_: string, fields?: object) => void warned.push(fields) };
  const metrics = recordedMetrics();
  const tell = refusalLog({ log, clock, metrics });
  const refuse = (name: string, { status = 400, isMeant = true } = {}): void =>
    tell({ cluster: "c", group: "g", kind: "Receiver", namespace: "n", name }, { status, why: "no token", isMeant });
  return { clock, warned, refuse, counted: metrics.recorded };
}

test("continuous refusals log one warning per second too", () => {
  const { clock, refuse, warned } = refusals();
  for (let times = 0; times <= 8; times++) {
    refuse("busy");
    clock.pass(quietMs / 2);
  }
  expect(warned).toHaveLength(5);
});

test("a refusal is counted with its Receiver and its reason, once per second", () => {
  const { clock, refuse, counted } = refusals();
  refuse("web");
  refuse("web");
  expect(counted).toEqual([["Receiver/n/web", { EventsRefused: 1 }, { why: "no token" }]]);
  clock.pass(quietMs);
  refuse("web");
  expect(counted).toHaveLength(2);
});

test("a delivery to a guessable path, or to a suspended Receiver, is not counted", () => {
  const { refuse, counted } = refusals();
  refuse("open", { isMeant: false });
  refuse("suspended", { status: 503 });
  expect(counted).toEqual([]);
});

test("of a thousand and one Receivers the first is forgotten, and the others are not", () => {
  const { refuse, warned } = refusals();
  for (let at = 0; at <= 1_000; at++) refuse(`hook-${at}`);
  refuse("hook-1");
  expect(warned).toHaveLength(1_001);
  refuse("hook-0");
  expect(warned).toHaveLength(1_002);
});
