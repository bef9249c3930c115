import { createHmac } from "node:crypto";
import { describe, expect, test } from "vitest";
import { Secret } from "../../../lib/core/secret.ts";
import { noTenant } from "../../../lib/core/tenant.ts";
import { authentications } from "../../../lib/receiver/authenticate.ts";
import { maxBodyDepth, maxBodyValues, parseBody } from "../../../lib/receiver/delivery.ts";
import { hmacFault } from "../../../lib/receiver/signature.ts";

const token = "q7Zt";
const signatureOf = (body: string, hash = "sha256", by = token): string =>
  `${hash}=${createHmac(hash, by).update(body).digest("hex")}`;

interface Sent {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly events?: readonly string[];
}

async function kindOf(type: keyof typeof authentications, { headers = {}, body = "{}", events = [] }: Sent) {
  const delivery = { uri: "/hook/x", header: (name: string) => headers[name], body: Buffer.from(body) };
  const entry = { state: "ready", type, events, resources: [] } as const;
  const challenge = { delivery, secret: new Map([["token", new Secret(token)]]), entry, tenant: noTenant };
  return (await authentications[type]?.(challenge, new AbortController().signal))?.kind;
}

const shapes = [
  { type: "dockerhub", paths: ["push_data.tag", "repository.repo_url"] },
  { type: "quay", paths: ["docker_url", "updated_tags"] },
  { type: "acr", paths: ["action", "target.repository", "target.tag"] },
  { type: "nexus", paths: ["action", "repositoryName"] },
] as const;
const fields = shapes.flatMap(({ type, paths }) => paths.map((path) => ({ type, path })));
test.each(fields)(
  "a delivery to $type is refused with the type of $path and accepted with null",
  async ({ type, path }) => {
    const deliver = (value: unknown) => {
      const body = JSON.stringify(path.split(".").reduceRight<unknown>((inner, name) => ({ [name]: inner }), value));
      const signature = createHmac("sha1", token).update(body).digest("hex");
      return kindOf(type, { headers: { "x-nexus-webhook-signature": signature }, body });
    };
    expect(await deliver(5)).toBe("refused");
    expect(await deliver(null)).toBe("accepted");
  },
);

describe.each([
  { type: "github", header: "x-github-event" },
  { type: "bitbucket", header: "x-event-key" },
  { type: "gitlab", header: "x-gitlab-event" },
] as const)("a delivery to $type", ({ type, header }) => {
  const headers = {
    "content-type": "application/json",
    "x-hub-signature-256": signatureOf("{}"),
    "x-gitlab-token": token,
  };
  test.each([
    ["push", "accepted"],
    ["PUSH", "accepted"],
    ["tag", "accepted"],
    ["push_tag", "refused"],
    ["pus", "refused"],
    ["", "refused"],
  ])("with the event %j gets %s if push and Tag are listed", async (event, kind) => {
    expect(await kindOf(type, { headers: { ...headers, [header]: event }, events: ["push", "Tag"] })).toBe(kind);
  });

  test("with any event is accepted if none is listed", async () => {
    expect(await kindOf(type, { headers: { ...headers, [header]: "x" } })).toBe("accepted");
  });
});

test.each([
  { newer: signatureOf("{}"), older: signatureOf("{}", "sha1"), kind: "accepted" },
  { newer: signatureOf("{}"), older: "sha1=00", kind: "accepted" },
  { newer: "sha256=00", older: signatureOf("{}", "sha1"), kind: "refused" },
  { newer: "", older: signatureOf("{}", "sha1"), kind: "accepted" },
  { newer: "", older: "", kind: "refused" },
])("with two signatures uses the newer header if it is present: $kind", async ({ newer, older, kind }) => {
  const headers = { "content-type": "application/json", "x-hub-signature-256": newer, "x-hub-signature": older };
  expect(await kindOf("github", { headers })).toBe(kind);
  expect(await kindOf("bitbucket", { headers })).toBe(kind);
});

test.each(["=", "=00", "=="])("with %j after the digits of its signature is refused", (more) => {
  const [bytes, body] = [Buffer.from(token), Buffer.from("{}")];
  expect(hmacFault(signatureOf("{}"), bytes, body)).toBeUndefined();
  expect(hmacFault(`${signatureOf("{}")}${more}`, bytes, body)).toBe("the signature is not hexadecimal");
});

test.each([
  ["{", '{"a":', "}"],
  ["[", "[", "]"],
])("a body may nest %s as deep as the limit and no deeper, wherever it closes before", (_what, open, close) => {
  const deep = (levels: number): string => `${open.repeat(levels)}1${close.repeat(levels)}`;
  const many = Array.from({ length: 2 * maxBodyDepth }, () => deep(1)).join(",");
  const inside = JSON.stringify(`"${"[{".repeat(maxBodyDepth)}\\`);
  const bodyOf = (levels: number): Buffer => Buffer.from(`[${many},${inside},${deep(levels - 1)}]`);
  expect(parseBody(bodyOf(maxBodyDepth))).toHaveProperty("value");
  expect(parseBody(bodyOf(maxBodyDepth + 1))).toEqual({ fault: `nests deeper than ${maxBodyDepth}` });
});

test.each([
  { what: "numbers", bodyOf: (count: number) => `[${"1,".repeat(count - 2)}1]` },
  { what: "lists", bodyOf: (count: number) => `[${"[[]],".repeat((count - 100) / 3)}${"1,".repeat(97)}1,1]` },
  { what: "fields", bodyOf: (count: number) => `{${'"a":1,'.repeat(count - 2)}"a":1}` },
])("a body may have as many $what as the limit and no more", ({ bodyOf }) => {
  const full = bodyOf(maxBodyValues);
  expect(parseBody(Buffer.from(full))).toHaveProperty("value");
  const text = `"${"[{,".repeat(maxBodyValues)}"`;
  const more = full.replace("1", `${text}`);
  expect(parseBody(Buffer.from(more))).toHaveProperty("value");
  expect(parseBody(Buffer.from(full.replace("1", "[]")))).toEqual({ fault: `has more than ${maxBodyValues} values` });
});
