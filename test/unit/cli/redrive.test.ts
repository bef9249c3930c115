import { Readable } from "node:stream";
import { describe, expect, test } from "vitest";
import { type Moving, maxRedriven, moveLetters, type Redriven } from "../../../cli/redrive.ts";
import { run } from "../../../cli/run.ts";
import { terminal } from "../../../cli/terminal.ts";
import type { DeadLetterQueue, StoredLetter } from "../../../lib/core/ports/dead-letter-queue.ts";
import { notificationBody } from "../../../lib/notify/notification-message.ts";
import { never } from "../../contract/state-back-end.ts";
import { notificationEventOf } from "../notify/notification-event-of.ts";

const hints = "https://sqs.eu-west-1.amazonaws.com/123456789012/Hints";
const event = (repository: string): string =>
  JSON.stringify({ source: "aws.ecr", "detail-type": "ECR Image Action", detail: { "repository-name": repository } });
const letter = (id: string, body: string, more: Partial<StoredLetter> = {}): StoredLetter => ({
  ...{ id, handle: id, body, sentAt: 0, source: hints },
  ...more,
});

/** A queue in memory whose messages are hidden by a receive, and what a command said about it. */
function redriveWorld(letters: readonly StoredLetter[], onSend: (id: string) => void = () => {}) {
  const waiting = new Map(letters.map((one) => [one.id, one]));
  const hidden = new Set<string>();
  const sent: string[] = [];
  let said = "";
  const write = (text: string): void => void (said += text);
  const queue: DeadLetterQueue = {
    async receive() {
      const given = [...waiting.values()].filter(({ id }) => !hidden.has(id)).slice(0, 10);
      for (const { id } of given) hidden.add(id);
      return given;
    },
    async send({ body, group }, url) {
      const id = `copy-${sent.length}`;
      onSend(id);
      sent.push([body, url, ...(group === undefined ? [] : [group])].join(" "));
      return id;
    },
    remove: async ({ id }) => void waiting.delete(id),
    release: async ({ id }) => void hidden.delete(id),
  };
  const move = (what: Redriven, more: Partial<Moving> = {}) =>
    moveLetters(what, { queue, terminal: terminal(write, write), limit: 1_000, dryRun: false, ...more }, never);
  return { move, sent, waiting, hidden, said: () => said };
}

describe("sluice redrive", () => {
  test("sends each event back to the queue that it came from, and then removes it", async () => {
    const world = redriveWorld([letter("a", event("shop")), letter("b", event("web"), { group: "g" })]);
    await world.move("hints");
    expect(world.sent).toEqual([`${event("shop")} ${hints}`, `${event("web")} ${hints} g`]);
    expect(world.waiting.size).toBe(0);
    expect(world.said()).toContain("aws.ecr ECR Image Action shop");
    expect(world.said()).toContain("✔ 2 messages moved, 0 dropped, 0 left");
  });

  test("with --dry-run shows the waiting messages, moves nothing and hides nothing", async () => {
    const world = redriveWorld([letter("a", event("shop"), { error: "NO_PERMISSIONS: denied" })]);
    await world.move("undelivered", { to: hints, dryRun: true });
    expect([world.sent, world.waiting.size, world.hidden.size]).toEqual([[], 1, 0]);
    expect(world.said()).toContain("NO_PERMISSIONS: denied");
    expect(world.said()).toContain("► 1 messages would be moved, 0 dropped, 0 left");
  });

  test("drops ticks of the schedule, and leaves messages that are not from Sluice", async () => {
    const world = redriveWorld([letter("tick", "{}"), letter("other", "hello"), letter("a", event("shop"))]);
    await world.move("undelivered", { to: hints });
    expect([...world.waiting.keys()]).toEqual(["other"]);
    expect(world.said()).toContain("1 messages moved, 1 dropped, 1 left");
    expect(world.said()).toContain("no event");
  });

  test("moves wake-ups, sweeps and looks, but no events among them", async () => {
    const key = "home/kustomize.toolkit.fluxcd.io/Kustomization/apps/web";
    const bodies = [JSON.stringify({ key }), '{"sweep":"home"}', event("shop")];
    const world = redriveWorld(bodies.map((body) => letter(body, body)));
    await world.move("wake-ups");
    expect(world.sent).toHaveLength(2);
    expect([...world.waiting.keys()]).toEqual([event("shop")]);
  });

  test("moves notifications in their group, and shows their objects, reasons and Alerts", async () => {
    const involvedObject = { kind: "Kustomization", namespace: "apps", name: "web" };
    const body = notificationBody({
      ...{ cluster: "home", eventKey: "k", event: notificationEventOf({ involvedObject }) },
      alert: { namespace: "apps", name: "on-call" },
      provider: { namespace: "apps", name: "slack" },
    });
    const fifo = `${hints}.fifo`;
    const world = redriveWorld([letter("a", body, { group: "g", source: fifo }), letter("b", event("shop"))]);
    await world.move("notifications");
    expect(world.sent).toEqual([`${body} ${fifo} g`]);
    expect([...world.waiting.keys()]).toEqual(["b"]);
    expect(world.said()).toContain("Kustomization/apps/web HealthCheckFailed for apps/on-call");
    expect(world.said()).toContain("no notification");
  });

  test("leaves a message if SQS does not name its queue, and says which option to give", async () => {
    const world = redriveWorld([{ id: "a", handle: "a", body: event("shop"), sentAt: 0 }]);
    await world.move("hints");
    expect(world.sent).toEqual([]);
    expect(world.said()).toContain("give --to");
  });

  test("ends if a copy fails again and comes back", async () => {
    const world = redriveWorld([letter("a", event("shop"))], (id) => world.waiting.set(id, letter(id, event("shop"))));
    await world.move("hints");
    expect(world.sent).toHaveLength(1);
    expect([...world.waiting.keys()]).toEqual(["copy-0"]);
  });

  test("moves as many as --limit, makes the others visible at once, and says that there may be more", async () => {
    const world = redriveWorld(Array.from({ length: 30 }, (_, number) => letter(`m${number}`, event("shop"))));
    await world.move("hints", { limit: 15 });
    expect([world.sent.length, world.waiting.size, [...world.hidden].filter((id) => world.waiting.has(id))]).toEqual([
      15,
      15,
      [],
    ]);
    expect(world.said()).toContain("there may be more: --limit is 15");
  });

  test("that cannot send reports how many were moved before, and removes none that was not sent", async () => {
    const world = redriveWorld([letter("a", event("one")), letter("b", event("two"))], (id) => {
      if (id === "copy-1") throw new Error("sqs:SendMessage on queue Hints: denied");
    });
    await expect(world.move("hints")).rejects.toThrow(
      "sqs:SendMessage on queue Hints: denied; 1 messages were moved before, and none is lost",
    );
    expect([...world.waiting.keys()]).toEqual(["b"]);
  });
});

const role = "arn:aws:iam::123456789012:role/Redrive";
const from = hints.replace("Hints", "HintsDeadLetters");

test.each([
  {
    what: "parked",
    more: [],
    says: '"parked" is not a dead-letter queue: write one of hints, undelivered, wake-ups, notifications',
  },
  { what: "hints", more: ["--from", "HintsDeadLetters"], says: '--from "HintsDeadLetters" is not the URL of a queue' },
  { what: "hints", more: ["--role", "Redrive"], says: '--role "Redrive" is not the ARN of a role' },
  { what: "hints", more: ["--limit", "all"], says: '--limit must be a whole number from 1 to 10000, not "all"' },
  { what: "hints", more: ["--limit", String(maxRedriven + 1)], says: 'from 1 to 10000, not "10001"' },
  { what: "hints", more: ["--to", hints.replace("eu-west-1", "us-east-1")], says: "give two of one region" },
  { what: "undelivered", more: [], says: "--to is required: EventBridge does not say where an event was to go" },
])("sluice redrive $what $more is refused before any request to AWS", async ({ what, more, says }) => {
  let said = "";
  const write = (text: string): void => void (said += text);
  const code = await run(["redrive", what, "--role", role, "--from", from, ...more], {
    terminal: terminal(write, write),
    ...{ env: {}, homeDir: "/nonexistent", cwd: "/nonexistent", stdin: Readable.from([]), onSignal: () => {} },
    signal: never,
    exit: () => {
      throw new Error("exit");
    },
  });
  expect([code, said]).toEqual([1, expect.stringContaining(says)]);
});
