import { once } from "node:events";
import { createServer } from "node:net";
import { expect, test } from "vitest";
import { ephemeralStart, freePorts } from "./free-ports.ts";

test("free ports differ, can be listened on, and are outside the system's ephemeral range", async () => {
  const ports = await freePorts(20);
  expect(new Set(ports).size).toBe(20);
  const given = ephemeralStart() < 11_000 ? [] : ports.filter((port) => port >= ephemeralStart());
  expect(given).toEqual([]);
  for (const port of ports) {
    const server = createServer();
    await once(server.listen(port, "127.0.0.1"), "listening");
    server.close();
  }
});
