import { SendMessageCommand, type SQSClient } from "@aws-sdk/client-sqs";
import { z } from "zod";
import { domainOfRegion, partitionOfRegion } from "../core/partitions.ts";
import type { Clock } from "../core/ports/clock.ts";
import type { NotificationTargets, TargetMessage } from "../core/ports/notification-targets.ts";
import { type AwsConnection, regionalClients } from "./aws-connection.ts";
import { type AwsAction, AwsFault } from "./aws-fault.ts";
import { callAws } from "./call-aws.ts";
import { signedPost } from "./signed-post.ts";
import { queueAction, sqsClient } from "./sqs.ts";

export interface NotificationTargetsOptions {
  readonly connection: Pick<AwsConnection, "credentials" | "endpoint">;
  readonly clock: Pick<Clock, "now" | "sleep">;
  /** Whether objects of this namespace may use our identity for this topic, bus or queue. */
  readonly isAllowed: (namespace: string, arn: string) => boolean;
}

/** The source of events on a bus. Ingest takes events of this source too, but only those that tell of a changed source (docs/events.md). */
const eventSource = "sluice";

/** Topics, buses and queues of any region and account that our identity reaches. Their regions are those of their names. */
export function awsNotificationTargets({
  connection,
  clock,
  isAllowed,
}: NotificationTargetsOptions): NotificationTargets {
  const post = signedPost(clock, connection);
  const queues = regionalClients((region) => sqsClient({ ...connection, region }));
  const check = (namespace: string, arn: string): void => {
    if (isAllowed(namespace, arn)) return;
    throw new Error(
      `this installation does not lend its AWS identity to namespace ${namespace} for ${arn}: add it to the notificationTargets of this cluster in the installation`,
    );
  };
  return {
    async publish({ topicArn, subject, ...message }, signal) {
      check(message.namespace, topicArn);
      const body = new URLSearchParams({
        ...{ Action: "Publish", Version: "2010-03-31", TopicArn: topicArn, Subject: subject, Message: message.body },
        ...(isFifo(topicArn) ? { MessageGroupId: message.group, MessageDeduplicationId: message.id } : {}),
        ...Object.fromEntries(Object.entries(message.attributes).flatMap(formAttribute)),
      }).toString();
      const headers = { "content-type": "application/x-www-form-urlencoded; charset=utf-8" };
      await post(
        { action: actionOn("sns:Publish", `topic ${topicArn}`, topicArn), service: "sns", headers, body },
        signal,
      );
    },
    async putEvent({ namespace, busArn, detailType, detail, time }, signal) {
      check(namespace, busArn);
      const entry = {
        ...{ EventBusName: busArn, Source: eventSource, DetailType: detailType, Detail: detail },
        ...timeOf(time),
      };
      const headers = { "content-type": "application/x-amz-json-1.1", "x-amz-target": "AWSEvents.PutEvents" };
      const action = actionOn("events:PutEvents", `event bus ${busArn}`, busArn);
      const body = JSON.stringify({ Entries: [entry] });
      failIfRefused(await post({ action, service: "events", headers, body }, signal), action);
    },
    async send({ queueUrl, ...message }, signal) {
      const queue = { url: queueUrl, region: regionOfQueue(queueUrl) };
      check(message.namespace, arnOfQueue(queueUrl));
      const command = new SendMessageCommand({
        QueueUrl: queueUrl,
        MessageBody: message.body,
        MessageAttributes: queueAttributes(message),
        ...(isFifo(queueUrl) ? { MessageGroupId: message.group, MessageDeduplicationId: message.id } : {}),
      });
      const client: SQSClient = queues.of(queue.region);
      await callAws(queueAction("sqs:SendMessage", queue), (options) => client.send(command, options), signal);
    },
  };
}

function isFifo(name: string): boolean {
  return name.endsWith(".fifo");
}

/** The action in an ARN's region and account. */
function actionOn(name: string, resource: string, arn: string): AwsAction {
  const [, , , region = "", account] = arn.split(":");
  return { name, resource, region, account };
}

/** An attribute of a message in the query protocol. */
function formAttribute(
  [name, value]: readonly [string, string],
  index: number,
): readonly (readonly [string, string])[] {
  const entry = `MessageAttributes.entry.${index + 1}`;
  return [
    [`${entry}.Name`, name],
    [`${entry}.Value.DataType`, "String"],
    [`${entry}.Value.StringValue`, value],
  ];
}

function queueAttributes({ attributes }: Pick<TargetMessage, "attributes">) {
  return Object.fromEntries(
    Object.entries(attributes).map(([name, value]) => [name, { DataType: "String", StringValue: value }]),
  );
}

/** EventBridge wants seconds. An unreadable time is left out, and the time of arrival counts. */
function timeOf(text: string): { readonly Time?: number } {
  const ms = Date.parse(text);
  return Number.isNaN(ms) ? {} : { Time: Math.floor(ms / 1_000) };
}

const Answer = z.object({
  FailedEntryCount: z.number(),
  Entries: z.array(z.object({ ErrorCode: z.string().optional(), ErrorMessage: z.string().optional() })).default([]),
});

/** EventBridge answers 200 for events that it does not take. */
function failIfRefused(text: string, action: AwsAction): void {
  const answer = Answer.safeParse(parseJson(text));
  const what = `${action.name} on ${action.resource}`;
  if (!answer.success) throw new AwsFault("unavailable", "", `${what}: AWS's answer cannot be read`);
  const { Entries, FailedEntryCount } = answer.data;
  if (FailedEntryCount === 0) return;
  const [{ ErrorCode = "", ErrorMessage = "no reason" } = {}] = Entries;
  throw new AwsFault("refused", ErrorCode, `${what}: ${ErrorMessage}`);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The caller says what was expected.
    return undefined;
  }
}

function regionOfQueue(url: string): string {
  return /^https:\/\/sqs\.([a-z0-9-]+)\./.exec(url)?.[1] ?? "";
}

/** The ARN of the queue with this URL; the installation lists queues by ARN. */
export function arnOfQueue(url: string): string {
  const region = regionOfQueue(url);
  const [host = "", account = "", name = ""] = url.replace("https://", "").split("/");
  // The URL of a queue on another host is that of no queue.
  const isOwnHost = host === `sqs.${region}.${domainOfRegion(region)}`;
  return isOwnHost ? `arn:${partitionOfRegion(region)}:sqs:${region}:${account}:${name}` : url;
}
