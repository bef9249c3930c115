import { readFile } from "node:fs/promises";
import { afterAll, expect, test } from "vitest";
import { z } from "zod";
import { celModule, wasmCel } from "../../../lib/cel/wasm-cel.ts";
import type { JsonObject } from "../../../lib/core/json.ts";
import { homeNetwork } from "../../../lib/core/network/network-policy.ts";
import type { ReceiverEntry } from "../../../lib/core/ports/receiver-index.ts";
import { Secret } from "../../../lib/core/secret.ts";
import { noTenant } from "../../../lib/core/tenant.ts";
import { httpClient } from "../../../lib/http/http-client.ts";
import type { Verdict } from "../../../lib/receiver/authenticate.ts";
import { issuedTokens } from "../../../lib/receiver/issued-tokens.ts";
import { steppedClock } from "../../doubles/stepped-clock.ts";
import { rsa, signedToken, startIssuer } from "./token-issuer.ts";

const clock = steppedClock();
const cel = wasmCel({ file: celModule, threads: 1, idleMs: 60_000 });
const http = httpClient({ network: homeNetwork });
afterAll(async () => {
  http.close();
  await cel.close();
});
const types = issuedTokens({ cel, clock, http });

interface Sent {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly secret?: Readonly<Record<string, string>>;
  readonly events?: readonly string[];
  readonly oidcProviders?: readonly JsonObject[];
}

async function verdict(type: "generic-oidc" | "gcr" | "cdevents", sent: Sent): Promise<Verdict> {
  const { headers = {}, body = "", secret = {}, events = [], oidcProviders = [] } = sent;
  const entry: ReceiverEntry = { state: "ready", type, events, oidcProviders, resources: [] };
  const values = new Map(Object.entries(secret).map(([key, value]) => [key, new Secret(value)]));
  const delivery = { uri: "/hook/x", header: (name: string) => headers[name], body: Buffer.from(body) };
  const found = await types[type]?.(
    { delivery, secret: values, entry, tenant: noTenant },
    new AbortController().signal,
  );
  if (found === undefined) throw new Error(`no type ${type}`);
  return found;
}

test("notification statement 32: a delivery with a valid token has its claims, and one that fails a validation is refused", async () => {
  await using issuer = await startIssuer();
  const validations = [{ expression: "claims.sub == 'a'", message: "not a" }];
  const oidcProviders = [{ issuerURL: issuer.url, audience: "sluice", validations }];
  const claims = { iss: issuer.url, aud: "sluice", sub: "a", exp: clock.now() / 1000 + 60 };
  const sent = (more: object) => ({
    oidcProviders,
    headers: {
      authorization: `Bearer ${signedToken(rsa.privateKey, { alg: "RS256", kid: "one" }, { ...claims, ...more })}`,
    },
  });
  expect(await verdict("generic-oidc", sent({}))).toMatchObject({
    kind: "accepted",
    claims: { text: expect.stringContaining('"sub":"a"') },
  });
  expect(await verdict("generic-oidc", sent({ sub: "b" }))).toEqual({
    kind: "refused",
    why: "token validation failed: not a",
  });
  expect(await verdict("generic-oidc", { oidcProviders })).toMatchObject({ kind: "refused" });
});

test("notification statement 34: without email or audience in the Secret nothing is requested from Google", async () => {
  const secret = { token: "t", email: "a@example" };
  expect(await verdict("gcr", { secret, headers: { authorization: "Bearer a.b.c" } })).toEqual({
    kind: "refused",
    why: "invalid secret data: required field 'audience' for GCR receiver",
  });
});

test("notification statement 35: a valid CDEvent is accepted if its Ce-Type is listed", async () => {
  const file = new URL("../../fixtures/cdevents/judged.json", import.meta.url);
  const { events } = z.object({ events: z.array(z.unknown()) }).parse(JSON.parse(await readFile(file, "utf8")));
  const body = JSON.stringify(events[0]);
  const listed = ["dev.cdevents.artifact.deleted.0.1.0"];
  const headers = { "ce-type": "dev.cdevents.Artifact.deleted.0.1.0" };
  expect(await verdict("cdevents", { body, headers, events: listed })).toEqual({ kind: "accepted" });
  expect(await verdict("cdevents", { body, headers: {}, events: [] })).toEqual({ kind: "accepted" });
  expect(await verdict("cdevents", { body, headers: { "ce-type": "other" }, events: listed })).toMatchObject({
    kind: "refused",
  });
  expect(await verdict("cdevents", { body: "{}", headers, events: listed })).toMatchObject({ kind: "refused" });
});
