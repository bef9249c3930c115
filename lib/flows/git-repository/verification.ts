import type { SourceStatus } from "../../api/source.ts";
import { Failure, messageOf } from "../../core/failure.ts";
import { nameFault } from "../../core/object-ref.ts";
import { ApiError } from "../../core/ports/cluster.ts";
import { isOutage, outageOf } from "../../core/ports/outage.ts";
import { GitFault } from "../../sources/git/git-fault.ts";
import { parseTag } from "../../sources/git/git-object.ts";
import type { GitObjects } from "../../sources/git/git-remote.ts";
import { GitSignatureFault } from "../../sources/git/verify/git-signature-fault.ts";
import { type SignedObject, signedCommit, signedTag } from "../../sources/git/verify/signed-object.ts";
import { verifySignature } from "../../sources/git/verify/verify-signature.ts";
import { removeConditions, setConditions } from "../conditions.ts";
import { secretData } from "../source/secrets.ts";
import type { SourceContext } from "../source/source-context.ts";

/** `spec.verify` of a GitRepository. */
export interface Verification {
  /** What has to be signed; `head` is an older name of `HEAD`. */
  readonly mode: "head" | "HEAD" | "Tag" | "TagAndHEAD";
  readonly secretRef: { readonly name: string };
}

/** The target of `spec.ref`, and the fetched objects: the commit and, for an annotated tag, the tag. */
export interface Revision {
  readonly commit: string;
  /** Where a tag was chosen. `oid`: of the tag object; absent for a lightweight tag, which is only a name. */
  readonly tag?: { readonly name: string; readonly oid?: string };
  readonly objects: Pick<GitObjects, "read">;
}

/** A source's status with the mode in which its revision was verified. */
type Verified = SourceStatus & { readonly sourceVerificationMode?: string | undefined };

/**
 * The mode that the status of a stored artifact has to show; where it shows another, the revision is fetched and verified though it
 * is unchanged. That is so where verification is new, or asks for more than before. If it now asks for less, or for nothing, the
 * status stays until a revision is fetched (reference 2.7 and 13).
 */
export function expectedMode(verify: Verification | undefined, { sourceVerificationMode: before }: Verified) {
  if (verify === undefined) return before;
  const mode = modeOf(verify);
  const isWider = before === undefined || (before !== "TagAndHEAD" && before !== mode);
  return isWider ? mode : before;
}

/**
 * Verifies the signatures that `spec.verify` requires, and sets the condition SourceVerified (not yet written). To be called for
 * every revision that was fetched, before anything of its content is used.
 *
 * @returns the mode, for `status.sourceVerificationMode`; undefined if nothing has to be signed
 * @throws {Failure} with Flux's reason and text (reference 2.7), for the condition of `conditionByReason`
 */
export async function verifyRevision(
  verify: Verification | undefined,
  revision: Revision,
  ctx: SourceContext,
): Promise<string | undefined> {
  if (verify === undefined) {
    ctx.setStatus(removeConditions(ctx.status(), ["SourceVerified"]));
    return undefined;
  }
  const keys = await publicKeys(verify, ctx);
  const mode = modeOf(verify);
  const now = ctx.now().at;
  const proven: string[] = [];
  if (mode !== "HEAD") proven.push(await verifyTag(revision, keys, now));
  if (mode !== "Tag") proven.push(await verifyCommit(revision, keys, now));
  const said = { reason: "Succeeded", message: `verified signature of${proven.map((one) => `\n\t- ${one}`).join("")}` };
  ctx.setStatus(setConditions(ctx.status(), [{ ...said, type: "SourceVerified", status: "True" }], ctx.now()));
  await ctx.record({ type: "Normal", reason: "Succeeded", message: said.message, annotations: {}, isTrace: true });
  return mode;
}

function modeOf({ mode }: Verification): "HEAD" | "Tag" | "TagAndHEAD" {
  return mode === "head" ? "HEAD" : mode;
}

type Keys = ReadonlyMap<string, string>;

async function publicKeys({ secretRef: { name } }: Verification, ctx: SourceContext): Promise<Keys> {
  const failed = (why: string, cause?: unknown): Failure =>
    new Failure("VerificationError", `public keys secret error: ${why}`, { cause });
  const fault = nameFault(name);
  if (fault !== undefined) throw failed(fault);
  const data = await secretData(name, ctx).catch((error: unknown) => {
    const { cause } = error instanceof Error ? error : {};
    if (cause instanceof ApiError && cause.reason === "Forbidden") throw failed(cause.message, cause);
    throw isOutage(cause) ? outageOf(cause, "VerificationError", "public keys secret error") : error;
  });
  if (data === undefined) throw failed(`secrets ${JSON.stringify(name)} not found`);
  return data;
}

/** The limit for a shown name from the tag object, whose author may have made it arbitrarily long. */
const maxShownName = 200;

async function verifyTag({ commit, tag, objects }: Revision, keys: Keys, now: number): Promise<string> {
  if (tag === undefined) {
    const why = "cannot verify tag object's signature if a tag reference is not specified";
    throw new Failure("InvalidVerificationMode", why);
  }
  if (tag.oid === undefined) throw unsigned(tag.name);
  const { bytes } = await objects.read(tag.oid);
  const signedAs = parseTag(bytes).name;
  const name = `${signedAs.slice(0, maxShownName)}@${tag.oid}`;
  const object = signedTag(bytes);
  if (object.signature === "") throw unsigned(name);
  // Else who may push, but not sign, could let a new version name the signed tag of an old one.
  if (signedAs !== tag.name) {
    const why = `it was signed as tag '${signedAs.slice(0, maxShownName)}'`;
    throw new Failure("InvalidTagSignature", `signature verification of tag '${tag.name}@${tag.oid}' failed: ${why}`);
  }
  const failed = `signature verification of tag '${name}' failed`;
  // The server says where a tag points; only the signed object proves it.
  if (!(await leadsTo(tag.oid, commit, objects))) {
    throw new Failure("InvalidTagSignature", `${failed}: the tag does not point to the commit '${commit}'`);
  }
  return `tag '${name}' with key '${await keyOf(() => object, keys, now, "InvalidTagSignature", failed)}'`;
}

function unsigned(tag: string): Failure {
  return new Failure("InvalidGitObject", `cannot verify signature of tag '${tag}' since it is not signed`);
}

/** The depth of nested tags; more makes no sense. */
const maxTags = 8;

async function leadsTo(from: string, commit: string, objects: Revision["objects"]): Promise<boolean> {
  let oid = from;
  for (let tags = 0; tags < maxTags; tags++) {
    const { type, bytes } = await objects.read(oid);
    if (type === "commit") return oid === commit;
    if (type !== "tag") return false;
    oid = parseTag(bytes).object;
  }
  return false;
}

async function verifyCommit({ commit, objects }: Revision, keys: Keys, now: number): Promise<string> {
  const { type, bytes } = await objects.read(commit);
  if (type !== "commit") throw new GitFault("protocol", `the object ${commit} is a ${type}, not a commit`);
  const failed = `signature verification of commit '${commit}' failed`;
  return `commit '${commit}' with key '${await keyOf(() => signedCommit(bytes), keys, now, "InvalidCommitSignature", failed)}'`;
}

async function keyOf(
  signed: () => SignedObject,
  keys: Keys,
  now: number,
  reason: "InvalidCommitSignature" | "InvalidTagSignature",
  failed: string,
): Promise<string> {
  try {
    return (await verifySignature(signed(), keys, now)).keyId;
  } catch (error) {
    if (!(error instanceof GitSignatureFault)) throw error;
    throw new Failure(reason, `${failed}: ${messageOf(error)}`, { cause: error });
  }
}
