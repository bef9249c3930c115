import { describe, expect, test } from "vitest";
import type { GitBytes, GitTransport } from "../../../../lib/sources/git/git-transport.ts";
import { openGitRemote } from "../../../../lib/sources/git/open-git-remote.ts";
import { flushPkt, pktLine } from "../../../../lib/sources/git/pkt-line.ts";
import { never } from "../../../contract/state-back-end.ts";
import { inPieces, oidOf, packOf } from "./pack-of.ts";

const oid = oidOf("blob", Buffer.from("abc"));
const other = "1".repeat(40);
const pack = packOf([{ type: "blob", bytes: Buffer.from("abc") }]);

/** A transport that says what it is told to: over a channel one answer after the other. */
function scripted(isStateless: boolean, greetings: readonly string[], answers: readonly (string | Uint8Array)[]) {
  const sent: string[] = [];
  const waiting = { greetings: [...greetings], answers: [...answers] };
  let disposed = 0;
  let channel: { readonly bytes: GitBytes; add(answer: string | Uint8Array): void } | undefined;
  const transport: GitTransport = {
    url: "ssh://git@example.com/repository.git",
    isStateless,
    async greet() {
      sent.push("greet");
      channel = openChannel();
      channel.add(waiting.greetings.shift() ?? "");
      return Promise.resolve(channel.bytes);
    },
    async send(request) {
      sent.push(Buffer.from(request).toString());
      const answer = waiting.answers.shift() ?? "";
      if (isStateless) return Promise.resolve(inPieces(Buffer.from(answer)));
      channel?.add(answer);
      return Promise.resolve(channel?.bytes ?? inPieces(Buffer.alloc(0)));
    },
    [Symbol.asyncDispose]: () => Promise.resolve(void disposed++),
  };
  return { transport, sent, disposed: () => disposed };
}

/** Says what was added, and ends where more is wanted than that. */
function openChannel() {
  const pieces: Uint8Array[] = [];
  const bytes: GitBytes = {
    next: () => {
      const value = pieces.shift();
      return Promise.resolve(value === undefined ? { done: true, value: undefined } : { done: false, value });
    },
  };
  return { bytes, add: (answer: string | Uint8Array) => void pieces.push(Buffer.from(answer)) };
}

const advertised = (capabilities: string): string =>
  `${pktLine(`${oid} HEAD\0${capabilities}`)}${pktLine(`${oid} refs/heads/main`)}${flushPkt}`;
const version2 = `${["version 2", "ls-refs", "fetch=shallow"].map(pktLine).join("")}${flushPkt}`;
const main = [{ name: "refs/heads/main", oid }];

describe("over a channel", () => {
  test("a server of protocol version 2 lists and serves in one connection", async () => {
    const listed = `${pktLine(`${oid} refs/heads/main`)}${flushPkt}`;
    const band = (bytes: Uint8Array) =>
      Buffer.concat([Buffer.from((bytes.length + 5).toString(16).padStart(4, "0")), Buffer.from([1]), bytes]);
    const given = Buffer.concat([Buffer.from(pktLine("packfile")), band(pack), Buffer.from(flushPkt)]);
    const { transport, sent, disposed } = scripted(false, [version2], [listed, given, listed]);
    {
      await using remote = openGitRemote(transport);
      expect(await remote.list(["refs/heads/"], never)).toEqual(main);
      await using objects = await remote.fetch([oid], {}, never);
      expect(objects.has(oid)).toBe(true);
      expect(await remote.list([], never)).toEqual(main);
    }
    expect(sent.filter((each) => each === "greet")).toHaveLength(1);
    expect(sent[2]).toContain(`want ${oid}\n`);
    expect(sent[2]).toContain("deepen 1\n");
    expect(disposed()).toBe(1);
  });

  test("a server of protocol version 0 serves what it has listed, and is greeted again after that", async () => {
    const greeting = advertised("side-band-64k shallow ofs-delta agent=git/2");
    const { transport, sent } = scripted(false, [greeting, greeting], [`${pktLine("ERR upload-pack: not our ref")}`]);
    const remote = openGitRemote(transport);
    expect(await remote.list(["refs/heads/"], never)).toEqual(main);
    await expect(remote.fetch([oid], {}, never)).rejects.toMatchObject({ reason: "missing" });
    expect(sent).toHaveLength(2);
    expect(sent[1]).toMatch(/^\w{4}want \w{40} side-band-64k ofs-delta shallow agent=sluice\/[\d.]+\n/);
    expect(sent[1]).toContain("000ddeepen 1\n00000009done\n");
    expect(await remote.list(["refs/heads/"], never)).toEqual(main);
    expect(sent.at(-1)).toBe("greet");
  });

  test("a server without side-band and shallow support sends its pack directly, with all history", async () => {
    const given = Buffer.concat([Buffer.from(pktLine("NAK")), pack]);
    const { transport, sent } = scripted(false, [`${pktLine("version 1")}${advertised("")}`], [given]);
    await using objects = await openGitRemote(transport).fetch([oid], {}, never);
    expect(Buffer.from((await objects.read(oid)).bytes).toString()).toBe("abc");
    expect(sent[1]).toBe(`${pktLine(`want ${oid} `)}${flushPkt}${pktLine("done")}`);
  });

  test("a server of protocol version 0 gets no requests for objects that it does not serve", async () => {
    const { transport, sent } = scripted(false, [advertised("shallow"), advertised("shallow")], []);
    const remote = openGitRemote(transport);
    await expect(remote.fetch([other], {}, never)).rejects.toMatchObject({ reason: "missing" });
    expect(sent).toEqual(["greet"]);
    await expect(remote.fetch([other], { within: [oid] }, never)).rejects.toMatchObject({ reason: "protocol" });
    expect(sent.slice(1)).toEqual(["greet", `${pktLine(`want ${oid} `)}${flushPkt}${pktLine("done")}`]);
  });

  test.each([
    ["nothing", "", "broke off"],
    ["an error", pktLine("ERR hunter2 not found"), "repository not found"],
    ["a page", "<html>", "not git's"],
    ["a line that is not a ref", pktLine("hunter2"), "an entry that is not a ref"],
  ])("a server that greets with %s fails", async (_, greeting, message) => {
    const { transport } = scripted(false, [greeting], []);
    const fault: unknown = await openGitRemote(transport)
      .list([], never)
      .catch((error: unknown) => error);
    expect(fault).toMatchObject({ name: "GitFault", message: expect.stringContaining(message) });
    expect(String(fault)).not.toContain("hunter2");
  });
});
