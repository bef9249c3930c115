import { expect, test } from "vitest";
import {
  actionOnNotificationTarget,
  isAllowedNotificationTarget,
  isNotificationTarget,
} from "../../../../functions/settings/allowed-notification-targets.ts";

const topic = "arn:aws:sns:eu-west-1:123456789012:alerts";

test.each([
  [topic, "sns:Publish"],
  ["arn:aws:sns:eu-west-1:123456789012:alerts.fifo", "sns:Publish"],
  ["arn:aws-cn:events:cn-north-1:123456789012:event-bus/default", "events:PutEvents"],
  ["arn:aws:sqs:eu-west-1:123456789012:alerts", "sqs:SendMessage"],
  ["arn:aws:sqs:eu-west-1:123456789012:alerts.fifo", "sqs:SendMessage"],
])("%s is a notification target of type %s", (arn, action) => {
  expect(isNotificationTarget(arn)).toBe(true);
  expect(actionOnNotificationTarget(arn)).toBe(action);
});

test.each([
  "arn:aws:sns:eu-west-1:123456789012:*",
  "arn:aws:sns:eu-west-1:*:alerts",
  "arn:aws:sns:eu-west-1:123456789012:alerts:11111111-2222-3333-4444-555555555555",
  "arn:aws:events:eu-west-1:123456789012:rule/alerts",
  "arn:aws:s3:::alerts",
  "https://sqs.eu-west-1.amazonaws.com/123456789012/alerts",
  "",
])("%s is not a notification target", (arn) => {
  expect(isNotificationTarget(arn)).toBe(false);
  expect(() => actionOnNotificationTarget(arn)).toThrow("is not the ARN of a topic, an event bus or a queue");
});

test("a namespace may use only its listed notification targets", () => {
  const allowed = { apps: [topic] };
  expect(isAllowedNotificationTarget(allowed, "apps", topic)).toBe(true);
  expect(isAllowedNotificationTarget(allowed, "apps", `${topic}2`)).toBe(false);
  expect(isAllowedNotificationTarget(allowed, "web", topic)).toBe(false);
  expect(isAllowedNotificationTarget(allowed, "constructor", topic)).toBe(false);
});
