import { cutText } from "../../../core/cut-text.ts";
import { ownVersion } from "../../../core/own-version.ts";
import { safeText } from "../../../core/safe-text.ts";
import { GitFault } from "../git-fault.ts";
import { brokeOff, faultOfServer, flushPkt, type PktReader, pktReader, pktText, textOf } from "../pkt-line.ts";

/** The old value of a new reference. */
export const zeroOid = "0".repeat(40);

/** The limit for the server's report about one push. */
export const maxReportBytes = 1024 * 1024;
/** The limit for the server's messages apart from the report, in characters. Longer output of a hook is cut off. */
const keptMessageChars = 64 * 1024;
/** The limit for the server's text in an error. */
const maxShownBytes = 1_024;

/** One reference that a push moves. */
export interface RefCommand {
  readonly ref: string;
  /** What it names now; {@link zeroOid} for one that is new. The server refuses the command if that is no longer so. */
  readonly from: string;
  readonly to: string;
}

type Capabilities = ReadonlyMap<string, string>;

/**
 * The request of a push (gitprotocol-pack, "Pushing Data To a Server"): the commands, the push options where the server takes them, and
 * the pack. Throws a {@link GitFault} for a server that does not report.
 */
export function pushRequest(
  capabilities: Capabilities,
  commands: readonly RefCommand[],
  options: readonly string[],
  pack: Uint8Array,
): Uint8Array {
  if (!capabilities.has("report-status")) {
    throw new GitFault("unsupported", "the git server does not report what becomes of a push (report-status)");
  }
  const takesOptions = options.length > 0 && capabilities.has("push-options");
  const wanted = ["report-status", "side-band-64k", "quiet", ...(commands.length > 1 ? ["atomic"] : [])];
  const ours = [
    ...wanted.filter((each) => capabilities.has(each)),
    ...(takesOptions ? ["push-options"] : []),
    ...(capabilities.has("object-format") ? ["object-format=sha1"] : []),
    ...(capabilities.has("agent") ? [`agent=sluice/${ownVersion}`] : []),
  ];
  const lines = commands.map(({ ref, from, to }, index) =>
    pktText(`${from} ${to} ${ref}${index === 0 ? `\0 ${ours.join(" ")}` : ""}`),
  );
  const told = takesOptions ? [...options.map(checkedOption), flushPkt] : [];
  return Buffer.concat([Buffer.from([...lines, flushPkt, ...told].join("")), pack]);
}

function checkedOption(option: string): string {
  if (!/[\n\0]/.test(option)) return pktText(option);
  const shown = JSON.stringify(option.slice(0, 100));
  throw new GitFault("refused", `the push option ${shown} has a line feed or NUL character, which git does not send`);
}

/** The server's answer to a push. */
export interface PushReport {
  /** Why it could not read the pack; undefined if it has. */
  readonly unpackFault: string | undefined;
  /** By reference: why it was not moved; undefined if it was. */
  readonly refs: ReadonlyMap<string, string | undefined>;
  /** The server's messages for people, as a hook prints them. */
  readonly messages: string;
}

/** Reads the report of a push. Throws a {@link GitFault}. */
export async function readReport(reader: PktReader, capabilities: Capabilities): Promise<PushReport> {
  if (!capabilities.has("side-band-64k")) return { ...(await readStatus(reader)), messages: "" };
  const report: Buffer[] = [];
  let [messages, bytes] = ["", 0];
  for (;;) {
    const pkt = await reader.next();
    if (pkt === undefined) throw brokeOff();
    if (pkt.type !== "data") break;
    const [band] = pkt.data;
    if (band === 1) {
      bytes += pkt.data.length;
      if (bytes > maxReportBytes) throw tooLong();
      report.push(pkt.data.subarray(1));
    } else if (band === 2) {
      if (messages.length < keptMessageChars) messages += pkt.data.toString("utf8", 1);
    } else if (band === 3) throw errorOf(pkt.data.toString("utf8", 1), messages);
    else throw new GitFault("protocol", "the answer is not git's: it has an unknown band");
  }
  return { ...(await readStatus(pktReader(once(Buffer.concat(report))))), messages };
}

async function* once(bytes: Buffer): AsyncGenerator<Uint8Array, void, undefined> {
  yield bytes;
}

async function readStatus(reader: PktReader): Promise<Omit<PushReport, "messages">> {
  const refs = new Map<string, string | undefined>();
  let unpackFault: string | undefined;
  let bytes = 0;
  for (let isFirst = true; ; isFirst = false) {
    const pkt = await reader.next();
    if (pkt === undefined) throw brokeOff();
    if (pkt.type !== "data") break;
    bytes += pkt.data.length;
    if (bytes > maxReportBytes) throw tooLong();
    const line = textOf(pkt.data);
    const [, word = "", ref = "", why = ""] = /^(unpack|ok|ng) (\S*)(?: (.*))?$/s.exec(line) ?? [];
    if (isFirst !== (word === "unpack"))
      throw new GitFault("protocol", "the answer is not git's: it has no report of the push");
    if (isFirst) unpackFault = line === "unpack ok" ? undefined : line.slice("unpack ".length);
    else if (word === "ok") refs.set(ref, undefined);
    else refs.set(ref, why);
  }
  return { unpackFault, refs };
}

/** Throws the {@link GitFault} of what the report says was not done, in the words of Flux's client (go-git), with the server's own after them. */
export function assertTaken({ messages, refs, unpackFault }: PushReport, commands: readonly RefCommand[]): void {
  if (unpackFault !== undefined)
    throw new GitFault("refused", `unpack error: ${shown(unpackFault)}${saying(messages)}`);
  const refused: { readonly ref: string; readonly why: string }[] = [];
  for (const { ref } of commands) {
    if (!refs.has(ref)) throw new GitFault("protocol", `the git server does not say what became of ${ref}`);
    const why = refs.get(ref);
    if (why !== undefined) refused.push({ ref, why });
  }
  // If there are several, the one that caused the others to be refused.
  const cause = refused.find(({ why }) => !why.startsWith("atomic ")) ?? refused[0];
  if (cause === undefined) return;
  const reason = hasMoved.test(cause.why) ? "moved" : "refused";
  throw new GitFault(reason, `command error on ${cause.ref}: ${shown(cause.why)}${saying(messages)}`);
}

/** What servers say where another push was faster: git, GitHub, GitLab, Gitea, Gerrit and CodeCommit have parts of it in common. */
const hasMoved =
  /failed to update ref|incorrect old value|failed to lock|cannot lock ref|reference already exists|stale info|fetch first|non-fast-forward|lock failure/i;

/** An error that ends the push. It says why in words of its own, as those of a report. */
function errorOf(text: string, messages: string): GitFault {
  const { reason } = faultOfServer(text);
  return new GitFault(
    reason === "protocol" ? "refused" : reason,
    `the git server broke off: ${shown(text)}${saying(messages)}`,
  );
}

function saying(messages: string): string {
  // A line that is overwritten tells of progress.
  const lines = messages.split("\n").filter((line) => !line.endsWith("\r"));
  const text = lines.map((line) => line.trim()).filter((line) => line !== "");
  return text.length === 0 ? "" : `; the server says: ${shown(text.join("; "))}`;
}

function shown(words: string): string {
  return cutText(safeText(cutText(words.trim(), maxShownBytes)), maxShownBytes);
}

function tooLong(): GitFault {
  return new GitFault("too-large", `the git server reports more than ${maxReportBytes} bytes about a push`);
}
