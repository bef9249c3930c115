import { describe, expect, test } from "vitest";
import { maxCommitBytes, parseCommit, parseTag, subjectOf } from "../../../../lib/sources/git/git-object.ts";

const tree = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";
const parent = "1111111111111111111111111111111111111111";
const people = "author A <a@x> 1700000000 +0100\ncommitter C <c@x> 1700000001 -0700\n";
const armored = "-----BEGIN PGP SIGNATURE-----\n \n tree abc\n -----END PGP SIGNATURE-----\n";

const bytesOf = (text: string) => Buffer.from(text);

describe("a commit", () => {
  test("has a tree, parents in order, the time of its committer and its message", () => {
    const bytes = bytesOf(`tree ${tree}\nparent ${parent}\nparent ${tree}\n${people}\nSubject\n\nbody\n`);
    expect(parseCommit(bytes)).toEqual({
      tree,
      parents: [parent, tree],
      committedAt: 1_700_000_001,
      message: "Subject\n\nbody\n",
    });
  });

  test("ignores header-like lines inside its signature", () => {
    const head = `tree ${tree}\n${people}`;
    const commit = parseCommit(bytesOf(`gpgsig ${armored}${head}encoding UTF-8\n\nSubject\ntree no header\n`));
    expect(commit).toMatchObject({ tree, message: "Subject\ntree no header\n" });
  });

  test("may have as many bytes as the limit, and with one more is refused before it is parsed", () => {
    const head = bytesOf(`tree ${tree}\n${people}`);
    for (const line of ["a\n", " \n", "\n"]) {
      const bytes = Buffer.concat([head, Buffer.alloc(maxCommitBytes - head.length, line)]);
      expect(parseCommit(bytes)).toMatchObject({ tree, parents: [], committedAt: 1_700_000_001 });
      const tooLarge = { reason: "too-large", message: expect.stringContaining("a commit of more than 1048576 bytes") };
      expect(() => parseCommit(Buffer.concat([bytes, bytesOf("x")]))).toThrow(expect.objectContaining(tooLarge));
    }
  });

  test("starts lines only after a line feed", () => {
    const commit = parseCommit(bytesOf(`tree ${tree}\nauthor A\rparent ${parent}\u2028parent ${parent}\n${people}`));
    expect(commit.parents).toEqual([]);
  });

  test("without headers has a message after its first line feed", () => {
    expect(() => parseCommit(bytesOf(`\ntree ${tree}\n${people}`))).toThrow("not a commit");
  });

  test("is shown with the first 50 letters of its subject, however long that is", () => {
    const subject = (message: string): string => subjectOf({ tree, parents: [], committedAt: 0, message });
    expect(subject(`${"\u{1f600}".repeat(50)}\nbody`)).toBe("\u{1f600}".repeat(50));
    expect(subject("\u{1f600}".repeat(51))).toBe(`${"\u{1f600}".repeat(50)}...`);
    expect(subject(`${"a".repeat(60)}${"\u{1f600}".repeat(60)}`)).toBe(`${"a".repeat(50)}...`);
  });

  test("may have no message, and is parsed even if it is not UTF-8", () => {
    expect(parseCommit(bytesOf(`tree ${tree}\n${people}`)).message).toBe("");
    const latin = Buffer.concat([bytesOf(`tree ${tree}\n${people}\n`), Buffer.from([0xe9])]);
    expect(parseCommit(latin).message).toBe("\ufffd");
  });

  test.each([
    ["without a tree", people],
    ["whose tree is not an object id", `tree ${tree.toUpperCase()}\n${people}`],
    ["whose parent is not an object id", `tree ${tree}\nparent x\n${people}`],
    ["without a committer", `tree ${tree}\n`],
    ["whose committer has no time", `tree ${tree}\ncommitter C <c@x>\n`],
    ["of nothing", ""],
  ])("%s is damaged", (_, text) => {
    expect(() => parseCommit(bytesOf(text))).toThrow(
      expect.objectContaining({
        name: "GitFault",
        reason: "protocol",
        message: expect.stringContaining("not a commit"),
      }),
    );
  });
});

describe("a tag", () => {
  const head = `object ${parent}\ntype commit\ntag v1\ntagger T <t@x> 1700000000 +0000\n\n`;

  test("names its object, whatever its message says", () => {
    const tag = parseTag(bytesOf(`${head}Release\nobject ${tree}\ntag v2\n`));
    expect(tag).toEqual({ object: parent, type: "commit", name: "v1" });
  });

  test("that is too large is refused before it is parsed", () => {
    const bytes = Buffer.concat([bytesOf(head), Buffer.alloc(maxCommitBytes - head.length, "a\n")]);
    expect(parseTag(bytes).name).toBe("v1");
    const tooLarge = { reason: "too-large", message: expect.stringContaining("a tag of more than 1048576 bytes") };
    expect(() => parseTag(Buffer.concat([bytes, bytesOf("x")]))).toThrow(expect.objectContaining(tooLarge));
  });

  test.each([
    ["without an object", head.replace(/^object.*\n/, "")],
    ["whose object is not an object id", head.replace(parent, "x")],
    ["of an unknown type", head.replace("commit", "note")],
    ["without a name", head.replace("tag v1\n", "")],
  ])("%s is damaged", (_, text) => {
    expect(() => parseTag(bytesOf(text))).toThrow(expect.objectContaining({ reason: "protocol" }));
  });
});

describe("the subject of a commit", () => {
  const jwt = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJodW50ZXIyIn0.aHVudGVyMg";
  test.each([
    ["is its first line", "one\n\ntwo", "one"],
    ["has no carriage return at its end", "one\r\ntwo", "one"],
    ["is whole with 50 characters", "x".repeat(50), "x".repeat(50)],
    ["is cut at 50 characters", "x".repeat(51), `${"x".repeat(50)}...`],
    [
      "does not end inside a token that the cut would show partly",
      `use ${"x".repeat(20)} ${jwt}`,
      `use ${"x".repeat(20)} *****`,
    ],
  ])("%s", (_, message, expected) => {
    expect(subjectOf({ ...parseCommit(bytesOf(`tree ${tree}\n${people}\nx\n`)), message })).toBe(expected);
  });
});
