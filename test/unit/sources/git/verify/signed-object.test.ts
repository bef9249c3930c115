import { describe, expect, test } from "vitest";
import { maxCommitBytes } from "../../../../../lib/sources/git/git-object.ts";
import { signedCommit, signedTag } from "../../../../../lib/sources/git/verify/signed-object.ts";

const armor = ["-----BEGIN PGP SIGNATURE-----", "", "iQ", "=x", "-----END PGP SIGNATURE-----"];
const header = (name: string): string => `${name} ${armor.join("\n ")}\n`;
const [tree, author] = ["tree 1\n", "author a <a@example.com> 1 +0000\n"];

function commit(text: Buffer | string): { payload: string; signature: string } {
  const { payload, signature } = signedCommit(Buffer.from(text));
  return { payload: Buffer.from(payload).toString("latin1"), signature };
}

function tag(text: string): { payload: string; signature: string } {
  const { payload, signature } = signedTag(Buffer.from(text));
  return { payload: Buffer.from(payload).toString(), signature };
}

describe("a commit", () => {
  test("is signed in its form without the header gpgsig", () => {
    expect(commit(`${tree}${author}${header("gpgsig")}\nhello\n`)).toEqual({
      payload: `${tree}${author}\nhello\n`,
      signature: `${armor.join("\n")}\n`,
    });
  });

  test("without the header is unsigned", () => {
    const text = `${tree}${author}\nhello\n`;
    expect(commit(text)).toEqual({ payload: text, signature: "" });
  });

  test("keeps every other header, known or unknown, before and after the signature", () => {
    const mergetag = `mergetag object 2\n type commit\n \n ${armor.join("\n ")}\n`;
    const others = `${mergetag}gpgsigned x\nHG:extra y\n z\n`;
    expect(commit(`${tree}${others}${header("gpgsig")}encoding latin1\n\nhello\n`)).toEqual({
      payload: `${tree}${others}encoding latin1\n\nhello\n`,
      signature: `${armor.join("\n")}\n`,
    });
  });

  test("has no signature in its message", () => {
    const text = `${tree}\n${header("gpgsig")}\n${armor.join("\n")}\n`;
    expect(commit(text)).toEqual({ payload: text, signature: "" });
  });

  test("leaves out the signature for the SHA-256 form of the repository", () => {
    expect(commit(`${tree}${header("gpgsig-sha256")}\nhello\n`)).toEqual({
      payload: `${tree}\nhello\n`,
      signature: "",
    });
  });

  test("with two signatures is refused, adjacent or not", () => {
    for (const between of ["", author, header("gpgsig-sha256")]) {
      expect(() => commit(`${tree}${header("gpgsig")}${between}${header("gpgsig")}\nhello\n`)).toThrow(
        "the commit has 2 gpgsig headers, but only one can be verified",
      );
    }
  });

  test("keeps its bytes in any encoding, and a last line without a line feed", () => {
    const bytes = Buffer.concat([Buffer.from(tree), Buffer.from("author \xe4\xff\n\nhell\xf6", "latin1")]);
    expect(Buffer.from(signedCommit(bytes).payload).equals(bytes)).toBe(true);
    expect(commit(`${tree}gpgsig x`)).toEqual({ payload: tree, signature: "x" });
  });
});

describe("a tag", () => {
  const head = "object 1\ntype commit\ntag v1\n\nhello\n";

  test.each(["PGP SIGNATURE", "SSH SIGNATURE", "SIGNED MESSAGE", "PGP MESSAGE"])("is signed by its %s", (what) => {
    const signature = `-----BEGIN ${what}-----\n\nx\n-----END ${what}-----\n`;
    expect(tag(`${head}${signature}`)).toEqual({ payload: head, signature });
  });

  test("is signed by the last of them: everything before is the payload", () => {
    const first = `${armor.join("\n")}\n`;
    expect(tag(`${head}${first}more\n${first}`)).toEqual({ payload: `${head}${first}more\n`, signature: first });
  });

  test("may consist of only its signature", () => {
    const signature = `${armor.join("\n")}\n`;
    expect(tag(signature)).toEqual({ payload: "", signature });
  });

  test("without one is unsigned", () => {
    expect(tag(`${head}a -----BEGIN PGP SIGNATURE-----\n`)).toEqual({
      payload: `${head}a -----BEGIN PGP SIGNATURE-----\n`,
      signature: "",
    });
  });
});

test("a commit or tag above the byte limit is refused before it is split", () => {
  const most = Buffer.alloc(maxCommitBytes, "\n");
  expect(signedCommit(most).payload).toHaveLength(maxCommitBytes);
  expect(signedTag(most).payload).toHaveLength(maxCommitBytes);
  const more = Buffer.alloc(maxCommitBytes + 1, "\n");
  const tooLarge = (type: string): unknown =>
    expect.objectContaining({ reason: "too-large", message: expect.stringContaining(`a ${type} of more than`) });
  expect(() => signedCommit(more)).toThrow(tooLarge("commit"));
  expect(() => signedTag(more)).toThrow(tooLarge("tag"));
});
