import { createHmac } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { ReceiverEntry } from "../../../lib/core/ports/receiver-index.ts";
import { maxMissingAgeMs, maxSecretAgeMs } from "../../../lib/receiver/secret-cache.ts";
import { maxUnknownAgeMs } from "../../../lib/receiver/unknown-paths.ts";
import { a, json, sha256OfA, signed } from "./data-set.ts";
import { readyWorld, receiverWorld, token } from "./receiver-world.ts";

describe("the token of a Receiver", () => {
  test("is read once for many deliveries, and again after a minute", async () => {
    const world = await readyWorld();
    expect(new Set(await Promise.all(Array.from({ length: 50 }, () => world.deliver())))).toEqual(new Set([200]));
    expect(world.secretReads).toHaveLength(1);
    world.state.now += maxSecretAgeMs - 1;
    await world.deliver();
    expect(world.secretReads).toHaveLength(1);
    world.state.now += 1;
    await world.deliver();
    expect(world.secretReads).toHaveLength(2);
  });

  test("that was replaced is read at once if a delivery comes to its new path", async () => {
    const world = await readyWorld({ type: "generic-hmac" });
    expect(await world.deliver(signed(sha256OfA))).toBe(200);
    world.secret({ token: "new" });
    await world.run();
    world.state.now += 1_000;
    const signature = `sha256=${createHmac("sha256", "new").update(a).digest("hex")}`;
    expect(await world.deliver(signed(signature))).toBe(200);
    expect(await world.deliver(signed(sha256OfA))).toBe(400);
  });

  test("that was replaced turns its old path into an unknown one, and the Receiver is run", async () => {
    const world = await readyWorld();
    const old = world.path();
    expect(await world.deliver()).toBe(200);
    world.secret({ token: "new" });
    world.state.now += maxSecretAgeMs;
    expect(await world.deliver()).toBe(404);
    expect(world.requested).toEqual(["OCIRepository/retail/shop", "Receiver/retail/shop-hook"]);
    await world.run();
    expect([await world.deliver(), await world.deliver({ uri: old })]).toEqual([200, 404]);
  });

  test("that became empty is refused, because anyone can sign with an empty key", async () => {
    const world = await readyWorld({ type: "github" });
    world.secret({ token: "" });
    const signature = `sha256=${createHmac("sha256", "").update(a).digest("hex")}`;
    expect(await world.deliver({ headers: { ...json, "X-Hub-Signature-256": signature }, body: a })).toBe(400);
    expect(await world.deliver({ headers: json, body: a })).toBe(400);
  });

  test("that is missing is not requested again for two seconds", async () => {
    const world = await readyWorld();
    world.delete("Secret", "token");
    expect([await world.deliver(), await world.deliver()]).toEqual([400, 400]);
    expect(world.secretReads).toHaveLength(1);
    world.secret({ token });
    world.state.now += maxMissingAgeMs;
    expect(await world.deliver()).toBe(200);
  });

  test("in a cluster that does not answer gives 400, and is requested again by the next delivery", async () => {
    const world = await readyWorld();
    world.state.isAway = true;
    expect(await world.deliver()).toBe(400);
    world.state.isAway = false;
    expect(await world.deliver()).toBe(200);
  });
});

describe("an unknown path", () => {
  test("is looked up once a second, so that a Receiver that gets it is served within a second", async () => {
    const world = receiverWorld();
    const uri = "/hook/3907e385660662cde070490705fcf1afafdc63e83e0c40e29f95a30a535c409e";
    expect([await world.deliver({ uri }), await world.deliver({ uri })]).toEqual([404, 404]);
    expect(world.found).toEqual([uri]);
    await world.ready();
    world.state.now += maxUnknownAgeMs;
    expect(await world.deliver({ uri })).toBe(200);
  });
});

describe("two Receivers with the same path", () => {
  test("are both served, and a failing one does not stop the other", async () => {
    const world = await readyWorld();
    // shop-hook of retail, and shop-hookre of tail: token, name and namespace are put together without a mark between them.
    const other = { ...world.keyOf("shop-hookre"), namespace: "tail" };
    const [found] = await world.receivers.find(world.path(), new AbortController().signal);
    if (found === undefined) throw new Error("no Receiver");
    world.alsoFound({ key: other, entry: { ...found.entry, state: "suspended" } });
    expect(await world.deliver()).toBe(200);
  });

  /** How an entry answers by itself, and what of it makes it answer so. */
  const answers = {
    200: {},
    500: { resources: [{ label: "x", group: "", version: "v1", kind: "x", namespace: "x", objects: [], fault: "x" }] },
    400: { type: "gitlab" },
    503: { state: "suspended" },
    404: { secret: "other" },
  } as const satisfies Readonly<Record<number, Partial<ReceiverEntry>>>;
  const mostSevereFirst = [500, 200, 400, 503] as const;
  const pairs = mostSevereFirst.flatMap((answer, index) =>
    [...mostSevereFirst.slice(index), 404 as const].flatMap((other) => [
      { first: answer, second: other, answer },
      { first: other, second: answer, answer },
    ]),
  );
  test.each(pairs)("that answer $first and $second give $answer", async ({ first, second, answer }) => {
    const world = await readyWorld();
    world.secret({ token: "another" }, "other");
    const [found] = await world.receivers.find(world.path(), new AbortController().signal);
    if (found === undefined) throw new Error("no Receiver");
    for (const one of [first, second]) {
      world.alsoFound({ key: found.key, entry: { ...found.entry, ...answers[one] } });
    }
    // The Receiver of the path itself: 503.
    world.receiver({ suspend: true });
    await world.run();
    expect(await world.deliver()).toBe(answer);
  });
});
