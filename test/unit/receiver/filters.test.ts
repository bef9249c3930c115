import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { celModule, wasmCel } from "../../../lib/cel/wasm-cel.ts";
import { maxBodyDepth } from "../../../lib/receiver/delivery.ts";
import { b, form, json } from "./data-set.ts";
import { receiverWorld, type Sent } from "./receiver-world.ts";

describe("filters of a Receiver", () => {
  const cel = wasmCel({ file: celModule, threads: 1, idleMs: 60_000 });
  afterAll(() => cel.close());
  let world: ReturnType<typeof receiverWorld>;
  beforeAll(async () => {
    world = receiverWorld({ cel });
    world.source("cart", { team: "x" });
    world.source("mail", { team: "y" });
  });
  const kind = "OCIRepository";
  const all = [{ kind, name: "*", matchLabels: {} }];
  const resourceFilter = "req.tag.contains(res.metadata.name)";
  const told = async (sent: Sent) => {
    world.requested.length = 0;
    return { status: await world.deliver(sent), woken: [...world.requested] };
  };

  test("27: select by the body and the object's metadata", async () => {
    await world.ready({ resources: all, resourceFilter });
    expect(await told({ headers: json, body: '{"tag":"registry/x/cart:1"}' })).toEqual({
      status: 200,
      woken: ["OCIRepository/retail/cart"],
    });
  });

  test("of all entries see the metadata even if an entry's own filter is empty", async () => {
    await world.ready({ resources: [{ ...all[0], filter: "" }], resourceFilter: "res.metadata.name == 'cart'" });
    expect(await told({})).toEqual({ status: 200, woken: ["OCIRepository/retail/cart"] });
  });

  test("28: that read a key missing in the body give 500", async () => {
    await world.ready({ resources: all, resourceFilter });
    expect(await told({ headers: json, body: "{}" })).toEqual({ status: 500, woken: [] });
  });

  test("29: see no body unless its content type is JSON", async () => {
    await world.ready({ resources: all, resourceFilter });
    const sent = { headers: { "Content-Type": "text/plain" }, body: '{"tag":"cart"}' };
    expect(await told(sent)).toEqual({ status: 500, woken: [] });
  });

  test("11: of a form see an empty request", async () => {
    await world.ready({ type: "github", resources: all, resourceFilter: "req == {}" });
    const signature = "sha256=099c0eb9364f4d2ca19b87adf25313b2c3e6f0195dab3c7f67f37c879831eb99";
    const { status, woken } = await told({ headers: { ...form, "X-Hub-Signature-256": signature }, body: b });
    expect([status, woken.length]).toEqual([200, 3]);
  });

  test.each([
    { name: "a text", filter: "'x'", message: "CEL expression output type mismatch: expected bool, got string" },
    { name: "claims of another type", filter: "claims.sub == 'a'", message: "undeclared reference to 'claims'" },
    { name: "an expression of type any", filter: "req.open", message: "expected bool, got dyn" },
    { name: "an expression that cannot be parsed", filter: "req.", message: "" },
  ])("30: that are $name stall the Receiver", async ({ filter, message }) => {
    await world.ready({ type: "github", resources: all, resourceFilter: filter });
    expect(world.conditions()).toEqual(["Stalled=True InvalidCELExpression", "Ready=False InvalidCELExpression"]);
    const begin = "Reconciliation failed terminally due to configuration error: invalid resourceFilter expression: ";
    expect(world.messageOf("Ready")?.startsWith(begin)).toBe(true);
    expect(world.messageOf("Ready")).toContain(message);
    await world.ready({
      type: "github",
      resources: [
        { kind, name: "shop" },
        { ...all[0], filter },
      ],
    });
    expect(world.messageOf("Ready")).toContain(
      `invalid filter expression for resources[1] (kind="${kind}", name="*"): `,
    );
  });

  test("31: of an entry count in addition to the one for all", async () => {
    await world.ready({
      resourceFilter: "true",
      resources: [{ ...all[0], filter: "res.metadata.labels.team == 'x'" }],
    });
    world.source("shop", { team: "z" });
    await world.run();
    expect(await told({})).toEqual({ status: 200, woken: ["OCIRepository/retail/cart"] });
    await world.ready({ resourceFilter: "true", resources: [{ ...all[0], filter: "false" }] });
    expect(await told({})).toEqual({ status: 200, woken: [] });
  });

  test("that fail for one object stop only its entry there", async () => {
    const filter = "res.metadata.annotations.go == 'yes'";
    // Between them is mail, which has no annotations.
    for (const name of ["cart", "shop"]) {
      const metadata = { name, namespace: "retail", annotations: { go: "yes" } };
      world.apply({ apiVersion: "source.toolkit.fluxcd.io/v1", kind, metadata });
    }
    await world.ready({
      resources: [
        { ...all[0], filter },
        { kind, name: "shop" },
      ],
    });
    expect(await told({})).toEqual({
      status: 500,
      woken: ["OCIRepository/retail/cart", "OCIRepository/retail/shop"],
    });
  });

  test.each([
    ["fails", undefined, 500, ["cart"]],
    [undefined, "fails", 500, ["cart"]],
    ["fails", "fails", 500, ["cart"]],
    ["fails", "all", 500, ["cart"]],
    ["all", "fails", 500, ["cart"]],
    ["fails", "none", 500, []],
    ["none", "fails", 200, []],
    ["all", "none", 200, []],
    ["none", "all", 200, []],
    ["all", "all", 200, ["cart", "mail", "shop"]],
  ] as const)("for all (%s) and of an entry (%s) give %i together and wake %j", async (shared, own, status, names) => {
    const expressions = { fails: "res.metadata.annotations.go == 'yes'", all: "true", none: "false" };
    for (const name of ["cart", "shop"]) {
      const metadata = { name, namespace: "retail", annotations: { go: "yes" } };
      world.apply({ apiVersion: "source.toolkit.fluxcd.io/v1", kind, metadata });
    }
    await world.ready({
      resourceFilter: shared === undefined ? "" : expressions[shared],
      resources: [{ ...all[0], filter: own === undefined ? "" : expressions[own] }],
    });
    expect(await told({})).toEqual({ status, woken: names.map((name) => `${kind}/retail/${name}`) });
  });

  test.each([0, 1, 2])("of the entry at %i read the body, whatever filters the other entries have", async (index) => {
    const entries = ["cart", "mail", "shop"].map((name, at) => ({
      kind,
      name,
      ...(at === index ? { filter: "req.go == true" } : {}),
    }));
    await world.ready({ resourceFilter: "", resources: entries });
    const woken = entries.map(({ name }) => `${kind}/retail/${name}`);
    expect(await told({ headers: json, body: '{"go":true}' })).toEqual({ status: 200, woken });
    expect(await told({ headers: json, body: '{"go":false}' })).toEqual({
      status: 200,
      woken: woken.toSpliced(index, 1),
    });
  });

  test("see an empty request if the body is null, as in Go", async () => {
    await world.ready({ resources: [{ kind, name: "shop" }], resourceFilter: "req == {}" });
    expect(await told({ headers: json, body: "null" })).toEqual({ status: 200, woken: ["OCIRepository/retail/shop"] });
  });

  test("read a body only if its content type is JSON by Go's rules", async () => {
    await world.ready({ resources: [{ kind, name: "shop" }], resourceFilter: "has(req.a)" });
    for (const [type, woken] of [
      ["Application/JSON", 1],
      ["application/jsonx", 0],
      ["application/json; charset", 0],
    ] as const) {
      const answer = await told({ headers: { "Content-Type": type }, body: '{"a":1}' });
      expect([type, answer.status, answer.woken.length]).toEqual([type, 200, woken]);
    }
  });

  test("of an entry are reported with its name quoted as in Go", async () => {
    await world.ready({ resources: [{ kind, name: 'a"b', filter: "1" }] });
    expect(world.messageOf("Ready")).toContain(String.raw`resources[0] (kind="${kind}", name="a\"b"): `);
  });

  test.each([
    { name: "is not JSON", body: "{" },
    { name: "is a list", body: "[]" },
    { name: "is nested too deep", body: `${'{"a":'.repeat(maxBodyDepth + 1)}1${"}".repeat(maxBodyDepth + 1)}` },
  ])("of a body that $name give 500, and nothing is woken", async ({ body }) => {
    await world.ready({ resources: all, resourceFilter: "true" });
    expect(await told({ headers: json, body })).toEqual({ status: 500, woken: [] });
    await world.ready({ resources: [{ kind, name: "shop" }] });
    expect((await told({ headers: json, body })).status).toBe(200);
  });
});
