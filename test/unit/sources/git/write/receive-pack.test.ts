import { describe, expect, test } from "vitest";
import { GitFault } from "../../../../../lib/sources/git/git-fault.ts";
import { flushPkt, pktLine, pktReader, pktText } from "../../../../../lib/sources/git/pkt-line.ts";
import {
  assertTaken,
  maxReportBytes,
  pushRequest,
  type RefCommand,
  readReport,
  zeroOid,
} from "../../../../../lib/sources/git/write/receive-pack.ts";

const oid = "1".repeat(40);
const main: RefCommand = { ref: "refs/heads/main", from: zeroOid, to: oid };
const other: RefCommand = { ref: "refs/heads/other", from: zeroOid, to: oid };
const banded = new Map([
  ["report-status", ""],
  ["side-band-64k", ""],
]);
const plain = new Map([["report-status", ""]]);

async function* over(...pieces: readonly (Buffer | string)[]): AsyncGenerator<Uint8Array, void, undefined> {
  for (const piece of pieces) yield Buffer.from(piece);
}

const band = (number: number, text: string) => pktText(`${String.fromCharCode(number)}${text}`);
const status = (...lines: readonly string[]) => `${lines.map(pktLine).join("")}${flushPkt}`;

async function faultOf(commands: readonly RefCommand[], ...pieces: readonly string[]): Promise<GitFault | undefined> {
  try {
    assertTaken(await readReport(pktReader(over(...pieces)), banded), commands);
    return undefined;
  } catch (error) {
    if (error instanceof GitFault) return error;
    throw error;
  }
}

const report = (...lines: readonly string[]) => [band(1, status(...lines)), flushPkt];

describe("the request of a push", () => {
  test("contains only capabilities and options that the server offers", () => {
    const request = pushRequest(plain, [main], ["a=b"], Buffer.from("PACK")).toString();
    expect(request).toBe(`${pktText(`${zeroOid} ${oid} refs/heads/main\0 report-status`)}0000PACK`);
  });

  test("contains commands, options and the pack, each after a flush packet", () => {
    const all = ["report-status", "side-band-64k", "quiet", "atomic", "push-options", "object-format", "agent"];
    const offered = new Map(all.map((each) => [each, ""]));
    const request = Buffer.from(pushRequest(offered, [main, other], ["a=b", "c"], Buffer.from("PACK"))).toString();
    expect(request).toMatch(
      /refs\/heads\/main\0 report-status side-band-64k quiet atomic push-options object-format=sha1 agent=sluice\/\S+/,
    );
    const second = pktText(`${zeroOid} ${oid} refs/heads/other`);
    expect(request).toContain(`${second}0000${pktText("a=b")}${pktText("c")}0000PACK`);
  });

  test("is not sent to a server without report-status", () => {
    expect(() => pushRequest(new Map(), [main], [], Buffer.alloc(0))).toThrow(
      new GitFault("unsupported", "the git server does not report what becomes of a push (report-status)"),
    );
  });
});

describe("the report of a push", () => {
  test("confirms success, with and without side-band, in chunks of any length", async () => {
    expect(
      await faultOf(
        [main],
        band(2, "Processing\r"),
        band(1, status("unpack ok", "ok refs/heads/main").slice(0, 9)),
        band(1, status("unpack ok", "ok refs/heads/main").slice(9)),
        flushPkt,
      ),
    ).toBeUndefined();
    const read = await readReport(pktReader(over(status("unpack ok", "ok refs/heads/main"))), plain);
    expect(() => assertTaken(read, [main])).not.toThrow();
  });

  test.each([
    ["failed to update ref", "moved"],
    ["cannot lock ref 'refs/heads/main': is at 1 but expected 2", "moved"],
    ["non-fast-forward", "moved"],
    ["pre-receive hook declined", "refused"],
    ["protected branch hook declined", "refused"],
    ["deny updating a hidden ref", "refused"],
  ] as const)("image-automation/66: a branch that was not updated because of '%s' is %s", async (why, reason) => {
    const fault = await faultOf([main], ...report("unpack ok", `ng refs/heads/main ${why}`));
    expect(fault).toEqual(new GitFault(reason, `command error on refs/heads/main: ${why}`));
  });

  test("names the rejected one of several references", async () => {
    const lines = ["unpack ok", "ng refs/heads/main atomic push failure", "ng refs/heads/other hook declined"];
    expect(await faultOf([main, other], ...report(...lines))).toEqual(
      new GitFault("refused", "command error on refs/heads/other: hook declined"),
    );
  });

  test("shows the server's messages masked, without progress, and cut", async () => {
    const told = band(2, "Resolving: 1%\rResolving: 100%\r\n  use https://u:hunter2@git.test/ \u001b[2J\n\n");
    expect((await faultOf([main], told, ...report("unpack ok", "ng refs/heads/main no")))?.message).toBe(
      String.raw`command error on refs/heads/main: no; the server says: use https://u:*****@git.test/ \u001b[2J`,
    );
    const long = band(2, `${"x".repeat(5_000)}\n`);
    expect((await faultOf([main], long, ...report("unpack ok", "ng refs/heads/main no")))?.message).toHaveLength(
      "command error on refs/heads/main: no; the server says: ".length + 1_024,
    );
  });

  test.each([
    [
      "a pack that was not read",
      report("unpack index-pack failed", "ng refs/heads/main unpacker error"),
      "refused",
      "unpack error: index-pack failed",
    ],
    [
      "an error that ends it",
      [band(3, "disk quota exceeded")],
      "refused",
      "the git server broke off: disk quota exceeded",
    ],
    [
      "an error that forbids it",
      [band(3, "permission denied")],
      "authorization",
      "the git server broke off: permission denied",
    ],
    ["an unknown band", [band(4, "x")], "protocol", "the answer is not git's: it has an unknown band"],
    [
      "a reference that it leaves out",
      report("unpack ok"),
      "protocol",
      "the git server does not say what became of refs/heads/main",
    ],
    ["no report at all", report("hello"), "protocol", "the answer is not git's: it has no report of the push"],
    [
      "a second word about the pack",
      report("unpack ok", "unpack ok"),
      "protocol",
      "the answer is not git's: it has no report of the push",
    ],
    ["nothing", [], "protocol", "the answer of the git server broke off"],
    [
      "a report without an end",
      [band(1, pktLine("unpack ok")), flushPkt],
      "protocol",
      "the answer of the git server broke off",
    ],
  ] as const)("reports %s", async (_, pieces, reason, message) => {
    expect(await faultOf([main], ...pieces)).toEqual(new GitFault(reason, message));
  });

  test("may follow more messages than are kept", async () => {
    const many = Array.from({ length: 200 }, (_, index) => band(2, `${index} ${"x".repeat(60_000)}\n`));
    const fault = await faultOf([main], ...many, ...report("unpack ok", "ng refs/heads/main no"));
    expect(fault?.message).toMatch(/^command error on refs\/heads\/main: no; the server says: 0 xxx/);
    expect(await faultOf([main], ...many, ...report("unpack ok", "ok refs/heads/main"))).toBeUndefined();
  });

  test("has a size limit, with and without side-band", async () => {
    const tooLong = new GitFault("too-large", `the git server reports more than ${maxReportBytes} bytes about a push`);
    const filled = Array.from({ length: 20 }, () => band(1, "x".repeat(60_000)));
    expect(await faultOf([main], ...filled)).toEqual(tooLong);
    const lines = Array.from({ length: 20 }, (_, index) => pktLine(`ok ${index}${"x".repeat(60_000)}`));
    await expect(readReport(pktReader(over(pktLine("unpack ok"), ...lines)), plain)).rejects.toEqual(tooLong);
  });
});
