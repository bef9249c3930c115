import { z } from "zod";
import { type FaultyWire, faultyWire, type WireFault } from "./faulty-wire.ts";
import { type SeenRequest, seenRequest } from "./seen-request.ts";

/**
 * The faults of DynamoDB and of the connection to it. `throttled`, `broken`: its answer says so. `conflict`: another transaction is at work
 * on an item. `leftOver`: a batch is done in part. `dropped`, `lost`, `silent`: as on any connection.
 */
export type DynamodbFault = "throttled" | "broken" | "conflict" | "leftOver" | "dropped" | "lost" | "silent";

const BatchGet = z.object({ RequestItems: z.record(z.string(), z.looseObject({ Keys: z.array(z.unknown()) })) });
const BatchWrite = z.object({ RequestItems: z.record(z.string(), z.array(z.unknown())) });
const Transaction = z.object({ TransactItems: z.array(z.unknown()) });

/** A connection to DynamoDB with the faults of `faultOf`; undefined lets a request pass. `seen` are the actions. */
export async function faultyDynamodb(
  target: string,
  faultOf: (request: SeenRequest) => DynamodbFault | undefined,
): Promise<FaultyWire> {
  const seen: string[] = [];
  const wire = await faultyWire(target, (request, _, body) => {
    const asked = seenRequest(request);
    seen.push(asked.action);
    return wireFault(faultOf(asked), asked.action, body.toString());
  });
  return { ...wire, seen };
}

function wireFault(fault: DynamodbFault | undefined, action: string, body: string): WireFault {
  switch (fault) {
    case undefined:
      return "pass";
    case "throttled":
      return refused(400, "ProvisionedThroughputExceededException");
    case "broken":
      return refused(500, "InternalServerError");
    case "conflict":
      return conflict(action, body);
    case "leftOver":
      return action === "BatchWriteItem" || action === "BatchGetItem" ? inPart(action, body) : "pass";
    case "dropped":
    case "lost":
    case "silent":
      return fault;
  }
}

function conflict(action: string, body: string): WireFault {
  if (action === "TransactWriteItems") {
    const { TransactItems: items } = Transaction.parse(JSON.parse(body));
    const reasons = items.map((_, index) => ({ Code: index === 0 ? "TransactionConflict" : "None" }));
    return refused(400, "TransactionCanceledException", { CancellationReasons: reasons });
  }
  const isWrite = action === "UpdateItem" || action === "PutItem" || action === "DeleteItem";
  return isWrite ? refused(400, "TransactionConflictException") : "pass";
}

/** Does the first half of a batch, rounded down, and leaves the rest to another call. */
function inPart(action: "BatchWriteItem" | "BatchGetItem", body: string): WireFault {
  const asked: unknown = JSON.parse(body);
  const isWrite = action === "BatchWriteItem";
  const done: Record<string, unknown> = {};
  const left: Record<string, unknown> = {};
  if (isWrite) {
    for (const [table, writes] of Object.entries(BatchWrite.parse(asked).RequestItems)) {
      const half = Math.floor(writes.length / 2);
      if (half > 0) done[table] = writes.slice(0, half);
      left[table] = writes.slice(half);
    }
  } else {
    for (const [table, { Keys: keys, ...rest }] of Object.entries(BatchGet.parse(asked).RequestItems)) {
      const half = Math.floor(keys.length / 2);
      if (half > 0) done[table] = { ...rest, Keys: keys.slice(0, half) };
      left[table] = { ...rest, Keys: keys.slice(half) };
    }
  }
  const unprocessed = isWrite ? { UnprocessedItems: left } : { UnprocessedKeys: left };
  if (Object.keys(done).length === 0) return { status: 200, headers, body: JSON.stringify(unprocessed) };
  return {
    onward: JSON.stringify({ RequestItems: done }),
    answerOf: (_, said) => JSON.stringify({ ...z.looseObject({}).parse(JSON.parse(said)), ...unprocessed }),
  };
}

const headers = { "content-type": "application/x-amz-json-1.0" };

function refused(status: number, type: string, more: object = {}): WireFault {
  const body = { __type: `com.amazonaws.dynamodb.v20120810#${type}`, message: "said by the test", ...more };
  return { status, headers, body: JSON.stringify(body) };
}
