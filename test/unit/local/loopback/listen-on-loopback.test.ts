import { once } from "node:events";
import { createServer } from "node:http";
import { connect } from "node:net";
import { expect, test } from "vitest";
import { listenOnLoopback } from "../../../../local/loopback/listen-on-loopback.ts";

test("a server of sluice local can be reached at 127.0.0.1 and at no other address of this machine", async () => {
  const listening = await listenOnLoopback(createServer(), 0, { name: "the server", option: "--port" });
  const { port } = listening;
  const near = connect({ host: "127.0.0.1", port });
  await once(near, "connect");
  near.destroy();
  // Linux answers at all of 127.0.0.0/8 where a server listens at every address.
  const other = connect({ host: "127.0.0.2", port });
  await expect(once(other, "connect")).rejects.toMatchObject({ code: "ECONNREFUSED" });
  await listening.close();
});
