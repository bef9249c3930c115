import { expect, test } from "vitest";
import { allEnded } from "../../../lib/core/all-ended.ts";

test("answers every result in order", async () => {
  const later = Promise.withResolvers<string>();
  const all = allEnded([later.promise, Promise.resolve(2)]);
  later.resolve("one");
  expect(await all).toEqual(["one", 2]);
});

test("a failure waits for the end of the others", async () => {
  const slow = Promise.withResolvers<void>();
  const seen: string[] = [];
  const all = allEnded([Promise.reject(new Error("refused")), slow.promise.then(() => seen.push("ended"))]);
  const thrown = all.catch((error: unknown) => seen.push(String(error)));
  await Promise.resolve();
  slow.resolve();
  await thrown;
  expect(seen).toEqual(["ended", "Error: refused"]);
});

test("throws the failure of the first in order, whichever came first", async () => {
  const slow = Promise.withResolvers<never>();
  const all = allEnded([slow.promise, Promise.reject(new Error("second"))]);
  slow.reject(new Error("first"));
  await expect(all).rejects.toThrow("first");
});
