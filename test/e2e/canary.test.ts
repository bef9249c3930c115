import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { canary, leaks, toldByObjects, withCanary } from "./canary.ts";

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");

test.each([
  { name: "in clear", text: `password ${canary} is too short` },
  { name: "cut", text: `cannot unmarshal !!str \`${canary.slice(0, 7)}...\` into int` },
  { name: "in JSON in JSON", text: JSON.stringify(JSON.stringify({ a: canary })) },
  { name: "in a URL", text: `https://user:${encodeURIComponent(canary)}@example.com` },
  { name: "as a value of data", text: Buffer.from(canary).toString("base64") },
  { name: "in base64, after one byte", text: Buffer.from(`:${canary}`).toString("base64") },
  { name: "in base64, after two bytes", text: Buffer.from(`a:${canary} and more`).toString("base64") },
  { name: "in base64 for URLs", text: Buffer.from(`a:${canary} and more`).toString("base64url") },
  { name: "in hexadecimal digits", text: Buffer.from(canary).toString("hex") },
  { name: "as its digest", text: `sha256:${sha256(canary)}` },
  { name: "as the digest of its base64", text: sha256(Buffer.from(canary).toString("base64")) },
  { name: "as the digest of an object that has it", text: sha256('{"a":"object"}') },
])("the secret scan finds a planted secret: $name", ({ text }) => {
  expect(leaks([{ where: "the log", text }], ['{"a":"object"}'])).not.toEqual([]);
});

test("the secret scan finds nothing in objects without a planted secret", () => {
  const text = `hmac-sha256:${sha256("another text")} ${Buffer.from("another text").toString("base64")}`;
  expect(leaks([{ where: "the log", text }])).toEqual([]);
});

test("secrets are planted in Secrets, and searched in statuses and events, not in specs", () => {
  const secret = { apiVersion: "v1", kind: "Secret", metadata: { name: "s" }, data: { a: "YQ==" } };
  expect(withCanary(secret)).toEqual({ ...secret, stringData: { canary } });
  expect(withCanary({ ...secret, kind: "ConfigMap" })).toEqual({ ...secret, kind: "ConfigMap" });
  const app = { kind: "Kustomization", metadata: { name: "app" } };
  const event = { kind: "Event", metadata: { name: "e" }, message: canary };
  expect(leaks(toldByObjects([{ ...app, spec: { patches: [{ patch: canary }] } }]))).toEqual([]);
  expect(leaks(toldByObjects([{ ...app, status: { conditions: [{ message: canary }] } }, event]))).toEqual([
    "Kustomization/app has the canary",
    "Event/e has the canary",
  ]);
});
