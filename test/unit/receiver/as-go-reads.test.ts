import { createHmac } from "node:crypto";
import { expect, test } from "vitest";
import { isJsonType, mediaTypeOf } from "../../../lib/receiver/media-type.ts";
import { readyWorld, token } from "./receiver-world.ts";

// What notification-controller v1.9.3 answered to the same deliveries, 2026-11-23.

const form = "application/x-www-form-urlencoded";
const signatureOf = (body: string): string => `sha256=${createHmac("sha256", token).update(body).digest("hex")}`;

test.each([
  ["application/json", "application/json"],
  ["Application/JSON ; Charset=utf-8", "application/json"],
  ["application/json;charset=utf-8; ", "application/json"],
  ["application/json;", "application/json"],
  ['application/json; charset="utf-8"', "application/json"],
  [String.raw`application/json; a="x\"y;"; b=1`, "application/json"],
  ["application/json; a=1; A=1", "application/json"],
  ["application/json; a*0=x; a*1=y", "application/json"],
  [`${form}; charset=utf-8`, form],
  ["json", "json"],
])("the content type %j is parsed as %s", (header, type) => {
  expect(mediaTypeOf(header)).toBe(type);
});

test.each([
  "",
  "application/",
  "/json",
  "application/json/x",
  "application/json charset=utf-8",
  "application/json, text/plain",
  "application/json;;",
  "application/json; charset",
  "application/json; charset=",
  'application/json; charset="utf-8',
  String.raw`application/json; a="x\"`,
  "application/json; =1",
  "application/json; a=1; a=2",
  'application/json; a="x"; A=y',
  "application/json; a*0=x; a*0=y",
  "application/json; a b=1",
  "application/json; a=b c",
  "application/json; a=\u00fc",
  "application/json; a=b;;c=d",
])("the content type %j is invalid", (header) => {
  expect(mediaTypeOf(header)).toBeUndefined();
});

test.each([
  ["text/plain, application/json", true],
  ["text/plain,Application/JSON;charset=x", true],
  ["application/json, foo bar", true],
  ["foo bar, application/json", false],
  [", application/json", false],
  ["text/plain; a, application/json", false],
  ['application/json; a="b,c"', false],
  ["application/jsonx", false],
  ["application/vnd.github+json", false],
])("with the header list %j filters read the body: %j", (header, isJson) => {
  expect(isJsonType(header)).toBe(isJson);
});

test.each([
  ["payload=%7B%7D", 200],
  ["payload=a+b%2fc&&=x", 200],
  ["", 200],
  ["payload=%zz", 400],
  ["payload=%7", 400],
  ["a=1&b=%", 400],
  ["a=b;c=d", 400],
])("the GitHub form %j is answered with %i", async (body, status) => {
  const world = await readyWorld({ type: "github" });
  const headers = { "Content-Type": form, "X-Hub-Signature-256": signatureOf(body) };
  expect(await world.deliver({ headers, body })).toBe(status);
});

test.each([
  ["quay", "null", 200],
  ["quay", '{"docker_url":null,"updated_tags":["a",null]}', 200],
  ["quay", '{"Docker_Url":5}', 400],
  ["quay", '{"updated_tags":["a",5]}', 400],
  ["quay", '{"updated_tags":{}}', 400],
  ["dockerhub", '{"push_data":null,"repository":{"other":5}}', 200],
  ["dockerhub", '{"push_data":{"Tag":5}}', 400],
  ["dockerhub", '{"Repository":5}', 400],
  ["acr", '{"action":null,"target":{"tag":null}}', 200],
  ["acr", '{"TARGET":[]}', 400],
  ["acr", "[]", 400],
] as const)("%s with the body %s is answered with %i", async (type, body, status) => {
  const world = await readyWorld({ type });
  expect(await world.deliver({ body })).toBe(status);
});

test.each([
  ["\u00fcbung", 200],
  ["ubung", 400],
])("the event %s is answered with %i if it is listed in this letter case", async (event, status) => {
  const world = await readyWorld({ type: "gitlab", events: ["\u00dcBUNG"] });
  // Node hands out the bytes of a header as characters.
  const headers = { "X-Gitlab-Token": token, "X-Gitlab-Event": Buffer.from(event).toString("latin1") };
  expect(await world.deliver({ headers })).toBe(status);
});
