import { randomUUID } from "node:crypto";
import type { EcrAction } from "../functions/ingest/ecr.ts";
import type { Push } from "./registry/serve-manifests.ts";
import type { Message } from "./state/message-queue.ts";

/** The account of this machine in events, in place of an account of ECR. */
export const localAccount = "000000000000";
const localRegion = "local";

/** The event that EventBridge would carry if the embedded registry were ECR. */
export function ecrPush({ repository, tag, digest }: Push, at: number): EcrAction & Readonly<Record<string, unknown>> {
  return {
    version: "0",
    id: randomUUID(),
    source: "aws.ecr",
    "detail-type": "ECR Image Action",
    account: localAccount,
    region: localRegion,
    time: new Date(at).toISOString(),
    resources: [],
    detail: {
      result: "SUCCESS",
      "action-type": "PUSH",
      "repository-name": repository,
      "image-digest": digest,
      "image-tag": tag,
    },
  };
}

/** What SQS hands to a function: the fields that ours read. */
export interface SqsEvent {
  readonly Records: readonly SqsRecord[];
}

interface SqsRecord {
  readonly messageId: string;
  readonly receiptHandle: string;
  readonly body: string;
  readonly attributes: { readonly ApproximateReceiveCount: string };
  readonly eventSource: "aws:sqs";
}

/** A message as SQS would deliver it. Its receipt handle identifies the delivery. */
export function sqsEvent(messages: readonly Message[]): SqsEvent {
  return {
    Records: messages.map(({ id, body, receives }) => ({
      messageId: id,
      receiptHandle: `${id}.${receives}`,
      body,
      attributes: { ApproximateReceiveCount: String(receives) },
      eventSource: "aws:sqs",
    })),
  };
}

/** The delivery that a receipt handle names. Throws a `RangeError` for anything else. */
export function parseReceiptHandle(handle: string): Pick<Message, "id" | "receives"> {
  const [, id = "", receives = ""] = /^([0-9]+)\.([0-9]+)$/.exec(handle) ?? [];
  if (id === "") throw new RangeError(`"${handle}" is not a receipt handle of ours`);
  return { id, receives: Number(receives) };
}
