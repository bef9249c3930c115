import { beforeEach, describe, expect, test } from "vitest";
import type { ControllerClient } from "../../../src/controllers/controller-client.ts";
import { eventRecorder, type RecordEvent } from "../../../src/controllers/event-recorder.ts";
import { nameOf } from "../../../src/controllers/object-facts.ts";
import { type ApiObject, StatusError } from "../../../src/core/api-object.ts";
import { silentLog } from "../../../src/core/log.ts";
import { plainText } from "../../../src/core/plain-text.ts";

const set: ApiObject = { apiVersion: "apps/v1", kind: "ReplicaSet", metadata: { name: "a", namespace: "x", uid: "u" } };

let stored: Map<string, ApiObject>;
let nowMs: number;
let warnings: unknown[];
let refusal: StatusError | undefined;
let record: RecordEvent;

beforeEach(() => {
  stored = new Map();
  nowMs = 1_000_000;
  warnings = [];
  refusal = undefined;
  const write = (object: ApiObject): ApiObject => {
    if (refusal !== undefined) throw refusal;
    stored.set(nameOf(object), object);
    return object;
  };
  const unused = (): never => expect.fail("a recorder only reads and writes events");
  const client: ControllerClient = {
    get: (_resource, _namespace, name) => stored.get(name),
    create: (_resource, _namespace, object) => write(object),
    update: (_resource, object) => write(object),
    kinds: unused,
    list: unused,
    delete: unused,
    finalizeNamespace: unused,
    subscribe: unused,
  };
  const log = { ...silentLog, warn: (_: string, fields?: object) => void warnings.push(fields) };
  record = eventRecorder(client, log, () => new Date(nowMs));
});

function told(): readonly string[] {
  return [...stored.values()].map(({ message, count }) => `${plainText(count)} ${plainText(message)}`);
}

test("a repeated event increments its count with its last time, another object or type does not", () => {
  record(set, "Warning", "FailedCreate", "no");
  nowMs += 5000;
  record(set, "Warning", "FailedCreate", "no");
  record({ ...set, metadata: { name: "b", namespace: "x", uid: "v" } }, "Warning", "FailedCreate", "no");
  record(set, "Normal", "FailedCreate", "no");
  expect(told()).toEqual(["2 no", "1 no", "1 no"]);
  expect([...stored.values()][0]).toMatchObject({
    firstTimestamp: "1970-01-01T00:16:40Z",
    lastTimestamp: "1970-01-01T00:16:45Z",
  });
});

test("an event that was deleted is written again", () => {
  record(set, "Normal", "SuccessfulCreate", "Created pod: a");
  stored.clear();
  record(set, "Normal", "SuccessfulCreate", "Created pod: a");
  expect(told()).toEqual(["2 Created pod: a"]);
});

describe("like client-go's correlator", () => {
  test("the tenth event of a reason within ten minutes and later ones are one event", () => {
    for (let pod = 1; pod <= 12; pod += 1) record(set, "Normal", "SuccessfulCreate", `Created pod: ${pod}`);
    record(set, "Normal", "SuccessfulDelete", "Deleted pod: 1");
    expect(told()).toEqual([
      ...Array.from({ length: 9 }, (_, index) => `1 Created pod: ${index + 1}`),
      "3 (combined from similar events): Created pod: 12",
      "1 Deleted pod: 1",
    ]);
    nowMs += 600_001;
    record(set, "Normal", "SuccessfulCreate", "Created pod: 13");
    expect(told().at(-1)).toBe("1 Created pod: 13");
  });

  test("after 25 events about an object there is one every five minutes, which counts those in between", () => {
    for (let times = 1; times <= 40; times += 1) record(set, "Warning", "FailedCreate", "no");
    expect(told()).toEqual(["25 no"]);
    nowMs += 300_000;
    record(set, "Warning", "FailedCreate", "no");
    record(set, "Warning", "FailedCreate", "no");
    expect(told()).toEqual(["41 no"]);
  });
});

test("an event of an object with a very long name, or one of many at once, has a unique name", () => {
  const long = { ...set, metadata: { name: "a".repeat(253), namespace: "x", uid: "v" } };
  for (const message of ["1", "2", "3"]) {
    record(long, "Normal", "R", message);
    record(set, "Normal", "R", message);
  }
  expect(stored.size).toBe(6);
  for (const name of stored.keys()) expect(name.length).toBeLessThanOrEqual(253);
});

test("an event that cannot be written is logged, unless its namespace is terminating, and fails no controller", () => {
  const details = { kind: "events", causes: [{ reason: "NamespaceTerminating" }] };
  refusal = new StatusError(403, "Forbidden", "ending", details);
  record(set, "Normal", "R", "1");
  refusal = new StatusError(404, "NotFound", "gone", { kind: "namespaces", name: "x" });
  record(set, "Normal", "R", "2");
  expect(warnings).toEqual([]);
  refusal = new StatusError(403, "Forbidden", "too large");
  record(set, "Normal", "R", "3");
  expect(warnings).toEqual([{ object: "a", reason: "R", error: "StatusError: too large" }]);
});
