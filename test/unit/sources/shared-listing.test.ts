import { describe, expect, test } from "vitest";
import { maxListingBytes, maxListings, sharedListings } from "../../../lib/sources/shared-listing.ts";
import { never } from "../../contract/state-back-end.ts";

const bytesOfLetter = 1024;

/** An origin whose listings end when the test says, and a clock that the test moves. */
function origin() {
  const asked: PromiseWithResolvers<string>[] = [];
  const state = { now: 0 };
  const share = sharedListings({ monotonic: () => state.now });
  const ask = (signal: AbortSignal): Promise<string> => {
    const answer = Promise.withResolvers<string>();
    signal.addEventListener("abort", () => answer.reject(signal.reason), { once: true });
    asked.push(answer);
    return answer.promise;
  };
  const at = (now: number, since: number, { key = "a", signal = never } = {}): Promise<string> => {
    state.now = now;
    return share({ key, since, ask, bytesOf: ({ length }) => length * bytesOfLetter }, signal);
  };
  return { asked, at };
}

describe("a shared listing", () => {
  test("answers every run that began before it started, while it is running and after it", async () => {
    const { asked, at } = origin();
    const answers = [at(10, 5), at(12, 6)];
    asked[0]?.resolve("v1");
    expect(await Promise.all(answers)).toEqual(["v1", "v1"]);
    expect(await at(20, 9.9)).toBe("v1");
    expect(asked).toHaveLength(1);
  });

  test("is never older than the run that it answers", async () => {
    const { asked, at } = origin();
    const first = at(10, 5);
    const [same, later] = [at(12, 10), at(14, 13)];
    for (const [index, answer] of asked.entries()) answer.resolve(`v${index}`);
    expect(await Promise.all([first, same, later])).toEqual(["v0", "v1", "v2"]);
  });

  test("of another key is separate", async () => {
    const { asked, at } = origin();
    const answers = [at(10, 5, { key: "a" }), at(10, 5, { key: "b" })];
    for (const [index, answer] of asked.entries()) answer.resolve(`v${index}`);
    expect(await Promise.all(answers)).toEqual(["v0", "v1"]);
  });

  test("that failed answers no other run: each waiting run lists again, and so does the next", async () => {
    const { asked, at } = origin();
    const [first, second] = [at(10, 5), at(11, 6)];
    asked[0]?.reject(new Error("away"));
    await expect(first).rejects.toThrow("away");
    await expect.poll(() => asked.length).toBe(2);
    asked[1]?.resolve("v1");
    expect(await second).toBe("v1");
    const third = at(12, 7);
    expect(asked).toHaveLength(3);
    asked[2]?.resolve("v2");
    expect(await third).toBe("v2");
  });

  test("whose run is aborted does not abort the others, and one of them may be aborted", async () => {
    const { asked, at } = origin();
    const [stop, other] = [new AbortController(), new AbortController()];
    const first = at(10, 5, { signal: stop.signal });
    const [second, third] = [at(11, 6), at(11, 6, { signal: other.signal })];
    other.abort(new Error("its time is up"));
    await expect(third).rejects.toThrow("its time is up");
    stop.abort(new Error("stopped"));
    await expect(first).rejects.toThrow("stopped");
    await expect.poll(() => asked.length).toBe(2);
    asked[1]?.resolve("v1");
    expect(await second).toBe("v1");
  });

  test("expires after a while, and only a limited number is cached", async () => {
    const { asked, at } = origin();
    const first = at(10, 5);
    asked[0]?.resolve("v1");
    await first;
    void at(10_011, 6);
    expect(asked).toHaveLength(2);
    for (let index = 0; index <= maxListings; index++) void at(10_012, 6, { key: `k${index}` });
    const { length } = asked;
    void at(10_013, 6, { key: `k${maxListings}` });
    expect(asked).toHaveLength(length);
    void at(10_013, 6, { key: "k0" });
    expect(asked).toHaveLength(length + 1);
  });

  test("is evicted, oldest first, if the cached answers exceed a limit of bytes", async () => {
    const { asked, at } = origin();
    const half = "x".repeat(maxListingBytes / bytesOfLetter / 2);
    for (const [index, key] of ["a", "b"].entries()) {
      const answer = at(10, 5, { key });
      asked[index]?.resolve(half);
      await answer;
    }
    void at(11, 6, { key: "a" });
    expect(asked).toHaveLength(2);
    const more = at(12, 6, { key: "c" });
    asked[2]?.resolve("x");
    await more;
    void at(13, 6, { key: "b" });
    void at(13, 6, { key: "c" });
    expect(asked).toHaveLength(3);
    void at(13, 6, { key: "a" });
    expect(asked).toHaveLength(4);
  });
});
