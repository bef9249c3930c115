import { describe, expect, test } from "vitest";
import { maxBodyBytes } from "../../../lib/receiver/delivery.ts";
import { maxSecretAgeMs } from "../../../lib/receiver/secret-cache.ts";
import { a, b, c, d, form, json, sha1OfA, sha256OfA, sha512OfA, signed } from "./data-set.ts";
import { readyWorld, receiverWorld, type Sent, token } from "./receiver-world.ts";

// Statements 2 to 31 of the reference's section 21, with its data set.

interface Case {
  readonly name: string;
  readonly spec?: Record<string, string | string[]>;
  readonly sent: Sent;
  readonly status: number;
}

const cases: readonly (Case & { readonly type: string })[] = [
  { type: "generic-hmac", name: "2: the signature of the body", sent: signed(sha256OfA), status: 200 },
  { type: "generic-hmac", name: "3: a SHA-1", sent: signed(sha1OfA), status: 200 },
  { type: "generic-hmac", name: "3: a SHA-512", sent: signed(sha512OfA), status: 200 },
  {
    type: "generic-hmac",
    name: "4: upper-case digits",
    sent: signed(`sha256=${sha256OfA.slice(7).toUpperCase()}`),
    status: 200,
  },
  { type: "generic-hmac", name: "4: an upper-case prefix", sent: signed(sha256OfA.replace("sha", "SHA")), status: 400 },
  { type: "generic-hmac", name: "5: a body with one more newline", sent: signed(sha256OfA, `${a}\n`), status: 400 },
  { type: "generic-hmac", name: "6: no signature", sent: { body: a }, status: 400 },
  { type: "generic-hmac", name: "6: a signature without =", sent: signed(sha256OfA.replace("=", "")), status: 400 },
  {
    type: "generic-hmac",
    name: "7: an empty body",
    sent: signed("sha256=2404574db45468f99190c105de15c31b34068be244a1127f008fde3116012b82", ""),
    status: 200,
  },
  { type: "generic-hmac", name: "digits that are not hexadecimal", sent: signed("sha256=zz"), status: 400 },
  { type: "generic-hmac", name: "no digits", sent: signed("sha256="), status: 400 },
  { type: "generic-hmac", name: "half of the digits", sent: signed(sha256OfA.slice(0, 39)), status: 400 },
  {
    type: "github",
    name: "8: JSON with a SHA-256",
    sent: { headers: { ...json, "X-Hub-Signature-256": sha256OfA, "X-GitHub-Event": "push" }, body: a },
    status: 200,
  },
  {
    type: "github",
    name: "9: only a SHA-1",
    sent: { headers: { ...json, "X-Hub-Signature": sha1OfA }, body: a },
    status: 200,
  },
  {
    type: "github",
    name: "10: a wrong SHA-256 beside a right SHA-1",
    sent: {
      headers: { ...json, "X-Hub-Signature-256": `sha256=${"0".repeat(64)}`, "X-Hub-Signature": sha1OfA },
      body: a,
    },
    status: 400,
  },
  {
    type: "github",
    name: "11: a form, whose whole body is signed",
    sent: {
      headers: {
        ...form,
        "X-Hub-Signature-256": "sha256=099c0eb9364f4d2ca19b87adf25313b2c3e6f0195dab3c7f67f37c879831eb99",
      },
      body: b,
    },
    status: 200,
  },
  {
    type: "github",
    name: "12: text",
    sent: { headers: { "Content-Type": "text/plain", "X-Hub-Signature-256": sha256OfA }, body: a },
    status: 400,
  },
  {
    type: "github",
    name: "12: no content type",
    sent: { headers: { "X-Hub-Signature-256": sha256OfA }, body: a },
    status: 400,
  },
  {
    type: "github",
    name: "a content type in capitals with a charset",
    sent: { headers: { "Content-Type": "Application/JSON; charset=utf-8", "X-Hub-Signature-256": sha256OfA }, body: a },
    status: 200,
  },
  { type: "github", name: "no signature", sent: { headers: json, body: a }, status: 400 },
  ...["Push", "ping", ""].map((event) => ({
    type: "github",
    name: `13: the event ${event === "" ? "of no header" : event}, where push is listed`,
    spec: { events: ["push"] },
    sent: {
      headers: { ...json, "X-Hub-Signature-256": sha256OfA, ...(event === "" ? {} : { "X-GitHub-Event": event }) },
      body: a,
    },
    status: event === "Push" ? 200 : 400,
  })),
  {
    type: "bitbucket",
    name: "14: a listed event",
    spec: { events: ["repo:refs_changed"] },
    sent: {
      headers: {
        ...json,
        "X-Hub-Signature": "sha256=454d6260aa0ca67d26ab1e8a391d25a22a3f7fd120113a0a14a368ec3ef73f93",
        "X-Event-Key": "repo:refs_changed",
      },
      body: d,
    },
    status: 200,
  },
  {
    type: "nexus",
    name: "15: its signature without a prefix",
    sent: { headers: { "X-Nexus-Webhook-Signature": "08a524938df14bb74cd2fbad95d76609e608ed17" }, body: c },
    status: 200,
  },
  {
    type: "nexus",
    name: "15: a prefix",
    sent: { headers: { "X-Nexus-Webhook-Signature": "sha1=08a524938df14bb74cd2fbad95d76609e608ed17" }, body: c },
    status: 400,
  },
  {
    type: "nexus",
    name: "15: a SHA-256",
    sent: {
      headers: {
        "X-Nexus-Webhook-Signature": "3d7eb54ebbc05de752e5953b162c61d9b59ecc4aba7b58028c7d1f2b28016c25",
      },
      body: c,
    },
    status: 400,
  },
  {
    type: "nexus",
    name: "upper-case digits",
    sent: { headers: { "X-Nexus-Webhook-Signature": "08A524938DF14BB74CD2FBAD95D76609E608ED17" }, body: c },
    status: 400,
  },
  { type: "gitlab", name: "16: the token", sent: { headers: { "X-Gitlab-Token": token } }, status: 200 },
  {
    type: "gitlab",
    name: "16: a token that is one character off",
    sent: { headers: { "X-Gitlab-Token": `${token}x` } },
    status: 400,
  },
  { type: "gitlab", name: "no token", sent: {}, status: 400 },
  ...["Push Hook", "Tag Push Hook"].map((event) => ({
    type: "gitlab",
    name: `16: the event ${event}, where Push Hook is listed`,
    spec: { events: ["Push Hook"] },
    sent: { headers: { "X-Gitlab-Token": token, "X-Gitlab-Event": event } },
    status: event === "Push Hook" ? 200 : 400,
  })),
  { type: "harbor", name: "17: the token", sent: { headers: { Authorization: token } }, status: 200 },
  { type: "harbor", name: "17: a bearer token", sent: { headers: { Authorization: `Bearer ${token}` } }, status: 400 },
  ...["quay", "dockerhub", "acr"].flatMap((type) => [
    { type, name: "18: a body that is not JSON", sent: { body: "not json" }, status: 400 },
    { type, name: "18: an empty object", sent: { body: "{}" }, status: 200 },
  ]),
  { type: "quay", name: "a number for a text", sent: { body: '{"docker_url":5}' }, status: 400 },
  { type: "quay", name: "a push", sent: { body: '{"docker_url":"quay.io/a/b","updated_tags":["1"]}' }, status: 200 },
  { type: "dockerhub", name: "a number for a tag", sent: { body: '{"push_data":{"tag":1}}' }, status: 400 },
  { type: "acr", name: "a list for an object", sent: { body: '{"target":[]}' }, status: 400 },
  { type: "generic", name: "19: an empty body", sent: {}, status: 200 },
];

describe("a delivery", () => {
  test.each(cases)("to $type with $name: $status", async ({ type, spec = {}, sent, status }) => {
    const world = await readyWorld({ type, ...spec });
    expect(await world.deliver(sent)).toBe(status);
    expect(world.requested).toEqual(status === 200 ? ["OCIRepository/retail/shop"] : []);
    expect(world.text()).not.toContain(token);
  });

  test("that is repeated only requests the same run again", async () => {
    const world = await readyWorld();
    expect([await world.deliver(), await world.deliver()]).toEqual([200, 200]);
    expect(world.requested).toEqual(["OCIRepository/retail/shop", "OCIRepository/retail/shop"]);
    expect(world.writes.filter(({ manager }) => manager !== "notification-controller")).toEqual([]);
  });

  test("20: to an unknown path gets 404, also to a known one with an extra query or a missing letter", async () => {
    const world = await readyWorld();
    const uris = [`/hook/${"0".repeat(64)}`, `${world.path()}?a=b`, world.path().slice(0, -1), "/hook/"];
    for (const uri of uris) expect(await world.deliver({ uri })).toBe(404);
    expect(world.requested).toEqual([]);
  });

  test("20: to a Receiver that is suspended or not ready gets 503, whoever sends it", async () => {
    const world = await readyWorld({ type: "generic-hmac" });
    world.receiver({ type: "generic-hmac", suspend: true });
    await world.run();
    expect(await world.deliver({ body: a })).toBe(503);
    world.receiver({ type: "generic-hmac", secretRef: null });
    await world.run();
    expect(await world.deliver(signed(sha256OfA))).toBe(503);
    expect(world.requested).toEqual([]);
  });

  test("20: above the limit by one byte gets 413 before any lookup, and at the limit is accepted", async () => {
    const world = await readyWorld();
    const reads = world.secretReads.length;
    expect(await world.deliver({ body: new Uint8Array(maxBodyBytes + 1) })).toBe(413);
    expect(await world.deliver({ body: new Uint8Array(maxBodyBytes + 1), uri: "/hook/x" })).toBe(413);
    expect(world.secretReads).toHaveLength(reads);
    expect(await world.deliver({ body: new Uint8Array(maxBodyBytes) })).toBe(200);
  });

  test("with an endless body gets 400", async () => {
    const world = await readyWorld();
    const answer = await world.receive({
      uri: world.path(),
      header: () => undefined,
      // oxlint-disable-next-line require-yield -- it breaks off before its first byte
      body: (async function* () {
        throw new Error("aborted");
      })(),
    });
    expect(answer.status).toBe(400);
  });

  test("to a path that is not a webhook's gets a text that says so", async () => {
    const world = await readyWorld();
    for (const uri of ["/", "/hooks", "/other/x", "*", "http://a/hook/x"]) {
      const answer = await world.receive({ uri, header: () => undefined, body: (async function* () {})() });
      expect([answer.status, await answer.text()]).toEqual([404, "404 page not found\n"]);
      expect(answer.headers.get("content-type")).toBe("text/plain; charset=utf-8");
    }
  });

  test("21: after the Secret was deleted gets 400 once it is read again, and 404 once the Receiver has run", async () => {
    const world = await readyWorld();
    expect(await world.deliver()).toBe(200);
    const path = world.path();
    world.delete("Secret", "token");
    world.state.now += maxSecretAgeMs;
    expect(await world.deliver()).toBe(400);
    await world.run();
    expect(await world.deliver({ uri: path })).toBe(404);
  });

  test.each([
    ["gitlab", "X-Gitlab-Token"],
    ["harbor", "Authorization"],
  ])("to %s is authenticated with the bytes of its token, which need not be ASCII", async (type, header) => {
    const world = receiverWorld();
    world.secret({ token: "tökén ☃" });
    await world.ready({ type });
    // Node hands out each byte of a header as a character.
    const asSent = (text: string): string => Buffer.from(text).toString("latin1");
    const status = (text: string) => world.deliver({ headers: { [header]: text } });
    expect([await status(asSent("tökén ☃")), await status("tökén ☃"), await status(asSent("token ☃"))]).toEqual([
      200, 400, 400,
    ]);
  });

  test("24: wakes existing objects even if an earlier entry's object is missing, and gets 500", async () => {
    const kind = "OCIRepository";
    const world = await readyWorld({
      resources: [
        { kind, name: "missing" },
        { kind, name: "shop" },
      ],
    });
    expect(await world.deliver()).toBe(500);
    expect(world.requested).toEqual(["OCIRepository/retail/shop"]);
    expect(world.text()).toContain("OCIRepository/retail/missing does not exist");
  });

  test("23: for a kind without apiVersion gets 500, and one with a default version is woken", async () => {
    const resources = [
      { kind: "HelmRelease", name: "x" },
      { kind: "OCIRepository", name: "shop" },
    ];
    const world = await readyWorld({ resources });
    expect(await world.deliver()).toBe(500);
    expect(world.requested).toEqual(["OCIRepository/retail/shop"]);
  });

  test("25: wakes every match of a wildcard; no match gets 200, and missing labels get 500", async () => {
    const kind = "OCIRepository";
    const wildcard = (labels?: Record<string, string>) => [
      { kind, name: "*", ...(labels === undefined ? {} : { matchLabels: labels }) },
    ];
    const world = receiverWorld();
    for (const [name, team] of Object.entries({ a: "x", b: "x", c: "y" })) world.source(name, { team });
    await world.ready({ resources: wildcard({ team: "x" }) });
    expect(await world.deliver()).toBe(200);
    expect(world.requested).toEqual(["OCIRepository/retail/a", "OCIRepository/retail/b"]);
    await world.ready({ resources: wildcard({ team: "z" }) });
    expect(await world.deliver()).toBe(200);
    await world.ready({ resources: wildcard() });
    expect(await world.deliver()).toBe(500);
    expect(world.requested).toHaveLength(2);
  });

  test("26: for another namespace wakes the objects there, and not those of the same name in its own", async () => {
    const kind = "OCIRepository";
    const world = receiverWorld();
    for (const within of ["retail", "retail-old", "other"]) {
      for (const name of ["shop", "shop-old"]) world.source(name, { at: within }, within);
    }
    await world.ready({
      resources: [
        { kind, name: "shop", namespace: "other" },
        { kind, name: "*", namespace: "retail-old", matchLabels: { at: "retail-old" } },
        { kind, name: "shop-old" },
      ],
    });
    expect(await world.deliver()).toBe(200);
    expect(world.requested).toEqual([
      "OCIRepository/other/shop",
      "OCIRepository/retail-old/shop",
      "OCIRepository/retail-old/shop-old",
      "OCIRepository/retail/shop-old",
    ]);
    // A source of that name in the Receiver's own namespace does not count.
    await world.ready({ resources: [{ kind, name: "shop", namespace: "empty" }] });
    expect(await world.deliver()).toBe(500);
    expect(world.requested).toHaveLength(4);
  });

  test("26: for another namespace gets 500 if that is forbidden, and nothing there is woken", async () => {
    const world = receiverWorld({ noCrossNamespaceRefs: true });
    world.source("shop", {}, "other");
    await world.ready({ resources: [{ kind: "OCIRepository", name: "shop", namespace: "other" }] });
    expect(await world.deliver()).toBe(500);
    expect(world.requested).toEqual([]);
  });
});
