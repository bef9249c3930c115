import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { z } from "zod";
import type { Json } from "../../../lib/core/json.ts";
import { checkCdEvent, maxListEntries } from "../../../lib/receiver/cdevents.ts";
import { RequestRefused } from "../../../lib/receiver/request-refused.ts";

/** Events of every type, and what becomes of each with one field changed or without it: judged by CDEvents' SDK, which Flux has. */
const Judged = z.object({
  events: z.array(z.record(z.string(), z.json())),
  cases: z.array(z.object({ type: z.string(), path: z.string(), value: z.json().optional(), valid: z.boolean() })),
});
const file = new URL("../../fixtures/cdevents/judged.json", import.meta.url);
const { events, cases } = Judged.parse(JSON.parse(await readFile(file, "utf8")));
const byType = new Map(events.map((event) => [z.object({ type: z.string() }).parse(event["context"]).type, event]));

function changed(object: Json, [key, ...rest]: readonly string[], value: Json | undefined): Json {
  if (key === undefined) return object;
  const fields: Record<string, Json> = { ...z.record(z.string(), z.json()).catch({}).parse(object) };
  const next = rest.length === 0 ? value : changed(fields[key] ?? {}, rest, value);
  if (next === undefined) delete fields[key];
  else fields[key] = next;
  return fields;
}

function isValid(body: string): boolean {
  try {
    checkCdEvent(Buffer.from(body));
    return true;
  } catch (error) {
    if (error instanceof RequestRefused) return false;
    throw error;
  }
}

test("notification statement 35: a body that fails its schema is refused, for each type and field as in the SDK", () => {
  const got = cases.map((one) => {
    const path = one.path === "" ? [] : one.path.split(".");
    return { ...one, valid: isValid(JSON.stringify(changed(byType.get(one.type) ?? {}, path, one.value))) };
  });
  expect(events).toHaveLength(46);
  expect(got).toEqual(cases);
});

test.each(["", "not json", "5", "null", "[]", "{}", '{"context": {"type": 5}}'])("%j is refused", (body) => {
  expect(isValid(body)).toBe(false);
});

const run = "dev.cdevents.testcaserun";
test.each([
  { type: `${run}.finished.0.2.0`, field: "outcome", words: ["pass", "fail", "cancel", "error"] },
  { type: `${run}.finished.0.2.0`, field: "severity", words: ["low", "medium", "high", "critical", "", null] },
  {
    type: `${run}.queued.0.2.0`,
    field: "trigger.type",
    words: ["manual", "pipeline", "event", "schedule", "other", "", null],
  },
  {
    type: `${run}.started.0.2.0`,
    field: "testCase.type",
    words: ["performance", "functional", "unit", "security", "compliance", "integration", "e2e", "other", "", null],
  },
  {
    type: "dev.cdevents.testoutput.published.0.2.0",
    field: "outputType",
    words: ["report", "video", "image", "log", "other"],
  },
])("$field of $type is one of $words", ({ type, field, words }) => {
  const event = changed(byType.get(type) ?? {}, ["subject", "content", "testCase", "id"], "a");
  const path = `subject.content.${field}`.split(".");
  const taken = (word: Json) => isValid(JSON.stringify(changed(event, path, word)));
  expect(words.filter((word) => !taken(word))).toEqual([]);
  expect(["x", "Low", "passed", 5].filter(taken)).toEqual([]);
});

test.each([
  { field: "context.links", entry: { linkType: "PATH", from: { contextId: "a" }, tags: {} } },
  { field: "subject.content.labels", entry: "bug" },
  { field: "subject.content.assignees", entry: "somebody" },
])("an event may have as many entries in $field as the limit and no more", ({ field, entry }) => {
  const ticket = byType.get("dev.cdevents.ticket.created.0.1.0") ?? {};
  const bodyWith = (entries: number): string =>
    JSON.stringify(
      changed(
        ticket,
        field.split("."),
        Array.from({ length: entries }, () => entry),
      ),
    );
  expect(isValid(bodyWith(maxListEntries))).toBe(true);
  expect(isValid(bodyWith(maxListEntries + 1))).toBe(false);
});
