import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { z } from "zod";
import type { Manifest } from "../../../lib/core/manifest.ts";
import { notifyWorld } from "./notify-world.ts";

// What Flux 2.9 has sent and told (test/fixtures/notify), against Sluice's dispatch and delivery with a Provider that only remembers.

const fixtures = join(import.meta.dirname, "../../fixtures/notify");

const Text = z.string();
const Event = z.object({
  involvedObject: z.object({
    kind: Text,
    namespace: Text,
    name: Text,
    uid: Text.exactOptional(),
    apiVersion: Text.exactOptional(),
    resourceVersion: Text.exactOptional(),
  }),
  severity: Text,
  timestamp: Text,
  message: Text,
  reason: Text,
  metadata: z.record(Text, Text).exactOptional(),
  reportingController: Text,
  reportingInstance: Text,
});
const Step = z.object({
  step: Text,
  posted: z.array(z.object({ event: Event, answer: z.object({ status: z.number() }) })),
  deliveries: z.array(z.object({ path: Text, body: z.unknown() })),
  events: z.array(z.object({ object: Text, type: Text, reason: Text, message: Text })),
});

function stepsOf(folder: string): readonly z.infer<typeof Step>[] {
  const files = readdirSync(folder).filter((name) => /^\d/.test(name));
  return files.toSorted().map((name) => Step.parse(parse(readFileSync(join(folder, name), "utf8"))));
}

function inputOf(folder: string): Manifest[] {
  return parseAllDocuments(readFileSync(join(folder, "input.yaml"), "utf8")).map((one) => one.toJS() as Manifest);
}

/** How many objects of `input.yaml` were applied before each step; after the last number none. */
const applied = {
  "notify-match": [2, 1, 1, 1],
  "notify-severity": [6],
  "notify-regex": [2, 1, 1],
  "notify-suspend": [2, 1, 1, 1],
  "notify-duplicates": [2],
  "notify-missing": [1, 1, 1, 1, 1, 1],
  "notify-event-metadata": [2, 1, 1],
  "notify-address-of-secret": [3, 2, 2, 2, 2, 2],
} as const;

describe.each(Object.entries(applied))("recorded: %s", (scenario, counts) => {
  test("sends, refuses and tells what Flux does", async () => {
    const folder = join(fixtures, scenario);
    const world = notifyWorld();
    const input = inputOf(folder);
    for (const [index, step] of stepsOf(folder).entries()) {
      for (const manifest of input.splice(0, counts[index] ?? 0)) world.apply(manifest);
      const isWithoutAlert = step.step === "without-an-alert";
      if (isWithoutAlert) world.remove("Alert/golden-notify-duplicates/alert");
      const answers: number[] = [];
      for (const { event } of step.posted) answers.push((await world.send(event)) === "first" ? 202 : 429);
      // Flux counts an event that no Alert can be for: nobody sees the difference but the emitter.
      if (!isWithoutAlert) expect(answers, step.step).toEqual(step.posted.map(({ answer }) => answer.status));
      const sent = world.posted
        .splice(0)
        .map(({ event, settings }) => ({ path: new URL(settings.address).pathname, body: event }));
      const inOrder = (deliveries: readonly { readonly path: string }[]) =>
        deliveries
          .map((one) => JSON.stringify([one.path, one]))
          .toSorted()
          .map((text) => JSON.parse(text) as unknown);
      expect(inOrder(sent.map(sorted)), step.step).toEqual(inOrder(step.deliveries.map(sorted)));
      expect(world.told(), step.step).toEqual(
        step.events.map(({ object, type, reason, message }) => `${object} ${type} ${reason} ${message}`),
      );
    }
    expect(input).toEqual([]);
  });
});

/** With the keys of all objects in one order, so that equal deliveries have equal texts. */
function sorted<Value>(value: Value): Value {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, one]: [string, unknown]) => [key, sorted(one)])) as Value;
}
