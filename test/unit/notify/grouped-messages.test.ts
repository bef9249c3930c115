import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Cause, EventRelation } from "../../../lib/core/event-relation.ts";
import type { JsonObject } from "../../../lib/core/json.ts";
import type { CauseGroups } from "../../../lib/core/ports/cause-groups.ts";
import { maxNamedWaiting } from "../../../lib/notify/group-text.ts";
import { isGroupedType } from "../../../lib/notify/grouped-types.ts";
import type { NotificationEvent } from "../../../lib/notify/notification-event.ts";
import { providers } from "../../../lib/notify/providers/providers.ts";
import { notifyWorld } from "./notify-world.ts";
import { kustomizationEvent, metadata } from "./sample-events.ts";

const apiVersion = "notification.toolkit.fluxcd.io/v1beta3";
const namespace = "retail";
const source: Cause = { kind: "GitRepository", namespace, name: "shop" };
const waitsFor = (cause: Cause, why?: string): EventRelation => ({
  ...{ kind: "waits", cause },
  ...(why === undefined ? {} : { why }),
});
const failed: EventRelation = { kind: "failed" };
const ready = (...from: Cause[]): EventRelation => ({ kind: "recovered", from });

/** A world with a chat for all Kustomizations and GitRepositories. */
function world({
  alert = {},
  annotations = {},
  groups,
  kinds = ["Kustomization", "GitRepository"],
  type = "slack",
}: {
  alert?: JsonObject;
  annotations?: Readonly<Record<string, string>>;
  groups?: CauseGroups;
  kinds?: readonly string[];
  type?: string;
} = {}) {
  const one = notifyWorld({}, groups === undefined ? {} : { groups });
  const eventSources = kinds.map((kind) => ({ kind, name: "*" }));
  one.apply({
    ...{ apiVersion, kind: "Alert", metadata: { name: "alert", namespace, annotations } },
    spec: { providerRef: { name: "chat" }, eventSources, ...alert },
  });
  const address = "https://hooks.example.test/T0";
  one.apply({ apiVersion, kind: "Provider", metadata: { name: "chat", namespace }, spec: { type, address } });
  const said = () => one.posted.splice(0).map(({ event }) => `${event.involvedObject.name}: ${event.message}`);
  return { ...one, said };
}
type World = ReturnType<typeof world>;

/** An event at the present second of the world. */
function at(one: World, change: Partial<NotificationEvent>): NotificationEvent {
  return kustomizationEvent({ timestamp: new Date(one.state.now).toISOString().replace(/\.\d+Z$/, "Z"), ...change });
}

const waitText = "Dependencies do not meet ready condition, retrying in 30s";
function waiting(one: World, name: string, change: Partial<NotificationEvent> = {}): NotificationEvent {
  const involvedObject = { ...kustomizationEvent().involvedObject, name };
  return at(one, { involvedObject, message: waitText, reason: "DependencyNotReady", ...change });
}
function finished(one: World, name: string): NotificationEvent {
  const message = "Reconciliation finished in 1s, next run in 10m";
  return waiting(one, name, { message, reason: "Succeeded", metadata: metadata({ commit_status: "update" }) });
}
const ofSource = { ...source, apiVersion: "source.toolkit.fluxcd.io/v1" };
function down(one: World, message = "failed to checkout: unable to clone"): NotificationEvent {
  return at(one, { involvedObject: ofSource, severity: "error", reason: "GitOperationFailed", message });
}
function up(one: World): NotificationEvent {
  return at(one, { involvedObject: ofSource, reason: "Succeeded", message: "stored artifact for commit 'fix'" });
}
const names = Array.from({ length: maxNamedWaiting }, (_, n) => `app-${String(n).padStart(3, "0")}`);
const listed = (of: readonly string[]) => of.map((name) => `Kustomization/retail/${name}`).join("\n");
/** Each with what it waits for. */
const circle = [
  ["a", "b"],
  ["b", "c"],
  ["c", "a"],
] as const;
const pass = (one: World, ms: number) => void (one.state.now += ms);

describe("an outage, grouped into messages", () => {
  test("of a source with 200 waiting objects sends two messages: that it has begun, and that it is over", async () => {
    const one = world();
    await one.send(down(one), failed);
    for (const name of names) await one.send(waiting(one, name), waitsFor(source));
    pass(one, 600_000);
    for (const name of names) await one.send(waiting(one, name), waitsFor(source));
    await one.send(up(one), ready());
    for (const name of names) await one.send(finished(one, name), ready(source));
    expect(one.said()).toEqual([
      "shop: failed to checkout: unable to clone",
      `shop: stored artifact for commit 'fix'\n\n200 objects waited for it:\n${listed(names)}`,
    ]);
    expect([one.told(), one.log.lines]).toEqual([[], []]);
  });

  test("of a source that the Alert does not send is announced by the first waiting object and ended by the first ready one", async () => {
    const one = world({ kinds: ["Kustomization"] });
    await one.send(down(one), failed);
    for (const name of names) await one.send(waiting(one, name), waitsFor(source));
    await one.send(up(one), ready());
    for (const name of names) await one.send(finished(one, name), ready(source));
    expect(one.said()).toEqual([
      `app-000: ${waitText}\n\nIt waits for GitRepository/retail/shop. Messages of other objects that wait for it are not sent one by one.`,
      `app-000: GitRepository/retail/shop is ready again. 200 objects waited for it:\n${listed(names)}`,
    ]);
  });

  test("whose cause changes is announced once more, with the waiting objects", async () => {
    const one = world();
    await one.send(down(one), failed);
    await one.send(waiting(one, "app"), waitsFor(source));
    pass(one, 1_000);
    await one.send(down(one, "authentication required"), failed);
    expect(one.said()).toEqual([
      "shop: failed to checkout: unable to clone",
      "shop: authentication required\n\n1 object waits for it:\nKustomization/retail/app",
    ]);
  });

  test("of a dependency whose reason changes is announced once more by one waiting object, not by each", async () => {
    const one = world({ kinds: ["Kustomization"] });
    const base = { ...source, kind: "Kustomization", namespace: "other", name: "base" };
    for (const why of ["BuildFailed", "HealthCheckFailed", "BuildFailed"]) {
      for (const name of ["a", "b", "c"]) await one.send(waiting(one, name), waitsFor(base, why));
      pass(one, 600_000);
    }
    expect(one.said().map((text) => text.slice(0, 3))).toEqual(["a: ", "a: "]);
  });

  test("is announced once for a chain of waiting objects, and its end names them all", async () => {
    const one = world();
    const of = (name: string): Cause => ({ kind: "Kustomization", namespace, name });
    await one.send(down(one), failed);
    await one.send(waiting(one, "a"), waitsFor(source));
    await one.send(waiting(one, "b"), waitsFor(of("a"), "DependencyNotReady"));
    await one.send(waiting(one, "c"), waitsFor(of("b"), "DependencyNotReady"));
    await one.send(up(one), ready());
    await one.send(finished(one, "a"), ready(source));
    await one.send(finished(one, "b"), ready(source, of("a")));
    await one.send(finished(one, "c"), ready(source, of("b")));
    expect(one.said()).toEqual([
      "shop: failed to checkout: unable to clone",
      `shop: stored artifact for commit 'fix'\n\n3 objects waited for it:\n${listed(["a", "b", "c"])}`,
    ]);
  });

  test("sends its own message for an object that has waited and then fails itself", async () => {
    const one = world();
    const a: Cause = { kind: "Kustomization", namespace, name: "a" };
    await one.send(down(one), failed);
    await one.send(waiting(one, "a"), waitsFor(source));
    await one.send(up(one), ready());
    await one.send(waiting(one, "a", { severity: "error", message: "build failed" }), failed);
    pass(one, 1_000);
    await one.send(waiting(one, "b"), waitsFor(a, "BuildFailed"));
    await one.send(finished(one, "a"), ready(source));
    expect(one.said().map((text) => text.split("\n", 1)[0])).toEqual([
      "shop: failed to checkout: unable to clone",
      "shop: stored artifact for commit 'fix'",
      "a: build failed",
      "a: Kustomization/retail/a is ready again. 1 object waited for it:",
    ]);
  });

  test("is announced at most twice for objects that wait for each other in a circle", async () => {
    const one = world();
    const of = (name: string): Cause => ({ kind: "Kustomization", namespace, name });
    for (const [name, other] of [...circle, ...circle] as const) {
      await one.send(waiting(one, name), waitsFor(of(other)));
      pass(one, 300_000);
    }
    expect(one.said().map((text) => text.slice(0, 3))).toEqual(["a: ", "b: "]);
  });

  test("names up to the limit of 200 waiting objects, and counts the rest", async () => {
    const one = world();
    await one.send(down(one), failed);
    const more = [...names, ...Array.from({ length: 12 }, (_, n) => `more-${n}`)];
    for (const name of more) await one.send(waiting(one, name), waitsFor(source));
    await one.send(up(one), ready());
    const [, last = ""] = one.said();
    expect(last).toContain("212 objects waited for it:\n");
    expect(last.endsWith("Kustomization/retail/app-199\nand 12 more")).toBe(true);
  });

  test("without waiting objects is announced as in Flux", async () => {
    const one = world();
    await one.send(down(one), failed);
    await one.send(up(one), ready());
    expect(one.said()).toEqual(["shop: failed to checkout: unable to clone", "shop: stored artifact for commit 'fix'"]);
  });

  test("ends for an Alert of errors too, without the text of the event that it does not send", async () => {
    const one = world({ alert: { eventSeverity: "error" } });
    await one.send(down(one), failed);
    await one.send(waiting(one, "app", { severity: "error", reason: "ArtifactFailed" }), waitsFor(source));
    await one.send(up(one), ready());
    expect(one.said()).toEqual([
      "shop: failed to checkout: unable to clone",
      "shop: GitRepository/retail/shop is ready again. 1 object waited for it:\nKustomization/retail/app",
    ]);
  });

  test("does not end because of a ready object that has not waited", async () => {
    const one = world();
    await one.send(down(one), failed);
    await one.send(waiting(one, "app"), waitsFor(source));
    one.said();
    await one.send(finished(one, "other"), ready(source));
    await one.send(finished(one, "app"), ready());
    expect(one.said()).toEqual([]);
  });

  test("that returns is announced again", async () => {
    const one = world({ kinds: ["Kustomization"] });
    for (let round = 0; round < 2; round++) {
      await one.send(waiting(one, "app"), waitsFor(source));
      pass(one, 1_000);
      await one.send(finished(one, "app"), ready(source));
      pass(one, 600_000);
    }
    expect(one.said().map((text) => text.slice(0, 18))).toEqual([
      ...["app: Dependencies ", "app: GitRepository"],
      ...["app: Dependencies ", "app: GitRepository"],
    ]);
  });

  test("ends even if the event that ends it has the same text as one some minutes ago", async () => {
    const one = world();
    for (let round = 0; round < 2; round++) {
      await one.send(down(one, `failure ${round}`), failed);
      await one.send(waiting(one, `app-${round}`), waitsFor(source));
      await one.send(up(one), ready());
      pass(one, 60_000);
    }
    expect(one.said().at(-1)).toBe(
      "shop: stored artifact for commit 'fix'\n\n1 object waited for it:\nKustomization/retail/app-1",
    );
  });

  test("that returns within five minutes also ends, even if no object waited for it", async () => {
    const one = world();
    for (let round = 0; round < 2; round++) {
      await one.send(down(one, `failure ${round}`), failed);
      await one.send(up(one), ready());
      pass(one, 60_000);
    }
    await one.send(up(one), ready());
    expect(one.said()).toEqual([
      ...["shop: failure 0", "shop: stored artifact for commit 'fix'"],
      ...["shop: failure 1", "shop: stored artifact for commit 'fix'"],
    ]);
  });

  test("of a dependency ends for an Alert of errors, which sends no event of waiting objects", async () => {
    const one = world({ alert: { eventSeverity: "error" } });
    const base: Cause = { kind: "Kustomization", namespace, name: "base" };
    await one.send(waiting(one, "base", { severity: "error", reason: "BuildFailed", message: "no such file" }), failed);
    for (const name of ["b", "a"]) await one.send(waiting(one, name), waitsFor(base));
    await one.send(finished(one, "base"), ready());
    await one.send(finished(one, "a"), ready(base));
    expect(one.said()).toEqual([
      "base: no such file",
      "base: Kustomization/retail/base is ready again. 2 objects waited for it:\nKustomization/retail/a\nKustomization/retail/b",
    ]);
  });

  test("names no object as waiting that the Alert does not select", async () => {
    const alert = { eventSeverity: "error", exclusionList: ["Dependencies"] };
    const one = world({ alert });
    await one.send(down(one), failed);
    await one.send(waiting(one, "a"), waitsFor(source));
    await one.send(up(one), ready());
    expect(one.said()).toEqual(["shop: failed to checkout: unable to clone"]);
  });
});

describe("a message is not held back", () => {
  test("if it is an error without another object as its cause", async () => {
    const one = world();
    await one.send(down(one), failed);
    await one.send(waiting(one, "app"), waitsFor(source));
    await one.send(waiting(one, "app", { severity: "error", message: "build failed" }), failed);
    await one.send(waiting(one, "app", { severity: "error", message: "contested" }));
    expect(one.said().slice(1)).toEqual(["app: build failed", "app: contested"]);
  });

  test.each([
    { name: "an Alert that disables grouping", given: { annotations: { "sluice.dev/group": "false" } } },
    { name: "a Provider that programs read", given: { type: "generic" } },
  ])("for $name", async ({ given }) => {
    const one = world(given);
    await one.send(down(one), failed);
    for (const name of ["a", "b"]) await one.send(waiting(one, name), waitsFor(source));
    await one.send(up(one), ready());
    expect(one.said()).toEqual([
      "shop: failed to checkout: unable to clone",
      `a: ${waitText}`,
      `b: ${waitText}`,
      "shop: stored artifact for commit 'fix'",
    ]);
  });

  test("while the state cannot be read or written, and the log says so", async () => {
    const away = async (): Promise<never> => {
      throw new Error("the table does not answer");
    };
    const one = world({ groups: { get: away, put: away, join: away, hasJoined: away, waiting: away } });
    await one.send(down(one), failed);
    for (const name of ["a", "b"]) await one.send(waiting(one, name), waitsFor(source));
    await one.send(up(one), ready());
    expect(one.said()).toEqual([
      "shop: failed to checkout: unable to clone",
      `a: ${waitText}`,
      `b: ${waitText}`,
      "shop: stored artifact for commit 'fix'",
    ]);
    expect(new Set(one.log.lines.map(({ message }) => message))).toEqual(new Set(["messages not grouped"]));
  });

  test("for long if the first message did not get into the queue", async () => {
    const one = world();
    one.state.queueFault = new Error("the queue does not answer");
    await expect(one.send(waiting(one, "a"), waitsFor(source))).rejects.toThrow("the queue does not answer");
    one.state.queueFault = undefined;
    await one.send(waiting(one, "b"), waitsFor(source));
    expect(one.said()).toEqual([]);
    pass(one, 60_000);
    await one.send(waiting(one, "c"), waitsFor(source));
    expect(one.said().map((text) => text.slice(0, 3))).toEqual(["c: "]);
  });

  test("for any type of Provider that gets only some events, or all, or that programs read", () => {
    const special = Object.entries(providers).filter(([, of]) => of.class !== "other");
    expect(special.filter(([type]) => isGroupedType(type)).map(([type]) => type)).toEqual([]);
    const programs = ["azureeventhub", "eventbridge", "githubdispatch", "googlepubsub", "nats", "otel", "sns", "sqs"];
    expect(programs.filter(isGroupedType)).toEqual([]);
  });
});

/** What happens to a source and to those that wait for it, in any order; each may be told twice. */
const happening = fc.record({
  what: fc.constantFrom("is down", "is up", "waits", "is ready", "fails by itself"),
  name: fc.constantFrom("a", "b", "c"),
  isDoubled: fc.boolean(),
  seconds: fc.integer({ min: 0, max: 600 }),
});

test("in any order of events: each own error is sent once, and an outage is announced before its end, once each", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(happening, { maxLength: 30 }), async (story) => {
      const one = world();
      const expected: string[] = [];
      for (const [index, { isDoubled, name, seconds, what }] of story.entries()) {
        pass(one, seconds * 1_000);
        const text = `error ${index}`;
        const told = {
          "is down": [down(one, text), failed],
          "is up": [{ ...up(one), message: `stored ${index}` }, ready()],
          waits: [waiting(one, name), waitsFor(source)],
          "is ready": [finished(one, name), ready(source)],
          "fails by itself": [waiting(one, name, { severity: "error", message: text }), failed],
        } as const;
        const [event, relation] = told[what];
        if (event.severity === "error") expected.push(text);
        for (let times = 0; times < (isDoubled ? 2 : 1); times++) await one.send(event, relation);
      }
      const said = one.said();
      const errors = said.flatMap((text) => /error \d+/.exec(text)?.[0] ?? []);
      expect(errors).toEqual(expected);
      // Of the source alone: those that wait have no end of their own here.
      let isOpen = false;
      const unannounced = said.filter((text) => {
        const isEnd = text.includes("waited for it:") && (text.startsWith("shop:") || text.includes("GitRepository/"));
        const isBegin = !isEnd && (text.includes("It waits for") || text.startsWith("shop: error"));
        const isWrong = isEnd && !isOpen;
        if (isBegin || isEnd) isOpen = isBegin;
        return isWrong;
      });
      expect(unannounced).toEqual([]);
      expect(one.log.lines).toEqual([]);
    }),
  );
});
