import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { z } from "zod";
import { EventShape } from "../../../lib/notify/notification-message.ts";
import { notifyWorld } from "./notify-world.ts";

// What Flux 2.9 has sent and told (test/fixtures/notify), against Sluice's dispatch and delivery with a Provider that only remembers.

const fixtures = join(import.meta.dirname, "../../fixtures/notify");

const Text = z.string();
const Step = z.object({
  step: Text,
  posted: z.array(z.object({ event: EventShape, answer: z.object({ status: z.number() }) })),
  deliveries: z.array(z.object({ path: Text, body: z.unknown() })),
  events: z.array(z.object({ object: Text, type: Text, reason: Text, message: Text })),
});

function stepsOf(folder: string): readonly z.infer<typeof Step>[] {
  const files = readdirSync(folder).filter((name) => /^\d/.test(name));
  return files.toSorted().map((name) => Step.parse(parse(readFileSync(join(folder, name), "utf8"))));
}

const Input = z.looseObject({
  apiVersion: Text,
  kind: Text,
  metadata: z.looseObject({ name: Text, namespace: Text }),
});

function inputOf(folder: string): z.infer<typeof Input>[] {
  const documents = parseAllDocuments(readFileSync(join(folder, "input.yaml"), "utf8"));
  return documents.map((one) => Input.parse(one.toJS()));
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

/** What a step has shown, of Flux and of Sluice. */
interface Shown {
  readonly step: string;
  readonly answers: readonly number[];
  /** Path and body of each, in any order. */
  readonly deliveries: readonly string[];
  readonly events: readonly string[];
}

/** Flux counts an event that no Alert can be for, Sluice does not: nobody sees the difference but the emitter. */
const uncounted = "without-an-alert";

function recorded({ step, posted, deliveries, events }: z.infer<typeof Step>): Shown {
  return {
    step,
    answers: step === uncounted ? posted.map(() => 202) : posted.map(({ answer }) => answer.status),
    deliveries: deliveries.map(({ path, body }) => textOf([path, body])).toSorted(),
    events: events.map(({ object, type, reason, message }) => `${object} ${type} ${reason} ${message}`),
  };
}

test.each(Object.entries(applied))(
  "Sluice sends, refuses and reports the same as Flux in the recording %s",
  async (scenario, counts) => {
    const folder = join(fixtures, scenario);
    const steps = stepsOf(folder);
    const input = inputOf(folder);
    const world = notifyWorld();
    const shown: Shown[] = [];
    for (const [index, { step, posted }] of steps.entries()) {
      for (const manifest of input.splice(0, counts[index] ?? 0)) world.apply(manifest);
      if (step === uncounted) world.remove(`Alert/golden-${scenario}/alert`);
      const answers: number[] = [];
      for (const { event } of posted) answers.push((await world.send(event)) === "first" ? 202 : 429);
      const deliveries = world.posted
        .splice(0)
        .map(({ event, settings }) => textOf([new URL(settings.address).pathname, event]));
      shown.push({ step, answers, deliveries: deliveries.toSorted(), events: world.told() });
    }
    expect(shown).toEqual(steps.map(recorded));
    expect(input).toEqual([]);
  },
);

/** JSON with the keys of all objects in one order, so that equal deliveries have equal texts. */
function textOf(value: unknown): string {
  return JSON.stringify(value, (_key, one: unknown) =>
    typeof one === "object" && one !== null && !Array.isArray(one)
      ? Object.fromEntries(Object.entries(one).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : one,
  );
}
