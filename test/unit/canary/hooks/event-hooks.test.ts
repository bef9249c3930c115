import { describe, expect, test } from "vitest";
import { eventHooksOf } from "../../../../lib/canary/hooks/event-hooks.ts";
import { canaryOf, hooksWorld } from "./hooks-world.ts";

const event = { type: "Warning", message: "Halt podinfo.test advancement" } as const;
const own = { name: "own", type: "event", url: "http://own.test/" };

describe("canary/63: an event", () => {
  test("is posted to the event hooks of its Canary, with text, type and the time in milliseconds", async () => {
    const world = hooksWorld({ settings: { eventWebhook: "http://global.test/" } });
    const rollout = { name: "load", url: "http://load.test/" };
    const canary = canaryOf({ webhooks: [rollout, own, { ...own, url: "http://second.test/" }] });
    await eventHooksOf(canary, world.deps).send(event, "Progressing");
    expect(world.requests.map(({ url }) => url)).toEqual(["http://own.test/", "http://second.test/"]);
    const [body = ""] = world.bodies();
    expect(JSON.parse(body)).toEqual({
      ...{ name: "podinfo", namespace: "test", phase: "Progressing", checksum: "7df467cc96" },
      metadata: {
        eventMessage: "Halt podinfo.test advancement",
        eventType: "Warning",
        timestamp: String(Date.UTC(2026, 2, 2, 11, 31, 8)),
      },
    });
  });

  test("is posted to the hook of the installation if the Canary has none", async () => {
    const world = hooksWorld({ settings: { eventWebhook: "http://global.test/" } });
    await eventHooksOf(canaryOf({}), world.deps).send(event, "Progressing");
    expect(world.requests.map(({ url }) => url)).toEqual(["http://global.test/"]);
  });

  test("includes the hook's metadata, which overrides none of the event's own keys", async () => {
    const world = hooksWorld();
    const metadata = { env: "prod", eventType: "mine", timestamp: "never" };
    await eventHooksOf(canaryOf({ webhooks: [{ ...own, metadata }] }), world.deps).send(event, "Progressing");
    expect(world.bodies()[0]).toContain('"env":"prod","eventMessage"');
    expect(world.bodies()[0]).toContain('"eventType":"Warning"');
    expect(world.bodies()[0]).not.toContain("never");
  });

  test("that one hook refuses is logged, and the next hook gets it", async () => {
    const world = hooksWorld({ answers: [{ status: 404, body: "no such path" }, {}] });
    const canary = canaryOf({ webhooks: [own, { ...own, name: "second" }] });
    await eventHooksOf(canary, world.deps).send(event, "Progressing");
    expect(world.requests).toHaveLength(2);
    expect(world.log.lines).toEqual([
      { message: "error sending event to webhook", canary: "podinfo.test", webhook: "own", error: "no such path" },
    ]);
  });
});
