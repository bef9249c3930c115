import { describe, expect, test } from "vitest";
import { maxMessageBytes } from "../../../lib/core/ports/wake-ups.ts";
import type { Notification } from "../../../lib/notify/notification.ts";
import {
  NotificationMessage,
  notificationBody,
  notificationGroup,
  notificationId,
} from "../../../lib/notify/notification-message.ts";
import { notificationEventOf } from "./notification-event-of.ts";

const message: Notification = {
  cluster: "arn:aws:eks:eu-west-1:123456789012:cluster/prod",
  alert: { namespace: "apps", name: "on-call" },
  provider: { namespace: "apps", name: "slack" },
  eventKey: "ab".repeat(32),
  event: notificationEventOf(),
};
const read = (body: string) => NotificationMessage.parse(JSON.parse(body));
const withText = (text: string) => ({ ...message, event: notificationEventOf({ message: text }) });

describe("a message in the notification queue", () => {
  test("is read back unchanged", () => {
    expect(read(notificationBody(message))).toEqual(message);
  });

  test.each([
    ["plain text", "x".repeat(400_000)],
    ["characters that JSON writes with six bytes", "\u0001".repeat(400_000)],
    ["characters of several bytes", "é😀".repeat(100_000)],
  ])("is shortened in the event's message if it is too long: %s", (_, text) => {
    const body = notificationBody(withText(text));
    expect(Buffer.byteLength(body)).toBeLessThanOrEqual(maxMessageBytes);
    const { event } = read(body);
    expect(event.message.endsWith("...")).toBe(true);
    expect(text.startsWith(event.message.slice(0, -3))).toBe(true);
    expect(event.message.length).toBeGreaterThan(20_000);
    expect(event.metadata).toEqual(message.event.metadata);
  });

  test("is refused if its other parts are too long", () => {
    const event = notificationEventOf({ metadata: { note: "x".repeat(400_000) } });
    expect(() => notificationBody({ ...message, event })).toThrow("too long for a queue");
  });

  test("is ordered with others of the same object and Provider, whatever the Alert", () => {
    const group = notificationGroup(message);
    expect(group).toMatch(/^[0-9a-f]{64}$/);
    expect(notificationGroup({ ...message, alert: { namespace: "apps", name: "other" } })).toBe(group);
    expect(notificationGroup(withText("later"))).toBe(group);
    const ofOther = { ...message.event.involvedObject, name: "api" };
    expect(notificationGroup({ ...message, event: notificationEventOf({ involvedObject: ofOther }) })).not.toBe(group);
    expect(notificationGroup({ ...message, provider: { namespace: "apps", name: "teams" } })).not.toBe(group);
    expect(notificationGroup({ ...message, cluster: "other" })).not.toBe(group);
  });

  test("is deduplicated with the same event and Alert, but not with the same event five minutes later", () => {
    const id = notificationId(message);
    expect(notificationId(structuredClone(message))).toBe(id);
    expect(notificationId({ ...message, alert: { namespace: "apps", name: "other" } })).not.toBe(id);
    expect(notificationId({ ...message, eventKey: "cd".repeat(32) })).not.toBe(id);
    const later = notificationEventOf({ timestamp: "2026-11-22T12:05:00Z" });
    expect(notificationId({ ...message, event: later })).not.toBe(id);
  });
});
