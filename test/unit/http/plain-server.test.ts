import { createServer } from "node:http";
import { expect, test } from "vitest";
import { homeNetwork } from "../../../lib/core/network/network-policy.ts";
import { httpClient } from "../../../lib/http/http-client.ts";
import { untilDeadline } from "../../deadline.ts";
import { closeServer } from "../../doubles/close-server.ts";
import { portOnLoopback } from "../../doubles/port-on-loopback.ts";

test("a server that does not speak TLS is reported in Go's words, which are the same each time", async () => {
  const server = createServer((_request, response) => void response.end());
  const url = `https://127.0.0.1:${await portOnLoopback(server)}/x`;
  const http = httpClient({ network: homeNetwork });
  try {
    const request = { method: "GET", url, timeoutMs: 30_000, maxBytes: 1_000 } as const;
    await expect(http.send(request, untilDeadline())).rejects.toThrow(
      `GET ${url}: http: server gave HTTP response to HTTPS client`,
    );
  } finally {
    http.close();
    await closeServer(server);
  }
});
