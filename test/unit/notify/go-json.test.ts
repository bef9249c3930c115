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
    { what: "escapes separators of lines", value: "\u2028\u2029", json: String.raw`"\u2028\u2029"` },
    {
      what: "has short escapes where Go has them",
      value: '\b\f\n\r\t\u0001"\\',
      json: String.raw`"\b\f\n\r\t\u0001\"\\"`,
    },
    { what: "leaves other characters as they are", value: "é漢🚀\u007f/'", json: '"é漢🚀\u007f/\'"' },
    { what: "has U+FFFD in place of half a surrogate pair", value: "a\ud83d", json: '"a\ufffd"' },
    {
      what: "keeps the order of fields and leaves out what is undefined",
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
    { what: "has lists of anything", value: [1, "a", [], {}, new Map()], json: '[1,"a",[],{},{}]' },
  ])("$what", ({ value, json }) => {
    expect(goJson(value)).toBe(json);
  });

  test("of an event has neither empty metadata nor empty fields of the object", () => {
    const involvedObject = { kind: "Bucket", namespace: "n", name: "b", uid: "", fieldPath: "spec" };
    const event = { ...{ severity: "info", timestamp: "", message: "", reason: "" }, reportingController: "" };
    expect(eventJson({ involvedObject, metadata: {}, ...event })).toBe(
      '{"involvedObject":{"kind":"Bucket","namespace":"n","name":"b","fieldPath":"spec"},"severity":"info","timestamp":null,"message":"","reason":"","reportingController":""}',
    );
  });
});

describe("an address", () => {
  test.each(["http://a.test", "https://a.test/b?c=d", "/path", "scheme:opaque", "HTTP://a.test"])(
    "is taken as Go takes it: %s",
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
  ])("is refused in Go's words: $fault", ({ address, fault }) => {
    expect(goAddressFault(address)).toBe(fault);
  });
});
