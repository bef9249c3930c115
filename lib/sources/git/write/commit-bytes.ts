import { GitFault } from "../git-fault.ts";
import { maxCommitBytes } from "../git-object.ts";
import type { CommitAuthor, NewCommit, SignCommit } from "./git-clone.ts";

interface CommitParts extends Pick<NewCommit, "author" | "message"> {
  readonly tree: string;
  /** Undefined for the first commit of a repository. */
  readonly parent: string | undefined;
  readonly sign?: SignCommit | undefined;
}

/** The bytes of a commit, with its signature if it has one. Throws a {@link GitFault} `too-large`, or what `sign` throws. */
export async function commitBytes(
  { author, message, parent, sign, tree }: CommitParts,
  signal: AbortSignal,
): Promise<Buffer> {
  const who = `${clean(author.name)} <${clean(author.email)}> ${seconds(author)} +0000`;
  const head = [
    `tree ${tree}`,
    ...(parent === undefined ? [] : [`parent ${parent}`]),
    `author ${who}`,
    `committer ${who}`,
  ];
  // Git reads a message up to a NUL only, and shows another text than the one that is signed.
  const text = message.replaceAll("\0", "").toWellFormed();
  const assemble = (headers: readonly string[]): Buffer => Buffer.from(`${headers.join("\n")}\n\n${text}`);
  const unsigned = assemble(head);
  if (unsigned.length > maxCommitBytes) {
    throw new GitFault("too-large", `the commit has more than ${maxCommitBytes} bytes: its message is too long`);
  }
  if (sign === undefined) return unsigned;
  const signature = (await sign(unsigned, signal)).trimEnd().replaceAll("\r\n", "\n");
  return assemble([...head, `gpgsig ${signature.replaceAll("\n", "\n ")}`]);
}

function seconds({ at }: CommitAuthor): number {
  return Math.floor(at / 1_000);
}

/** A name or address as git itself writes it (`strbuf_addstr_without_crud`): nothing in it can end the header. */
function clean(text: string): string {
  const inner = text.toWellFormed().replaceAll(/[<>\n\0]/g, "");
  // oxlint-disable-next-line no-control-regex -- they are what it removes
  const crud = /[\u0000-\u0020.,:;<>"\\']/;
  let [begin, end] = [0, inner.length];
  while (begin < end && crud.test(inner[begin] ?? "")) begin++;
  while (end > begin && crud.test(inner[end - 1] ?? "")) end--;
  return inner.slice(begin, end);
}
