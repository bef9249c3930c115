import { createVerify, generateKeyPairSync } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { ProviderSettings } from "../../../lib/notify/provider.ts";
import { googlepubsub } from "../../../lib/notify/providers/googlepubsub.ts";
import { recordedSteps } from "./recorded-deliveries.ts";
import { type Answer, recordingParts, settingsOf } from "./recording-http.ts";

const never = new AbortController().signal;
const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
const account = {
  type: "service_account",
  client_email: "flux@project.iam.gserviceaccount.com",
  private_key_id: "key-1",
  private_key: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
  token_uri: "https://oauth2.googleapis.com/token",
};
const token: Answer = { body: JSON.stringify({ access_token: "ya29.t", expires_in: 3599, token_type: "Bearer" }) };

async function publish(settings: Partial<ProviderSettings>, ...answers: Answer[]) {
  const parts = recordingParts(...answers);
  const [step] = recordedSteps("notify-generic");
  const [event] = step?.events ?? [];
  if (event === undefined) throw new Error("the recording has no event");
  const provider = googlepubsub(
    settingsOf({
      type: "googlepubsub",
      address: "project",
      channel: "topic",
      token: JSON.stringify(account),
      ...settings,
    }),
    parts,
  );
  let fault = "";
  try {
    await provider.post(event, never);
  } catch (error) {
    fault = error instanceof Error ? error.message : "not an error";
  }
  const bodies = parts.requests.map(({ body }) => Buffer.from(body ?? []).toString());
  return { parts, fault, bodies, recorded: step?.deliveries[0]?.raw };
}

describe("a Provider of type googlepubsub", () => {
  test("requests a token with an assertion that the service account has signed", async () => {
    const { parts, bodies } = await publish({}, token, { body: "{}" });
    expect(parts.requests[0]?.url).toBe("https://oauth2.googleapis.com/token");
    const form = new URLSearchParams(bodies[0]);
    expect(form.get("grant_type")).toBe("urn:ietf:params:oauth:grant-type:jwt-bearer");
    const [header = "", claims = "", signature = ""] = (form.get("assertion") ?? "").split(".");
    const read = (part: string): unknown => JSON.parse(Buffer.from(part, "base64url").toString());
    expect(read(header)).toEqual({ alg: "RS256", typ: "JWT", kid: "key-1" });
    const iat = Date.UTC(2026, 2, 2, 11, 31, 8) / 1000;
    expect(read(claims)).toMatchObject({ iss: account.client_email, aud: account.token_uri, iat, exp: iat + 3600 });
    expect(createVerify("sha256").update(`${header}.${claims}`).verify(publicKey, signature, "base64url")).toBe(true);
  });

  test("publishes the event, with the headers of the Secret as attributes", async () => {
    const headers = { env: "prod" };
    const { parts, fault, bodies, recorded } = await publish({ headers }, token, { body: "{}" });
    expect(fault).toBe("");
    expect(parts.requests[1]).toMatchObject({
      method: "POST",
      url: "https://pubsub.googleapis.com/v1/projects/project/topics/topic:publish",
      headers: { authorization: "Bearer ya29.t" },
    });
    expect(JSON.parse(bodies[1] ?? "")).toEqual({
      messages: [{ data: Buffer.from(recorded ?? "").toString("base64"), attributes: { env: "prod" } }],
    });
  });

  test("reports why a message was not published, as Google's client does", async () => {
    const refusal = { error: { code: 404, message: "Resource not found (resource=topic).", status: "NOT_FOUND" } };
    const { fault } = await publish({}, token, { status: 404, body: JSON.stringify(refusal) });
    expect(fault).toBe(
      "error publishing to GCP Pub/Sub topic projects/project/topics/topic: rpc error: code = NotFound desc = Resource not found (resource=topic).",
    );
  });

  test("reports why it got no token", async () => {
    const { fault } = await publish({}, { status: 400, body: '{"error":"invalid_grant"}' });
    expect(fault).toBe('oauth2: cannot fetch token: 400 Response: {"error":"invalid_grant"}');
  });

  test.each([
    { what: "text that is not JSON", token: "golden-token" },
    { what: "another type", token: JSON.stringify({ ...account, type: "external_account" }) },
    { what: "no key", token: JSON.stringify({ ...account, private_key: "golden-key" }) },
    { what: "a plain-HTTP address for tokens", token: JSON.stringify({ ...account, token_uri: "http://tokens.test" }) },
  ])("refuses a token with $what without quoting it", async ({ token: wrong }) => {
    const { fault, parts } = await publish({ token: wrong });
    expect(fault).toMatch(/^google: /);
    expect(fault).not.toContain("golden");
    expect(parts.requests).toEqual([]);
  });

  test("needs a token, because Sluice has no workload identity for Google", async () => {
    expect((await publish({ token: "" })).fault).toContain("the Secret has no key 'token'");
  });

  test("needs a project and a topic", () => {
    const make = (settings: Partial<ProviderSettings>) => googlepubsub(settingsOf(settings), recordingParts());
    expect(() => make({ channel: "topic" })).toThrow("GCP project ID cannot be empty");
    expect(() => make({ address: "project" })).toThrow("GCP Pub/Sub topic ID cannot be empty");
  });
});
