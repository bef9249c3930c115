import { describe, expect, test } from "vitest";
import { type GoValue, goJson } from "../../../lib/core/go-json.ts";
import { eventJson } from "../../../lib/notify/event-json.ts";
import { goAddressFault } from "../../../lib/notify/go-address-fault.ts";

describe("JSON as Go writes it", () => {
  test.each<{ what: string; value: GoValue; json: string }>([
    {
      what: "escapes what HTML could take for markup",
      value: "<a>&</a>",
      json: String.raw`"\u003ca\u003e\u0026\u003c/a\u003e"`,
    },
    { what: "escapes line separators", value: "\u2028\u2029", json: String.raw`"\u2028\u2029"` },
    {
      what: "uses short escapes like Go",
      value: '\b\f\n\r\t\u0001"\\',
      json: String.raw`"\b\f\n\r\t\u0001\"\\"`,
    },
    { what: "leaves other characters unchanged", value: "é漢🚀\u007f/'", json: '"é漢🚀\u007f/\'"' },
    { what: "writes U+FFFD for half a surrogate pair", value: "a\ud83d", json: '"a\ufffd"' },
    {
      what: "keeps the order of fields and drops undefined ones",
      value: { b: 1, c: undefined, a: null },
      json: '{"b":1,"a":null}',
    },
    { what: "escapes keys too", value: new Map([["<", true]]), json: String.raw`{"\u003c":true}` },
    {
      what: "sorts the keys of a map by their bytes in UTF-8",
      value: new Map([
        ["🚀", 1],
        ["\ufffd", 2],
        ["b", 3],
        ["10", 4],
        ["2", 5],
        ["B", 6],
        ["", 7],
      ]),
      json: '{"":7,"10":4,"2":5,"B":6,"b":3,"\ufffd":2,"🚀":1}',
    },
    { what: "supports lists of any values", value: [1, "a", [], {}, new Map()], json: '[1,"a",[],{},{}]' },
  ])("$what", ({ value, json }) => {
    expect(goJson(value)).toBe(json);
  });

  test("of an event has no empty metadata and no empty fields of the object", () => {
    const involvedObject = { kind: "Bucket", namespace: "n", name: "b", uid: "", fieldPath: "spec" };
    const event = { ...{ severity: "info", timestamp: "", message: "", reason: "" }, reportingController: "" };
    expect(eventJson({ involvedObject, metadata: {}, ...event })).toBe(
      '{"involvedObject":{"kind":"Bucket","namespace":"n","name":"b","fieldPath":"spec"},"severity":"info","timestamp":null,"message":"","reason":"","reportingController":""}',
    );
  });
});

describe("an address", () => {
  test.each(["http://a.test", "https://a.test/b?c=d", "/path", "scheme:opaque", "HTTP://a.test"])(
    "is accepted as in Go: %s",
    (address) => {
      expect(goAddressFault(address)).toBeUndefined();
    },
  );

  test.each([
    { address: "", fault: 'parse "": empty url' },
    { address: "a.test/b", fault: 'parse "a.test/b": invalid URI for request' },
    { address: "1http://a.test", fault: 'parse "1http://a.test": invalid URI for request' },
    { address: "://a.test", fault: 'parse "://a.test": missing protocol scheme' },
    {
      address: "http://a.test/\n",
      fault: String.raw`parse "http://a.test/\n": net/url: invalid control character in URL`,
    },
    { address: "http://[::1", fault: `parse "http://[::1": missing ']' in host` },
    { address: "http://a b/", fault: 'parse "http://a b/": invalid character " " in host name' },
  ])("is refused with Go's text: $fault", ({ address, fault }) => {
    expect(goAddressFault(address)).toBe(fault);
  });
});
