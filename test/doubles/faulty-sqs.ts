import { z } from "zod";
import { type Changed, type FaultyWire, faultyWire, type WireFault } from "./faulty-wire.ts";
import { type SeenRequest, seenRequest } from "./seen-request.ts";

/**
 * The faults of SQS and of the connection to it. `throttled`, `broken`: its answer says so. `doubled`: a message is stored twice. `leftOver`:
 * half of a batch, rounded up, is refused. `dropped`, `lost`, `silent`: as on any connection.
 */
export type SqsFault = "throttled" | "broken" | "doubled" | "leftOver" | "dropped" | "lost" | "silent";

/** Twelve hours: longer than any test. */
const hiddenSeconds = 43_200;
/** The attribute that holds the delay of a message in seconds. */
export const delayAttribute = "delaySeconds";

const Send = z.looseObject({ DelaySeconds: z.number().default(0) });
const Hide = z.looseObject({ ReceiptHandle: z.string(), VisibilityTimeout: z.number() });
const Batch = z.looseObject({ Entries: z.array(z.looseObject({ Id: z.string() })) });
const Answer = z.looseObject({ Failed: z.array(z.unknown()).optional() });

export interface FaultySqs extends FaultyWire {
  /** For how long the message in hand was hidden since the last look, in seconds; undefined if no such call has arrived. */
  hiddenFor(receiptHandle: string): number | undefined;
}

/**
 * A connection to SQS with the faults of `faultOf`; undefined lets a request pass. The test controls time: a message is stored
 * at once with its delay as an attribute, and a received message stays hidden until the test brings it back.
 */
export async function faultySqs(
  target: string,
  faultOf: (request: SeenRequest) => SqsFault | undefined,
): Promise<FaultySqs> {
  const hidden = new Map<string, number>();
  const wire = await faultyWire(target, (request, _, body) => {
    const asked = seenRequest(request);
    const timeless = withoutTime(asked.action, body.toString(), (handle, seconds) => hidden.set(handle, seconds));
    return wireFault(faultOf(asked), asked.action, timeless);
  });
  return {
    ...wire,
    hiddenFor(receiptHandle) {
      const seconds = hidden.get(receiptHandle);
      hidden.delete(receiptHandle);
      return seconds;
    },
  };
}

function withoutTime(action: string, body: string, onHide: (handle: string, seconds: number) => void): Changed {
  const asked: unknown = JSON.parse(body);
  switch (action) {
    case "SendMessage": {
      const { DelaySeconds: delay, ...rest } = Send.parse(asked);
      const MessageAttributes = { [delayAttribute]: { DataType: "Number", StringValue: String(delay) } };
      return { onward: JSON.stringify({ ...rest, MessageAttributes }) };
    }
    case "ChangeMessageVisibility": {
      const { ReceiptHandle: handle, VisibilityTimeout: seconds } = Hide.parse(asked);
      return {
        onward: JSON.stringify({ ...Hide.parse(asked), VisibilityTimeout: hiddenSeconds }),
        answerOf(status, said) {
          if (status === 200) onHide(handle, seconds);
          return said;
        },
      };
    }
    default:
      return { onward: body };
  }
}

function wireFault(fault: SqsFault | undefined, action: string, asked: Changed): WireFault {
  switch (fault) {
    case undefined:
      return asked;
    case "throttled":
      return refused(400, "RequestThrottled");
    case "broken":
      return refused(500, "InternalFailure");
    case "doubled":
      return action === "SendMessage" ? { ...asked, copies: 2 } : asked;
    case "leftOver":
      return action === "DeleteMessageBatch" ? inPart(asked.onward) : asked;
    case "dropped":
      return "dropped";
    case "lost":
    case "silent":
      return { ...asked, unanswered: fault };
  }
}

function inPart(body: string): WireFault {
  const { Entries: entries, ...rest } = Batch.parse(JSON.parse(body));
  const done = Math.floor(entries.length / 2);
  const Failed = entries
    .slice(done)
    .map(({ Id }) => ({ Id, Code: "InternalError", Message: "said by the test", SenderFault: false }));
  if (done === 0) return { status: 200, headers, body: JSON.stringify({ Failed }) };
  return {
    onward: JSON.stringify({ ...rest, Entries: entries.slice(0, done) }),
    answerOf: (_, said) => JSON.stringify({ ...Answer.parse(JSON.parse(said)), Failed }),
  };
}

const headers = { "content-type": "application/x-amz-json-1.0" };

function refused(status: number, type: string): WireFault {
  const body = JSON.stringify({ __type: `com.amazonaws.sqs#${type}`, message: "said by the test" });
  return { status, headers, body };
}
