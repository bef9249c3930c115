import { expect, test } from "vitest";
import { Secret } from "../../../lib/core/secret.ts";
import {
  maxCachedChars,
  maxCachedSecrets,
  maxMissingAgeMs,
  maxSecretAgeMs,
  secretCache,
} from "../../../lib/receiver/secret-cache.ts";
import { maxUnknownAgeMs, maxUnknownPaths, rememberingUnknown } from "../../../lib/receiver/unknown-paths.ts";
import { steppedClock } from "../../doubles/stepped-clock.ts";

const { signal } = new AbortController();
const clock = steppedClock();

test("of more tokens than fit into memory the oldest is evicted and read again", async () => {
  const reads: string[] = [];
  const secretOf = secretCache(async ({ name }) => {
    reads.push(name);
    return new Map([["token", new Secret(name)]]);
  }, clock);
  const read = (name: string) => secretOf({ cluster: "c", namespace: "n", name }, () => true, signal);
  for (let at = 0; at <= maxCachedSecrets; at++) await read(`token-${at}`);
  await read(`token-${maxCachedSecrets}`);
  expect(reads).toHaveLength(maxCachedSecrets + 1);
  await read("token-0");
  expect(reads.at(-1)).toBe("token-0");
});

test("of tokens that together are too long for memory the oldest is evicted and read again", async () => {
  const reads: string[] = [];
  const token = new Secret("x".repeat(maxCachedChars / 4));
  const secretOf = secretCache(async ({ name }) => {
    reads.push(name);
    return new Map([["token", token]]);
  }, clock);
  const read = (name: string) => secretOf({ cluster: "c", namespace: "n", name }, () => true, signal);
  for (const name of ["a", "b", "c", "d", "a"]) await read(name);
  expect(reads).toEqual(["a", "b", "c", "d"]);
  for (const name of ["e", "b", "a"]) await read(name);
  expect(reads).toEqual(["a", "b", "c", "d", "e", "a"]);
});

test("Secrets of the same name are cached per cluster and namespace", async () => {
  const secretOf = secretCache(
    async (ref) => new Map([["token", new Secret(`${ref.cluster} ${ref.namespace} ${ref.name}`)]]),
    clock,
  );
  const refs = ["c", "c-old"].flatMap((cluster) =>
    ["n", "n-old"].flatMap((namespace) => ["token", "token-old"].map((name) => ({ cluster, namespace, name }))),
  );
  const read = async (ref: (typeof refs)[number]) => (await secretOf(ref, () => true, signal))?.get("token")?.reveal();
  for (const ref of [...refs, ...refs.toReversed()]) {
    expect(await read(ref)).toBe(`${ref.cluster} ${ref.namespace} ${ref.name}`);
  }
});

const kinds = { fits: true, "does not fit": false, "does not exist": undefined } as const;
test.each([
  ["fits", maxSecretAgeMs],
  ["does not fit", 1_000],
  ["does not exist", maxMissingAgeMs],
] as const)(
  "a Secret that %s is read again only after %i ms, and once for all waiting callers",
  async (kind, ageMs) => {
    const own = steppedClock();
    let reads = 0;
    const secretOf = secretCache(async () => {
      reads++;
      return kinds[kind] === undefined ? undefined : new Map([["token", new Secret("x")]]);
    }, own);
    const read = () => secretOf({ cluster: "c", namespace: "n", name: "token" }, () => kinds[kind] === true, signal);
    await read();
    own.freeze(ageMs - 1);
    await Promise.all([read(), read()]);
    expect(reads).toBe(1);
    own.freeze(1);
    await Promise.all([read(), read(), read()]);
    expect(reads).toBe(2);
  },
);

test("of more unknown paths than fit into memory the oldest is evicted and looked up again", async () => {
  const asked: string[] = [];
  const index = rememberingUnknown(
    {
      find: async (path) => {
        asked.push(path);
        return [];
      },
    },
    clock,
  );
  for (let at = 0; at <= maxUnknownPaths; at++) await index.find(`/hook/${at}`, signal);
  await index.find(`/hook/${maxUnknownPaths}`, signal);
  expect(asked).toHaveLength(maxUnknownPaths + 1);
  await index.find("/hook/0", signal);
  expect(asked.at(-1)).toBe("/hook/0");
});

test("a caller that aborts does not stop the read that others wait for", async () => {
  const { promise, resolve } = Promise.withResolvers<ReadonlyMap<string, Secret>>();
  const secretOf = secretCache(() => promise, clock);
  const ref = { cluster: "c", namespace: "n", name: "token" };
  const gone = new AbortController();
  const first = secretOf(ref, () => true, gone.signal);
  const second = secretOf(ref, () => true, signal);
  gone.abort(new Error("time is up"));
  await expect(first).rejects.toThrow("time is up");
  resolve(new Map([["token", new Secret("x")]]));
  expect((await second)?.size).toBe(1);
});

test("cached entries expire even while the process is frozen", async () => {
  const own = steppedClock();
  const asked: string[] = [];
  const secretOf = secretCache(async ({ name }) => {
    asked.push(name);
    return new Map([["token", new Secret(name)]]);
  }, own);
  const index = rememberingUnknown(
    {
      find: async (path) => {
        asked.push(path);
        return [];
      },
    },
    own,
  );
  const ask = async () => {
    await secretOf({ cluster: "c", namespace: "n", name: "token" }, () => true, signal);
    await index.find("/hook/x", signal);
  };
  await ask();
  await ask();
  expect(asked).toEqual(["token", "/hook/x"]);
  own.freeze(Math.max(maxSecretAgeMs, maxUnknownAgeMs));
  await ask();
  expect(asked).toEqual(["token", "/hook/x", "token", "/hook/x"]);
});
