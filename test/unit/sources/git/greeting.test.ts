import { Readable } from "node:stream";
import { expect, test } from "vitest";
import { knownServers, maxKnownBytes } from "../../../../lib/sources/git/conversations.ts";
import { type Greeting, maxCapabilityBytes, readGreeting } from "../../../../lib/sources/git/greeting.ts";
import { flushPkt, pktLine, pktReader } from "../../../../lib/sources/git/pkt-line.ts";
import { canFilter, mayGive } from "../../../../lib/sources/git/upload-pack.ts";

const [a, b, zeros] = ["a".repeat(40), "b".repeat(40), "0".repeat(40)];
const limits = { maxRefBytes: 10_000, maxRefs: 3 };

function greet(lines: readonly string[], of = limits): Promise<Greeting> {
  const bytes = Buffer.from([...lines.map((line) => pktLine(line)), flushPkt].join(""));
  return readGreeting(pktReader(Readable.from([bytes])[Symbol.asyncIterator]()), of);
}

test("the peeled object of a tag belongs to the tag before it, and the tag's own id is kept", async () => {
  expect(await greet([`${a} refs/tags/v1\0agent=x`, `${b} refs/tags/v1^{}`, `${b} refs/tags/v1-rc`])).toMatchObject({
    refs: [
      { name: "refs/tags/v1", oid: a, peeled: b },
      { name: "refs/tags/v1-rc", oid: b },
    ],
  });
});

test("an empty repository and shallow boundaries give no refs", async () => {
  expect(await greet([`${zeros} capabilities^{}\0agent=x`])).toMatchObject({ refs: [] });
  expect(await greet([`${a} refs/heads/main\0agent=x`, `shallow ${b}`])).toMatchObject({
    refs: [{ name: "refs/heads/main", oid: a }],
  });
});

test.each(["sha256", "sha512"])("object ids of %s are refused in both protocol versions", async (format) => {
  await expect(greet(["version 2", `object-format=${format}`])).rejects.toThrow("only SHA-1 is supported");
  await expect(greet([`${a} HEAD\0object-format=${format}`])).rejects.toThrow("only SHA-1 is supported");
});

test("a server's capabilities may have as many bytes as the limit, and with one more are refused", async () => {
  const most = ["ls-refs", ...("x".repeat(maxCapabilityBytes - 7).match(/.{1,60000}/g) ?? [])];
  const wide = { maxRefBytes: 1_000_000, maxRefs: 3 };
  const greeting = await greet(["version 2", ...most], wide);
  expect([...greeting.capabilities.keys()]).toEqual(most);
  await expect(greet(["version 2", ...most, "y"], wide)).rejects.toEqual(
    expect.objectContaining({
      reason: "too-large",
      message: "the git server names more than 65536 bytes of capabilities",
    }),
  );
});

test("the capabilities of many servers are cached, but of the long ones only a few", async () => {
  const known = knownServers();
  const short = await greet(["version 2", "ls-refs", "fetch=shallow filter"]);
  for (let server = 0; server < 1_000; server++) known.set(`short ${server}`, short);
  expect(known.size).toBe(1_000);
  const long = await greet(["version 2", "x".repeat(60_000)], { maxRefBytes: 100_000, maxRefs: 3 });
  for (let server = 0; server < 1_000; server++) known.set(`long ${server}`, long);
  expect(known.size).toBe(Math.floor(maxKnownBytes / (2 * 60_000 + 2 * 256 + 2 * "long 999".length)));
  expect(known.get("long 999")).toBe(long);
});

test.each(["refs/heads/a\u007f", "refs/heads/a\u001b[31m"])("the ref %j is refused", async (name) => {
  await expect(greet([`${a} ${name}\0agent=x`])).rejects.toThrow("it lists an entry that is not a ref");
});

const of = (version: 0 | 2, capabilities: Readonly<Record<string, string>>): Greeting => {
  const known = new Map(Object.entries(capabilities));
  const refs = [{ name: "refs/tags/v1", oid: a, peeled: b }];
  return version === 2 ? { version, capabilities: known } : { version, capabilities: known, refs };
};

test.each([
  { greeting: of(2, { fetch: "shallow filter" }), can: true },
  { greeting: of(2, { fetch: "shallow filters" }), can: false },
  { greeting: of(2, { filter: "" }), can: false },
  { greeting: of(0, { filter: "", fetch: "filter" }), can: false },
])("a server with $greeting can leave out files: $can", ({ greeting, can }) => {
  expect(canFilter(greeting)).toBe(can);
});

test.each([
  { greeting: of(2, {}), gives: true },
  { greeting: of(0, {}), gives: false },
  { greeting: of(0, { "allow-tip-sha1-in-want": "" }), gives: true },
  { greeting: of(0, { "allow-reachable-sha1-in-want": "" }), gives: true },
])("a server with $greeting may serve unadvertised objects: $gives", ({ greeting, gives }) => {
  expect(mayGive(greeting, [a])).toBe(true);
  expect(mayGive(greeting, [b])).toBe(gives);
  expect(mayGive(greeting, [a, b])).toBe(gives);
});
