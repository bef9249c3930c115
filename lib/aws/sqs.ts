import { ChangeMessageVisibilityCommand, SendMessageCommand, SQSClient } from "@aws-sdk/client-sqs";
import { digestOf } from "../core/digest.ts";
import { deadLetterBody, lookBody, sweepBody, wakeUpBody } from "../core/ports/message-body.ts";
import type { DeadLetters, LookRequests, SweepRequests, WakeUps } from "../core/ports/wake-ups.ts";
import { clusterOfText } from "../core/work-key.ts";
import { type AwsConnection, clientConfig } from "./aws-connection.ts";
import { type AwsAction, AwsFault } from "./aws-fault.ts";
import { callAws } from "./call-aws.ts";

export function sqsClient(connection: AwsConnection): SQSClient {
  return new SQSClient(clientConfig(connection));
}

/** A queue and its region. */
export interface Queue {
  /** `https://sqs.<region>.amazonaws.com/<account>/<name>`. */
  readonly url: string;
  readonly region: string;
}

/** A call to a queue. The URL contains its account. */
export function queueAction(name: string, { url, region }: Queue): AwsAction {
  return { name, resource: `queue ${url}`, region, account: /\/([0-9]{12})\/[^/]+$/.exec(url)?.[1] };
}

/** Sends a message about a cluster, which is visible `delayMs` later. */
async function post(
  client: SQSClient,
  queue: Queue,
  message: { readonly cluster: string; readonly body: string; readonly delayMs: number },
  signal: AbortSignal,
): Promise<void> {
  const { cluster, body, delayMs } = message;
  const command = new SendMessageCommand({
    QueueUrl: queue.url,
    MessageBody: body,
    DelaySeconds: Math.ceil(delayMs / 1000),
    MessageGroupId: messageGroup(cluster),
  });
  await callAws(queueAction("sqs:SendMessage", queue), (options) => client.send(command, options), signal);
}

/** Wake-ups on a standard queue. A send that was tried twice may have sent two messages; the work item makes that harmless. */
export function sqsWakeUps(client: SQSClient, queue: Queue): WakeUps {
  return {
    async send(wakeUp, delayMs, signal) {
      const message = { cluster: clusterOfText(wakeUp.key), body: wakeUpBody(wakeUp, delayMs), delayMs };
      await post(client, queue, message, signal);
    },
  };
}

/** Requests for the sweep of a cluster on the queue of its wake-ups. */
export function sqsSweepRequests(client: SQSClient, queue: Queue): SweepRequests {
  return { send: (cluster, signal) => post(client, queue, { cluster, body: sweepBody(cluster), delayMs: 0 }, signal) };
}

/** Looks at objects on the queue of their cluster's wake-ups. */
export function sqsLookRequests(client: SQSClient, queue: Queue): LookRequests {
  return {
    async send(look, delayMs, signal) {
      await post(client, queue, { cluster: clusterOfText(look.key), body: lookBody(look, delayMs), delayMs }, signal);
    },
  };
}

/** Dead letters as messages of their own queue. An alarm is set on its length. */
export function sqsDeadLetters(client: SQSClient, queue: Queue): DeadLetters {
  return {
    async send(letter, signal) {
      const command = new SendMessageCommand({
        QueueUrl: queue.url,
        MessageBody: deadLetterBody(letter),
        MessageGroupId: messageGroup(letter.key.cluster),
      });
      await callAws(queueAction("sqs:SendMessage", queue), (options) => client.send(command, options), signal);
    },
  };
}

const allowed = /^[!-~]{1,128}$/;

/**
 * All objects of a cluster share one message group, so that on a standard queue (fair queues) a cluster with a flood of messages does not
 * delay the others. An id that SQS does not accept is replaced by its digest.
 */
function messageGroup(cluster: string): string {
  return allowed.test(cluster) ? cluster : digestOf(cluster);
}

/** Twelve hours, the most that SQS takes. */
const maxVisibilitySeconds = 43_200;

/** The codes of SQS for a message that was removed or received again: we need not hide it any longer. */
const goneCodes = new Set(["InvalidParameterValue", "MessageNotInflight", "ReceiptHandleIsInvalid"]);

/**
 * Hides the message of a receipt handle for another `visibilityMs` from now, rounded up to seconds. Does nothing if the message
 * was removed or received again.
 */
export function sqsVisibility(
  client: SQSClient,
  queue: Queue,
): (receiptHandle: string, visibilityMs: number, signal: AbortSignal) => Promise<void> {
  return async (receiptHandle, visibilityMs, signal) => {
    const command = new ChangeMessageVisibilityCommand({
      QueueUrl: queue.url,
      ReceiptHandle: receiptHandle,
      VisibilityTimeout: Math.min(Math.ceil(visibilityMs / 1000), maxVisibilitySeconds),
    });
    const action = queueAction("sqs:ChangeMessageVisibility", queue);
    try {
      await callAws(action, (options) => client.send(command, options), signal);
    } catch (error) {
      if (!(error instanceof AwsFault && goneCodes.has(error.code))) throw error;
    }
  };
}
