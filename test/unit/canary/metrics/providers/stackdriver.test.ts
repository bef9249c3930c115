import { createVerify, generateKeyPairSync } from "node:crypto";
import { expect, test } from "vitest";
import { askedOf, serverWorld } from "./server-world.ts";

const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2_048 });
const key = {
  ...{ type: "service_account", client_email: "sluice@p.iam.gserviceaccount.com", private_key_id: "id" },
  private_key: privateKey.export({ type: "pkcs8", format: "pem" }),
};
const secret = { project: "my-project", serviceAccountKey: JSON.stringify(key) };
const token = { body: '{"access_token":"at","expires_in":3599}' };
const ask = (body: string, status = 200) =>
  serverWorld({ type: "stackdriver" }, { secret, answers: [token, { body, status }] });
const answer = (...values: readonly object[]) =>
  JSON.stringify({ timeSeriesData: [{ pointData: [{ values }, { values: [{ doubleValue: 9 }] }] }] });

test("Stackdriver is queried with a token for its service account's key, and the first value of the first point counts", async () => {
  const world = ask(answer({ doubleValue: 1.5 }, { doubleValue: 2 }));
  expect(await world.query("fetch k8s_container")).toBe(1.5);
  const [first, second] = askedOf(world);
  expect(first?.asked).toBe("POST https://oauth2.googleapis.com/token");
  const form = new URLSearchParams(first?.body);
  expect(form.get("grant_type")).toBe("urn:ietf:params:oauth:grant-type:jwt-bearer");
  const [header = "", claims = "", signature = ""] = (form.get("assertion") ?? "").split(".");
  expect(createVerify("sha256").update(`${header}.${claims}`).verify(publicKey, signature, "base64url")).toBe(true);
  expect(JSON.parse(Buffer.from(claims, "base64url").toString())).toEqual({
    iss: "sluice@p.iam.gserviceaccount.com",
    scope: "https://www.googleapis.com/auth/monitoring.read",
    aud: "https://oauth2.googleapis.com/token",
    iat: 1_795_348_800,
    exp: 1_795_352_400,
  });
  expect(second).toEqual({
    asked: "POST https://monitoring.googleapis.com/v3/projects/my-project/timeSeries:query",
    headers: { authorization: "Bearer at", "content-type": "application/json" },
    body: '{"query":"fetch k8s_container"}',
  });
});

test("Stackdriver may return a whole number", async () => {
  expect(await ask(answer({ int64Value: "42" })).query("q")).toBe(42);
});

test.each([["{}"], ['{"timeSeriesData":[]}'], ['{"timeSeriesData":[{"pointData":[]}]}']])(
  "an answer of Stackdriver without values has no data: %s",
  async (body) => {
    expect(await ask(body).query("q")).toBe(`none: invalid response: ${body}: no values found`);
  },
);

test("an error of Stackdriver is reported; its error for an empty query shows that it answers", async () => {
  const refusal = '{"error":{"code":403,"status":"PERMISSION_DENIED","message":"no permission"}}';
  expect(await ask(refusal, 403).query("q")).toBe("error requesting stackdriver: PERMISSION_DENIED: no permission");
  expect(await ask(refusal, 403).probe()).toBe("unexpected status code: PERMISSION_DENIED: no permission");
  expect(await ask("{}", 400).probe()).toBe("online");
});

test("the answer of Google's token service is never shown", async () => {
  const world = serverWorld({ type: "stackdriver" }, { secret, answers: [{ status: 400, body: "hunter2" }] });
  expect(await world.query("q")).toBe(
    "error requesting stackdriver: the token service oauth2.googleapis.com: status 400 Bad Request",
  );
});

test.each([
  [{ serviceAccountKey: "{}" }, "stackdriver credentials does not contain a project id"],
  [{ project: "p", serviceAccountKey: "{}" }, "serviceAccountKey: it is not the JSON key of a service account"],
  [
    { project: "p", serviceAccountKey: JSON.stringify({ ...key, private_key: "x" }) },
    "serviceAccountKey: private_key is not a private key in PEM",
  ],
  [
    { project: "p" },
    "google: could not find default credentials: put a serviceAccountKey into the Secret of the provider",
  ],
])("Stackdriver needs project and key: %#", async (given, text) => {
  expect(await serverWorld({ type: "stackdriver" }, { secret: given }).query("q")).toBe(text);
});
