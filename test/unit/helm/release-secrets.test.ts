import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../lib/core/json.ts";
import type { Manifest } from "../../../lib/core/manifest.ts";
import {
  hidingSecrets,
  maxSecretTextChars,
  maxSecretTexts,
  withoutSecrets,
} from "../../../lib/helm/release-secrets.ts";
import type { NamedLayer } from "../../../lib/helm/values-layers.ts";

const reference = { kind: "Secret", name: "db" } as const;
const secret = (values: JsonObject): NamedLayer => ({ values, reference });
const inline = (values: JsonObject): NamedLayer => ({ values, reference: undefined });
const base64 = (text: string) => Buffer.from(text).toString("base64");

/** What is shown of a text beside these layers of values. */
function shown(
  text: string,
  layers: readonly NamedLayer[] | undefined,
  more: Partial<Parameters<typeof hidingSecrets>[0]> = {},
): string {
  return hidingSecrets({ texts: [], layers, stored: [], objects: [], ...more })(text);
}

describe("a text about a release is shown without the values that came from a Secret", () => {
  test.each([
    { what: "as it is", value: "s3cr3t-x", text: "the password s3cr3t-x is too short" },
    { what: "in a longer text", value: "s3cr3t-x", text: 'Invalid value: "postgres://app:s3cr3t-x@db"' },
    { what: "in quotes of Go", value: 'a"b\\c\nd\u0007é', text: String.raw`parsing "a\"b\\c\nd\aé": invalid syntax` },
    { what: "in quotes inside quotes", value: 'say"me', text: String.raw`error: "cannot read \"say\\\"me\""` },
    { what: "in JSON that Go has written", value: "a<b>&c", text: String.raw`{"a":"a\u003cb\u003e\u0026c"}` },
    { what: "in single quotes of YAML", value: "it's-mine", text: "password: 'it''s-mine'" },
    { what: "in base64", value: "s3cr3t-x", text: `auth: ${base64("s3cr3t-x")}` },
    { what: "in the base64 of a longer text", value: "s3cr3t-x", text: `auth: ${base64("u:s3cr3t-x")}` },
    { what: "in a URL", value: "s3 cr3t/x", text: "https://db/?p=s3%20cr3t%2Fx" },
    { what: "in a query of a URL as urlquery writes it", value: "p@ss w!", text: "https://db/?p=p%40ss+w%21" },
    { what: "that its URL has escaped", value: "redis://:p%40ss%20w!@cache", text: "cannot log in with p@ss w!" },
    { what: "that go-yaml has cut", value: "s3cr3t-x-and-more", text: "cannot unmarshal !!str `s3cr3t-...` into int" },
    { what: "that is a number", value: 12_345_678, text: "port 12345678 is too large, or 1.2345678e+07" },
    {
      what: "that stands in a list of a subchart",
      value: { redis: { hosts: ["s3cr3t-x"] } },
      text: "bad host s3cr3t-x",
    },
    { what: "a line of it", value: "first-line\n  second-line\n", text: "line 2: second-line" },
    { what: "that is the JSON in it", value: '{"auths":{"r":{"auth":"s3cr3t-x"}}}', text: "bad auth s3cr3t-x" },
    { what: "the password of its URL", value: "redis://:s3cr3t-x@cache:6379", text: "cannot log in with s3cr3t-x" },
  ])("$what: $text", ({ text, value }) => {
    const told = shown(text, [secret({ a: value })]);
    expect(told).toContain("*****");
    for (const part of [
      "p@ss",
      "p%40ss",
      "s3cr3t",
      "czNjcjN0",
      "a<b",
      "003cb",
      "mine",
      "second",
      "123456",
      "2345678",
      'a\\"b',
      "say",
    ]) {
      expect(told).not.toContain(part);
    }
  });

  test.each(['{"db":{"password":"s3cr3t-x"}}', "db: {password: s3cr3t-x}", "db:\n  password: s3cr3t-x"])(
    "if the values cannot be composed: %s",
    (text) => expect(shown("bad s3cr3t-x", undefined, { texts: [{ text, reference }] })).toBe("bad *****"),
  );

  test("and is cut at the length of a message, while a value of any length stays whole", () => {
    const long = `${"x".repeat(100_000)} s3cr3t-x`;
    const hide = hidingSecrets({ texts: [], layers: [secret({ a: "s3cr3t-x" })], stored: [], objects: [] });
    expect(hide(long).length).toBeLessThan(long.length / 2);
    expect(hide.whole(long)).toBe(long.replace("s3cr3t-x", "*****"));
  });

  test("values of less than four characters, true, false and null stay, and so do values of ConfigMaps and of the spec", () => {
    const layers = [
      secret({ a: "abc", b: true, c: "true", d: null, e: "null", f: 80 }),
      { values: { g: "from-map" }, reference: { kind: "ConfigMap", name: "c" } as const },
      inline({ h: "from-spec" }),
    ];
    const text = "abc true null 80 from-map from-spec";
    expect(shown(text, layers)).toBe(text);
  });

  test("the keys that the text of a Secret sets beside its targetPath, as `a,b=c` does", () => {
    const layer = { values: { pin: "a", hunter2: "c" }, reference: { ...reference, targetPath: "pin" } };
    expect(shown("unknown key hunter2", [layer])).toBe("unknown key *****");
  });

  test("if the values cannot be composed: the values of each line, but not the names of fields", () => {
    const texts = [{ text: "auth:\n  password: 'hunter2'\n  - item-x\n", reference }];
    expect(shown("auth password hunter2 item-x", undefined, { texts })).toBe("auth password ***** *****");
  });

  test("the whole text of a Secret at a targetPath, also of one whose value is only a part of it", () => {
    const texts = [{ text: "hunter2,b=c", reference: { ...reference, targetPath: "a" } }];
    expect(shown("a: hunter2,b=c", [secret({})], { texts })).toBe("a: *****");
  });

  test("a stored value, unless spec.values or a ConfigMap sets its path now", () => {
    const stored = [{ old: "hunter1", color: "white", rotated: "hunter2" }];
    const layers = [secret({ rotated: "hunter3" }), inline({ color: "green" })];
    expect(shown("hunter1 white hunter2 hunter3", layers, { stored })).toBe("***** white ***** *****");
  });

  test("the data of a Secret that the chart renders or looks up, but not that of other objects", () => {
    const object = (kind: string, fields: object): Manifest => ({
      apiVersion: "v1",
      kind,
      metadata: { name: "x" },
      ...fields,
    });
    const objects = [
      object("Secret", { data: { a: base64("rendered-1") } }),
      object("Secret", { stringData: { a: "rendered-2" } }),
      object("ConfigMap", { data: { a: "config" } }),
    ];
    expect(shown("rendered-1 rendered-2 config", [], { objects })).toBe("***** ***** config");
  });

  test("nothing of a message is shown if there are too many values to search it for", () => {
    const values = (count: number) => ({ list: Array.from({ length: count }, (_, at) => `value-${at}`) });
    const count = maxSecretTexts;
    expect(shown(`value-${count - 1} is bad`, [secret(values(count))])).toBe("***** is bad");
    expect(shown("value-1 is bad", [secret(values(count + 1))])).toMatch(/^the message is not shown, because /);
    const long = (chars: number) => secret({ a: "x".repeat(chars) });
    expect(shown("fine", [long(maxSecretTextChars)])).toBe("fine");
    expect(shown("fine", [long(maxSecretTextChars + 1)])).toMatch(/^the message is not shown, because /);
  });

  test("in a value of an object each text and number by itself, and the rest as it was", () => {
    const hide = hidingSecrets({ texts: [], layers: [secret({ a: "hunter2", b: 54_321 })], stored: [], objects: [] });
    expect(withoutSecrets({ env: ["x=hunter2", 54_321, 8080, true, null] }, hide)).toEqual({
      env: ["x=*****", "*****", 8080, true, null],
    });
  });
});
