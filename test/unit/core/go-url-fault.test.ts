import { expect, test } from "vitest";
import { goUrlFault } from "../../../lib/core/go-url-fault.ts";

test.each([
  ["http://127.0.0.1:x/a.git", 'invalid port ":x" after host'],
  ["https://[::1/a.git", "missing ']' in host"],
  ["https://[::1]x/a.git", 'invalid port "x" after host'],
  ["https://a b/c.git", 'invalid character " " in host name'],
  ["https://a/%zz.git", 'invalid URL escape "%zz"'],
  ["https://a/b%2", 'invalid URL escape "%2"'],
  ["https://a%zz/b", 'invalid URL escape "%zz"'],
  ["https://a/b\u0001c", "net/url: invalid control character in URL"],
  ["https://user:x@host:1:y/a", 'invalid port ":1:y" after host'],
  ["https://host/a?x=%zz#%zz", 'invalid URL escape "%zz"'],
  ["https://h%20x/y", 'invalid URL escape "%20"'],
  ["https://a\\b/c", 'invalid character "\\\\" in host name'],
])("for the URL %s Go's error is: %s", (url, says) => {
  expect(goUrlFault(url)).toBe(says);
});

test.each([
  "http://127.0.0.1:1/a b.git",
  "https://[::1]:8080/a.git",
  "ssh://git@host/~/a.git",
  "https://host:/a",
  "https://host/a%20b?x=%zz#%20",
  'https://a"b/c',
])("the URL %s can be parsed by Go", (url) => {
  expect(goUrlFault(url)).toBeUndefined();
});
