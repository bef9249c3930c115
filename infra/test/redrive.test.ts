import { Stack } from "aws-cdk-lib";
import { Key } from "aws-cdk-lib/aws-kms";
import { expect, test } from "vitest";
import { z } from "zod";
import { sluiceOutputs } from "../lib/outputs.ts";
import { Sluice } from "../lib/sluice.ts";
import { checkedApp, env, resourcesOf, type TemplateFile, templateOf } from "./synthesise.ts";

const stack = new Stack(checkedApp(), "Sluice", { env });
sluiceOutputs(
  stack,
  new Sluice(stack, "Sluice", {
    encryptionKey: new Key(stack, "Key", { enableKeyRotation: true }),
    notifications: true,
  }),
);
const template = templateOf(stack);

/** Whom the policy of each queue excepts from the denial of all senders, by the queue. */
function exceptions(of: TemplateFile): Readonly<Record<string, string>> {
  const Policy = z.looseObject({ Queues: z.array(z.object({ Ref: z.string() })), PolicyDocument: z.json() });
  return Object.fromEntries(
    Object.values(resourcesOf(of, "AWS::SQS::QueuePolicy")).map(({ Properties }) => {
      const { Queues, PolicyDocument } = Policy.parse(Properties);
      return [Queues[0]?.Ref ?? "", JSON.stringify(PolicyDocument)];
    }),
  );
}

test("the role that moves dead letters may be assumed by users of the account whose policies allow it, and by no others", () => {
  const roles = Object.entries(resourcesOf(template, "AWS::IAM::Role")).filter(([id]) => id.includes("Redrive"));
  expect(roles.map(([, { Properties }]) => Properties["AssumeRolePolicyDocument"])).toMatchObject([
    {
      Statement: [
        {
          Action: "sts:AssumeRole",
          Effect: "Allow",
          Principal: { AWS: `arn:aws:iam::${env.account}:root` },
        },
      ],
    },
  ]);
});

test("the role that moves dead letters receives from dead-letter queues, sends to hints, wake-ups and notifications, no more", () => {
  const [policy] = Object.entries(resourcesOf(template, "AWS::IAM::Policy")).filter(([id]) => id.includes("Redrive"));
  const text = JSON.stringify(policy?.[1].Properties["PolicyDocument"]);
  expect(JSON.parse(text)).toMatchObject({
    Statement: [
      { Sid: "TakeDeadLetters", Action: ["sqs:ChangeMessageVisibility", "sqs:DeleteMessage", "sqs:ReceiveMessage"] },
      { Sid: "SendThemBack", Action: "sqs:SendMessage" },
      { Sid: "UseKey", Action: ["kms:Decrypt", "kms:GenerateDataKey"] },
    ],
  });
  const taken = ["HintsDeadLetters", "UndeliveredEvents", "WakeUpDeadLetters", "NotificationDeadLetters"];
  const named = [...taken, "Hints", "WakeUpsDefault", "NotificationsDefault"];
  const found = [...text.matchAll(/"Fn::GetAtt":\["Sluice(\w+)","Arn"\]/g)].map(([, id]) => id);
  expect(found).toEqual(expect.arrayContaining(named));
});

test("the policies of the target queues exempt this role from their denial, and those of dead letters do not", () => {
  const except = Object.entries(exceptions(template)).flatMap(([queue, text]) =>
    text.includes("RedriveRole") ? [queue] : [],
  );
  expect(except.toSorted((a, b) => a.localeCompare(b))).toEqual([
    "SluiceHints",
    "SluiceNotificationsDefault",
    "SluiceWakeUpsDefault",
  ]);
});

test("the outputs of the stack are the redrive commands", () => {
  const outputs = z.record(z.string(), z.object({ Value: z.json() })).parse(template["Outputs"]);
  const commands = Object.entries(outputs).flatMap(([id, { Value }]) =>
    id.startsWith("Redrive") ? [JSON.stringify(Value)] : [],
  );
  expect(commands).toEqual([
    expect.stringMatching(/sluice redrive hints --role .*RedriveRole.* --from .*SluiceHintsDeadLetters/),
    expect.stringMatching(/redrive undelivered --role .* --from .*SluiceUndeliveredEvents.* --to .*SluiceHints/),
    expect.stringMatching(/redrive wake-ups --role .* --from .*SluiceWakeUpDeadLetters/),
    expect.stringMatching(/redrive notifications --role .* --from .*SluiceNotificationDeadLetters/),
  ]);
});
