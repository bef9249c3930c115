import { expect, test } from "vitest";
import { customResource, type HandleResource } from "../../../functions/lambda/custom-resource.ts";
import { systemClock } from "../../../lib/process/system-clock.ts";
import { faultyWire, type WireFault } from "../../doubles/faulty-wire.ts";
import { recordedLog } from "../../doubles/recorded-log.ts";

const never = new AbortController().signal;
const made: HandleResource = async () => ({ physicalId: "made", attributes: { Version: "1" } });
const ok: WireFault = { status: 200 };

/** What a handler answers to an event, and what it logged; `faults`: what becomes of each attempt to answer. */
async function answers(
  handle: HandleResource,
  event: object = {},
  { faults = [ok], signal = never }: { faults?: readonly WireFault[]; signal?: AbortSignal } = {},
) {
  const bodies: unknown[] = [];
  const types: unknown[] = [];
  await using wire = await faultyWire(undefined, (request, count, body) => {
    types.push(request.headers["content-type"]);
    bodies.push(JSON.parse(body.toString()));
    return faults[count] ?? ok;
  });
  const log = recordedLog();
  const clock = { ...systemClock, sleep: async () => undefined };
  const request = {
    RequestType: "Create",
    ResponseURL: `${wire.url}/answer?X-Amz-Signature=hunter2`,
    StackId: "arn:aws:cloudformation:eu-west-1:123456789012:stack/sluice/1",
    RequestId: "request-1",
    LogicalResourceId: "ClusterProd",
    ResourceType: "Custom::SluiceDefinitions",
    ResourceProperties: { ServiceToken: "arn:aws:lambda:…", cluster: "c" },
    ...event,
  };
  const thrown: unknown = await customResource(handle, { clock, log })(request, signal).catch(
    (error: unknown) => error,
  );
  expect(JSON.stringify(log.lines) + String(thrown)).not.toMatch(/hunter2|127\.0\.0\.1/);
  return { bodies, answer: bodies.at(-1), thrown, types, seen: wire.seen };
}
const identity = {
  StackId: "arn:aws:cloudformation:eu-west-1:123456789012:stack/sluice/1",
  RequestId: "request-1",
  LogicalResourceId: "ClusterProd",
};

test("a success is sent with the id and the attributes, to the URL of the event and without a content type", async () => {
  const { answer, seen, types } = await answers(made);
  expect(answer).toEqual({ ...identity, Status: "SUCCESS", PhysicalResourceId: "made", Data: { Version: "1" } });
  expect(seen).toEqual(["PUT /answer?X-Amz-Signature=hunter2"]);
  expect(types).toEqual([""]);
});

test("the handler gets the requesting stack and resource", async () => {
  const asked: unknown[] = [];
  const handle: HandleResource = async (request) => {
    asked.push(request);
    return { physicalId: "new" };
  };
  const { answer } = await answers(handle, {
    RequestType: "Update",
    PhysicalResourceId: "old",
    OldResourceProperties: { cluster: "b" },
  });
  expect(answer).toMatchObject({ Status: "SUCCESS", PhysicalResourceId: "new" });
  expect(asked).toEqual([
    {
      type: "Update",
      resource: `${identity.StackId}/ClusterProd`,
      physicalId: "old",
      properties: { ServiceToken: "arn:aws:lambda:…", cluster: "c" },
      oldProperties: { cluster: "b" },
    },
  ]);
});

test("a failure is sent with its reason, and the resource keeps its id", async () => {
  const fails: HandleResource = async () => {
    throw new Error("the cluster is gone");
  };
  const update = await answers(fails, { RequestType: "Update", PhysicalResourceId: "made" });
  expect(update.answer).toEqual({
    ...identity,
    Status: "FAILED",
    Reason: "the cluster is gone",
    PhysicalResourceId: "made",
  });
  expect((await answers(fails)).answer).toMatchObject({ Status: "FAILED", PhysicalResourceId: "sluice-never-made" });
});

test("leftovers of a failed create do not block the deletion of its stack", async () => {
  const fails: HandleResource = async () => {
    throw new Error("still gone");
  };
  const event = { RequestType: "Delete", PhysicalResourceId: "sluice-never-made" };
  expect((await answers(fails, event)).answer).toMatchObject({
    Status: "SUCCESS",
    PhysicalResourceId: "sluice-never-made",
  });
  const made = { RequestType: "Delete", PhysicalResourceId: "made" };
  expect((await answers(fails, made)).answer).toMatchObject({ Status: "FAILED", PhysicalResourceId: "made" });
});

test("a delete returns the id of the request, whatever the handler returns", async () => {
  const { answer } = await answers(made, { RequestType: "Delete", PhysicalResourceId: "former" });
  expect(answer).toMatchObject({ Status: "SUCCESS", PhysicalResourceId: "former" });
});

test("a reason is shortened and quotes no URL of the event; attributes are shortened too", async () => {
  const quoting: HandleResource = async (_, signal) => {
    signal.throwIfAborted();
    throw new Error(`x${"é".repeat(9_000)}`);
  };
  const { answer } = await answers(quoting);
  expect(Buffer.byteLength(JSON.stringify(answer))).toBeLessThan(4_096);
  const many: HandleResource = async () => ({ physicalId: "a", attributes: { A: "é".repeat(9_000) } });
  expect(Buffer.byteLength(JSON.stringify((await answers(many)).answer))).toBeLessThan(4_096);
});

test("a handler that runs out of time reports that", async () => {
  const stopped = AbortSignal.abort(new Error("the invocation's time is up"));
  const handle: HandleResource = async (_, signal) => {
    signal.throwIfAborted();
    return { physicalId: "made" };
  };
  const { answer } = await answers(handle, {}, { signal: stopped });
  expect(answer).toMatchObject({
    Status: "FAILED",
    Reason: "the function's time was up before it was done; deploy again",
  });
});

test("a lost answer is sent again", async () => {
  const { bodies, thrown } = await answers(made, {}, { faults: ["dropped", { status: 503 }, ok] });
  expect(thrown).toBeUndefined();
  expect(bodies).toHaveLength(3);
  expect(bodies[2]).toEqual(bodies[0]);
});

test("an answer that can never be sent fails the invocation, so that Lambda retries", async () => {
  const { thrown, bodies } = await answers(made, {}, { faults: Array(9).fill({ status: 403 }) });
  expect(bodies).toHaveLength(4);
  expect(String(thrown)).toContain("could not be sent (HTTP status 403): a function in a VPC needs a way to S3");
});

test.each([{}, { RequestType: "Read" }, "hello", { ResponseURL: "hunter2" }])(
  "an event that is not CloudFormation's is refused: %j",
  async (event) => {
    const log = recordedLog();
    const refused = customResource(made, { clock: systemClock, log })(event, never);
    await expect(refused).rejects.toThrow("the event is not CloudFormation's request for a custom resource");
    await expect(refused).rejects.not.toThrow("hunter2");
  },
);
