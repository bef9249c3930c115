import { readFile } from "node:fs/promises";
import { afterAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { celModule, wasmCel } from "../../../lib/cel/wasm-cel.ts";
import type { JsonObject } from "../../../lib/core/json.ts";
import { receiverWorld, token } from "./receiver-world.ts";
import { type Issuer, rsa, signedToken, startIssuer } from "./token-issuer.ts";

// Statements 30 and 32 to 35 of the reference's section 21, through flow, index and handler.

const cel = wasmCel({ file: celModule, threads: 1, idleMs: 60_000 });
afterAll(() => cel.close());

let issuer: Issuer;
let world: ReturnType<typeof receiverWorld>;
beforeEach(async () => {
  const started = await startIssuer();
  onTestFinished(() => started[Symbol.asyncDispose]());
  issuer = started;
  world = receiverWorld({ cel }, `${issuer.url}/jwks`);
});

const json = { "Content-Type": "application/json" };
const kind = "OCIRepository";
const all = [{ kind, name: "*", matchLabels: {} }];
const bearer = (claims: object): string =>
  `Bearer ${signedToken(rsa.privateKey, { alg: "RS256", kid: "one" }, claims)}`;
const inSeconds = (seconds: number): number => Math.floor(world.state.now / 1000) + seconds;

describe("a delivery with a token of an OIDC provider", () => {
  const provider = (more: JsonObject = {}): JsonObject => ({
    issuerURL: issuer.url,
    variables: [{ name: "repository", expression: "claims.repository" }],
    validations: [{ expression: "vars.repository == 'shop/cart'", message: "wrong repository" }],
    ...more,
  });
  const oidc = (more: JsonObject = {}): JsonObject => ({
    type: "generic-oidc",
    secretRef: null,
    oidcProviders: [provider()],
    ...more,
  });
  const deliver = (more: object = {}) => {
    const claims = { iss: issuer.url, aud: "notification-controller", exp: inSeconds(60), repository: "shop/cart" };
    return world.deliver({ headers: { ...json, Authorization: bearer({ ...claims, ...more }) }, body: "{}" });
  };

  test("32: gets 200, and its claims are available to filters", async () => {
    world.source("cart");
    await world.ready(
      oidc({ resources: all, resourceFilter: "claims.repository.endsWith(res.metadata.name)" }),
      "ci-push",
    );
    expect(world.path("ci-push")).toBe("/hook/4122f8f6bc54ac04992c93b504331faad209d3336d3af1afe1127eb7948e2962");
    const headers = {
      Authorization: bearer({
        iss: issuer.url,
        aud: ["other", "notification-controller"],
        exp: inSeconds(60),
        repository: "shop/cart",
      }),
    };
    expect(await world.deliver({ uri: world.path("ci-push"), headers })).toBe(200);
    expect(world.requested).toEqual([`${kind}/retail/cart`]);
    expect(world.secretReads).toEqual([]);
  });

  test.each([
    { name: "an unknown issuer", more: { iss: "https://other.example" } },
    { name: "another audience", more: { aud: "flux" } },
    { name: "an expiry that is past", more: { exp: 1 } },
    { name: "claims that fail a validation", more: { repository: "shop/mail" } },
    { name: "claims that lack a field of a variable", more: { repository: undefined } },
  ])("32: with $name gets 400, and wakes nothing", async ({ more }) => {
    await world.ready(oidc());
    expect(await deliver(more)).toBe(400);
    expect(world.requested).toEqual([]);
    expect(world.text()).not.toContain("eyJ");
  });

  test("32: without a token, or signed by another key, gets 400", async () => {
    await world.ready(oidc());
    expect(await world.deliver()).toBe(400);
    issuer.keys = [];
    expect(await deliver()).toBe(400);
    expect(world.requested).toEqual([]);
  });

  test.each([
    {
      name: "variable",
      more: { variables: [{ name: "a", expression: "claims." }] },
      message: 'invalid expression for variable "a": ',
    },
    {
      name: "validation",
      more: { validations: [{ expression: "claims.sub", message: "no sub" }] },
      message:
        'invalid expression for validation "no sub": CEL expression output type mismatch: expected bool, got dyn',
    },
  ])(
    "30: to a Receiver with a $name that does not compile is answered that the Receiver is stalled",
    async ({ more, message }) => {
      await world.ready(oidc());
      const path = world.path();
      await world.ready(oidc({ oidcProviders: [provider(), provider({ ...more, issuerURL: "https://b.example" })] }));
      expect(world.conditions()).toEqual(["Stalled=True InvalidCELExpression", "Ready=False InvalidCELExpression"]);
      expect(world.messageOf("Ready")).toContain(
        `Reconciliation failed terminally due to configuration error: oidcProviders[1] (issuerURL="https://b.example"): ${message}`,
      );
      expect(await world.deliver({ uri: path })).toBe(503);
    },
  );

  test("30: to a Receiver with a filter over claims is accepted, and one over a bare claim stalls", async () => {
    await world.ready(oidc({ resourceFilter: "claims.sub == 'a'" }));
    expect(world.conditions()).toEqual(["Ready=True Succeeded"]);
    await world.ready(oidc({ resourceFilter: "claims.sub" }));
    expect(world.messageOf("Ready")).toContain("expected bool, got dyn");
  });

  test.each([
    {
      name: "no provider",
      more: { oidcProviders: null },
      fault: "generic-oidc receiver requires at least one oidcProvider",
    },
    {
      name: "a secretRef",
      more: { secretRef: { name: "token" } },
      fault: "secretRef cannot be set when type is generic-oidc",
    },
    {
      name: "a provider twice",
      more: { oidcProviders: ["a", "b"].map((message) => oneOf("https://a.example", message)) },
      fault: 'oidcProviders[1]: duplicate issuerURL "https://a.example"',
    },
    {
      name: "a validation without a message",
      more: { oidcProviders: [oneOf("https://a.example", "")] },
      fault: 'oidcProviders[0] (issuerURL="https://a.example"): validations[0]: message is required',
    },
  ])("33: to a Receiver that is stored with $name finds it stalled with ValidationFailed", async ({ more, fault }) => {
    await world.ready(oidc(more));
    expect(world.conditions()).toEqual(["Stalled=True ValidationFailed", "Ready=False ValidationFailed"]);
    const begin = "Reconciliation failed terminally due to configuration error";
    expect(world.messageOf("Ready")).toBe(`${begin}: ${fault}`);
  });
});

function oneOf(issuerURL: string, message: string): JsonObject {
  return { issuerURL, validations: [{ expression: "true", message }] };
}

describe("a delivery of Google's registry", () => {
  const email = "push@shop.iam.gserviceaccount.com";
  const audience = "https://hook.example";
  const event = Buffer.from('{"action":"INSERT","digest":"eu/shop@sha256:1","tag":"eu/shop:1"}').toString("base64");
  const body = JSON.stringify({ message: { data: event, messageId: "1" }, subscription: "s" });
  const claims = { iss: "https://accounts.google.com", aud: audience, email, email_verified: true };
  const deliver = (content = body) => {
    const headers = { ...json, Authorization: bearer({ ...claims, exp: inSeconds(60) }) };
    return world.deliver({ headers, body: content });
  };

  test("gets 200, and filters read the event inside its envelope", async () => {
    world.secret({ token, email, audience });
    world.source("cart");
    await world.ready({ type: "gcr", resources: all, resourceFilter: "req.tag.contains(res.metadata.name)" });
    expect(await deliver()).toBe(200);
    expect(world.requested).toEqual([`${kind}/retail/shop`]);
  });

  test.each(["email", "audience"])(
    "34: to a Secret without %s gets 400, although the token is valid",
    async (field) => {
      const whole: Readonly<Record<string, string>> = { token, email, audience };
      for (const secret of [
        { ...whole, [field]: "" },
        Object.fromEntries(Object.entries(whole).filter(([key]) => key !== field)),
      ]) {
        world = receiverWorld({ cel }, `${issuer.url}/jwks`);
        world.secret(secret);
        await world.ready({ type: "gcr" });
        expect(await deliver()).toBe(400);
        expect(world.requested).toEqual([]);
      }
    },
  );

  test("without a token, or not in the format of Pub/Sub, gets 400", async () => {
    world.secret({ token, email, audience });
    await world.ready({ type: "gcr" });
    expect(await world.deliver({ headers: json, body })).toBe(400);
    expect(await deliver("not json")).toBe(400);
    expect(world.requested).toEqual([]);
  });
});

describe("a delivery of CDEvents", () => {
  const type = "dev.cdevents.artifact.published.0.2.0";
  let event: JsonObject;
  beforeEach(async () => {
    const file = new URL("../../fixtures/cdevents/judged.json", import.meta.url);
    const { events } = z
      .object({ events: z.array(z.record(z.string(), z.json())) })
      .parse(JSON.parse(await readFile(file, "utf8")));
    event = events.find(({ context }) => JSON.stringify(context).includes(type)) ?? {};
  });
  const deliver = (body: JsonObject | string, ceType = type) =>
    world.deliver({
      headers: { ...json, "Ce-Type": ceType },
      body: typeof body === "string" ? body : JSON.stringify(body),
    });

  test("35: gets 400 if its body fails the schema, or if its Ce-Type is not listed", async () => {
    await world.ready({ type: "cdevents", events: [type] });
    expect(await deliver(event)).toBe(200);
    expect(await deliver(event, type.toUpperCase())).toBe(200);
    expect(world.requested).toHaveLength(2);
    expect(await deliver({ ...event, subject: {} })).toBe(400);
    expect(await deliver("not json")).toBe(400);
    expect(await deliver(event, "dev.cdevents.artifact.packaged.0.2.0")).toBe(400);
    expect(world.requested).toHaveLength(2);
  });

  test("of any type gets 200 if none is listed", async () => {
    await world.ready({ type: "cdevents" });
    expect(await deliver(event, "other")).toBe(200);
  });
});
