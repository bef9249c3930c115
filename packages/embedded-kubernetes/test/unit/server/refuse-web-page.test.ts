import { expect, test } from "vitest";
import { refuseWebPage } from "../../../src/server/refuse-web-page.ts";

test.each(["127.0.0.1", "127.0.0.1:8080", "localhost:1", "[::1]:8080", "LOCALHOST"])(
  "a client that calls the server by a loopback name is served: %s",
  (host) => {
    expect(refuseWebPage({ host })).toBeUndefined();
  },
);

test.each(["evil.example", "evil.example:8080", "localhost.evil.example", "127.0.0.1.evil.example", "", "a b", "[::1"])(
  "another name that resolves to this server is refused, as after DNS rebinding: %j",
  (host) => {
    expect(refuseWebPage({ host })).toContain(`and not to the Host ${JSON.stringify(host)}`);
  },
);

test.each(["http://evil.example", "null", "http://localhost:8080"])(
  "a request of a web page is refused: %s",
  (origin) => {
    expect(refuseWebPage({ host: "localhost:8080", origin })).toContain(`the Origin is ${JSON.stringify(origin)}`);
  },
);

test("a long Host header is cut in the answer", () => {
  expect(refuseWebPage({ host: "a".repeat(10_000) })?.length).toBeLessThan(300);
});
