import { request as requestPlain } from "node:http";
import { request as requestTls } from "node:https";
import { z } from "zod";
import { cutText } from "../../lib/core/cut-text.ts";
import { messageOf } from "../../lib/core/failure.ts";
import type { Clock } from "../../lib/core/ports/clock.ts";
import type { Log } from "../../lib/core/ports/log.ts";
import { Secret } from "../../lib/core/secret.ts";

/**
 * A request of CloudFormation's, as far as it is read:
 * https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/crpg-ref-requests.html
 */
const ResourceEvent = z.object({
  RequestType: z.enum(["Create", "Update", "Delete"]),
  /** A client that knows it can answer in our place. */
  ResponseURL: z.url().transform((url) => new Secret(url)),
  StackId: z.string().min(1),
  RequestId: z.string().min(1),
  LogicalResourceId: z.string().min(1),
  PhysicalResourceId: z.string().optional(),
  ResourceProperties: z.record(z.string(), z.unknown()).default({}),
  OldResourceProperties: z.record(z.string(), z.unknown()).default({}),
});
type ResourceEvent = z.infer<typeof ResourceEvent>;

/** What CloudFormation wants of a resource. */
export interface ResourceRequest {
  readonly type: "Create" | "Update" | "Delete";
  /** Unique among all resources of all stacks, and the same for as long as the resource is in its stack. */
  readonly resource: string;
  /** As its `create` named it; undefined for a create. */
  readonly physicalId: string | undefined;
  readonly properties: Readonly<Record<string, unknown>>;
  /** The properties before an update. */
  readonly oldProperties: Readonly<Record<string, unknown>>;
}

/** What became of it. */
export interface ResourceDone {
  /** The PhysicalResourceId. Where an update gives another one, CloudFormation deletes the resource of the former. */
  readonly physicalId: string;
  /** What `Fn::GetAtt` gives; stacks show it, so it holds no secret. */
  readonly attributes?: Readonly<Record<string, string>>;
}

/** Carries a request out. May be called again for the same request at any time. What it throws is the reason of the failure. */
export type HandleResource = (request: ResourceRequest, signal: AbortSignal) => Promise<ResourceDone>;

interface ResponderDeps {
  readonly clock: Clock;
  readonly log: Log;
  /** `sendAnswer` outside tests. */
  readonly send?: typeof sendAnswer;
}

/** The id of a resource whose create failed. CloudFormation then deletes that, though there is nothing. */
const neverMade = "sluice-never-made";
/** An answer may have 4,096 bytes. */
const maxReasonBytes = 2_000;
const maxAttributeBytes = 500;
/** The time that a handler leaves for the answer, all its tries included, in milliseconds. */
export const answerReserveMs = 30_000;
/** The limit for sending the answer; after the last try Lambda calls the function again, since CloudFormation does so without waiting. */
const tries = 4;
const pauseMs = 500;

/**
 * A handler of a custom resource: it answers CloudFormation itself, whatever happens, so that a stack never waits for an answer that
 * does not come. The signal has to leave enough time for the answer.
 *
 * @throws Error where the event is none of CloudFormation's, or where the answer cannot be sent. It names no URL.
 */
export function customResource(
  handle: HandleResource,
  { clock, log, send = sendAnswer }: ResponderDeps,
): (event: unknown, signal: AbortSignal) => Promise<void> {
  return async (event, signal) => {
    const parsed = ResourceEvent.safeParse(event);
    if (!parsed.success) {
      const fields = parsed.error.issues.map(({ path }) => path.join("."));
      throw new Error(`the event is not CloudFormation's request for a custom resource: look at ${fields.join(", ")}`);
    }
    const { data } = parsed;
    const about = { request: data.RequestType, stack: data.StackId, resource: data.LogicalResourceId };
    log.info("custom resource requested", about);
    const answer = await answerOf(data, handle, log, signal);
    const { Status: status, Reason: reason } = answer;
    if (status === "FAILED") log.error("custom resource failed", { ...about, reason });
    else log.info("custom resource done", about);
    const body = JSON.stringify({
      ...answer,
      StackId: data.StackId,
      RequestId: data.RequestId,
      LogicalResourceId: data.LogicalResourceId,
    });
    for (let attempt = 1; ; attempt++) {
      const fault = await send(data.ResponseURL, body);
      if (fault === undefined) return;
      log.warn("answer to CloudFormation not sent", { ...about, attempt, fault });
      if (attempt === tries) {
        throw new Error(
          `the answer to CloudFormation could not be sent (${fault}): a function in a VPC needs a way to S3, by a gateway endpoint or a NAT`,
        );
      }
      // Not under the signal: its time may be up, and the answer is what the reserve is for.
      await clock.sleep(pauseMs * attempt, new AbortController().signal);
    }
  };
}

interface Answer {
  readonly Status: "SUCCESS" | "FAILED";
  readonly Reason?: string;
  readonly PhysicalResourceId: string;
  readonly Data?: Readonly<Record<string, string>>;
}

async function answerOf(event: ResourceEvent, handle: HandleResource, log: Log, signal: AbortSignal): Promise<Answer> {
  const { RequestType: type, PhysicalResourceId: physicalId } = event;
  const wasNeverMade = type === "Delete" && physicalId === neverMade;
  try {
    const done = await handle(
      {
        type,
        resource: `${event.StackId}/${event.LogicalResourceId}`,
        physicalId,
        properties: event.ResourceProperties,
        oldProperties: event.OldResourceProperties,
      },
      signal,
    );
    const Data: Record<string, string> = {};
    for (const [key, value] of Object.entries(done.attributes ?? {})) Data[key] = cutText(value, maxAttributeBytes);
    // A delete answers the id that it was asked for.
    const id = type === "Delete" ? (physicalId ?? done.physicalId) : done.physicalId;
    return { Status: "SUCCESS", PhysicalResourceId: id, Data };
  } catch (error) {
    const said = signal.aborted ? "the function's time was up before it was done; deploy again" : messageOf(error);
    const reason = cutText(said.replaceAll(event.ResponseURL.reveal(), "[secret]"), maxReasonBytes);
    if (!wasNeverMade) return { Status: "FAILED", Reason: reason, PhysicalResourceId: physicalId ?? neverMade };
    // What made the create fail may make this fail too, and then the stack could not be deleted.
    log.warn("what a failed create may have left was not removed", { reason });
    return { Status: "SUCCESS", PhysicalResourceId: neverMade };
  }
}

const answerWithinMs = 5_000;

/** Puts the answer at the URL. What went wrong, if anything, in words that hold nothing of the URL. */
async function sendAnswer(url: Secret, body: string): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  const target = new URL(url.reveal());
  const begin = target.protocol === "http:" ? requestPlain : requestTls;
  const headers = { "content-type": "", "content-length": Buffer.byteLength(body) };
  const sending = begin(target, { method: "PUT", headers, timeout: answerWithinMs }, (response) => {
    response.resume();
    const { statusCode = 0 } = response;
    resolve(statusCode >= 200 && statusCode <= 299 ? undefined : `HTTP status ${statusCode}`);
  });
  sending.on("timeout", () => {
    resolve(`no answer within ${answerWithinMs / 1000} s`);
    sending.destroy();
  });
  sending.on("error", (error) => resolve("code" in error ? String(error.code) : "the connection failed"));
  sending.end(body);
  return promise;
}
