import { CfnOutput, Stack } from "aws-cdk-lib";
import type { Construct } from "constructs";
import type { SluiceObservability } from "./observability.ts";
import { pascalCase } from "./queues.ts";
import { defaultNetwork } from "./service.ts";
import type { Sluice } from "./sluice.ts";

/** The functions that enter clusters: another account trusts their roles, or gives them access entries. */
const entering = ["reconcile", "receiver", "notify", "definitions", "configuration"];

/**
 * Makes outputs of what people and other stacks ask a deployed Sluice for: names, URLs of queues and webhooks, ARNs of roles. Call it once
 * all clusters are added. In the scope of a stack the outputs have the names of docs/deploy.md; those of a further network end in its name.
 */
export function sluiceOutputs(
  scope: Construct,
  sluice: Sluice,
  watch?: Pick<SluiceObservability, "pageTopic" | "ticketTopic">,
): void {
  const { account, region } = Stack.of(sluice);
  const output = (name: string, network: string, value: string, description: string) => {
    const suffix = network === defaultNetwork ? "" : pascalCase(network);
    new CfnOutput(scope, `${name}${suffix}`, { value, description });
  };
  const one = (name: string, value: string, description: string) => output(name, defaultNetwork, value, description);
  one("Table", sluice.table.tableName, "The state");
  one("Bucket", sluice.bucket.bucketName, "The artifacts");
  one("Installation", `${account}/${region}/${sluice.table.tableName}`, "sluice take-over --installation");
  one("HintsQueue", sluice.hintsQueue.queueUrl, "Pushes and events, in front of ingest");
  one("HintsDeadLetterQueue", sluice.hintsDeadLetters.queueUrl, "Hints that ingest did not take");
  one("UndeliveredEventsQueue", sluice.undeliveredEvents.queueUrl, "Events that EventBridge could not deliver");
  one("WakeUpDeadLetterQueue", sluice.wakeUpDeadLetters.queueUrl, "Wake-ups that no run ended");
  one("ParkedQueue", sluice.parkedQueue.queueUrl, "A message for each object that is parked");
  for (const [network, { queueUrl }] of Object.entries(sluice.wakeUpQueues))
    output("WakeUpQueue", network, queueUrl, "Wake-ups, in front of reconcile");
  for (const [network, { queueUrl }] of Object.entries(sluice.notificationQueues))
    output("NotificationQueue", network, queueUrl, "Notifications, in front of notify");
  if (sluice.notificationDeadLetters !== undefined) {
    const { queueUrl } = sluice.notificationDeadLetters;
    one("NotificationDeadLetterQueue", queueUrl, "Notifications that were not delivered");
  }
  for (const [network, url] of Object.entries(sluice.webhookUrls))
    output("WebhookUrl", network, url, "Before the path of a Receiver: sluice get receivers");
  for (const network of Object.keys(sluice.wakeUpQueues)) {
    for (const name of entering) {
      const isMade = (network === defaultNetwork ? name : `${name}-${network}`) in sluice.functions;
      if (!isMade) continue;
      const { roleArn } = sluice.functionFor(name, network).role;
      output(`${pascalCase(name)}Role`, network, roleArn, "What another account trusts or lets into a cluster");
    }
  }
  for (const [name, { description, command }] of Object.entries(sluice.redrive.commands))
    one(`Redrive${name}`, command, description);
  if (watch === undefined) return;
  for (const [name, { topicArn }] of Object.entries({ Page: watch.pageTopic, Ticket: watch.ticketTopic })) {
    one(`${name}Topic`, topicArn, `Where alarms go that ${name === "Page" ? "page" : "make a ticket"}`);
    one(
      `Subscribe${name}`,
      `aws sns subscribe --region ${region} --topic-arn ${topicArn} --protocol email --notification-endpoint ADDRESS`,
      "Sends these alarms to an address as well",
    );
  }
}
