import { ownVersion } from "../../core/own-version.ts";
import { GitFault } from "./git-fault.ts";
import type { GitRef } from "./git-remote.ts";
import { type Greeting, linesOf, type RefLimits, refList } from "./greeting.ts";
import { brokeOff, delimPkt, faultOfServer, flushPkt, type PktReader, pktLine, textOf } from "./pkt-line.ts";

const agent = `agent=sluice/${ownVersion}`;

/** What one fetch asks for. */
export interface PackRequest {
  readonly wants: readonly string[];
  /** Without the history of commits, if the server can. */
  readonly isShallow: boolean;
  /** Without files, which only servers of {@link canFilter} leave out. */
  readonly withoutBlobs?: boolean;
}

/** Version 2 only: then the files that were left out can be asked for by their ids. */
export function canFilter({ version, capabilities }: Greeting): boolean {
  return version === 2 && featuresOfFetch(capabilities).includes("filter");
}

/** Whether the server gives all of these objects, also those that none of its refs names. In version 2 it may, and tells by its answer. */
export function mayGive(greeting: Greeting, oids: readonly string[]): boolean {
  const { capabilities } = greeting;
  if (greeting.version === 2) return true;
  if (capabilities.has("allow-tip-sha1-in-want") || capabilities.has("allow-reachable-sha1-in-want")) return true;
  const named = new Set(greeting.refs.map(({ oid }) => oid));
  return oids.every((oid) => named.has(oid));
}

/** The command `ls-refs` of version 2 (gitprotocol-v2). */
export function refsRequest({ capabilities }: Greeting, prefixes: readonly string[]): Uint8Array {
  const prefixed = prefixes.map((prefix) => pktLine(`ref-prefix ${prefix}`));
  return command("ls-refs", capabilities, [pktLine("peel"), pktLine("symrefs"), ...prefixed]);
}

export async function readRefs(reader: PktReader, limits: RefLimits): Promise<readonly GitRef[]> {
  const refs = refList(limits);
  for await (const line of linesOf(reader, limits.maxRefBytes)) {
    const [oid = "", name = "", ...attributes] = line.split(" ");
    const attribute = (key: string): string | undefined =>
      attributes.find((each) => each.startsWith(`${key}:`))?.slice(key.length + 1);
    const [peeled, symref] = [attribute("peeled"), attribute("symref-target")];
    refs.add({ name, oid, ...(peeled === undefined ? {} : { peeled }), ...(symref === undefined ? {} : { symref }) });
  }
  return refs.all();
}

export function packRequest(greeting: Greeting, { wants, isShallow, withoutBlobs }: PackRequest): Uint8Array {
  const { capabilities } = greeting;
  const deepen = pktLine("deepen 1");
  if (greeting.version === 2) {
    return command("fetch", capabilities, [
      pktLine("ofs-delta"),
      pktLine("no-progress"),
      ...(isShallow && featuresOfFetch(capabilities).includes("shallow") ? [deepen] : []),
      ...(withoutBlobs === true ? [pktLine("filter blob:none")] : []),
      ...wants.map((oid) => pktLine(`want ${oid}`)),
      pktLine("done"),
    ]);
  }
  const known = ["side-band-64k", "side-band", "ofs-delta", "no-progress"].filter((each) => capabilities.has(each));
  const canShallow = isShallow && capabilities.has("shallow");
  const ours = [...known, ...(canShallow ? ["shallow"] : []), ...(capabilities.has("agent") ? [agent] : [])];
  const lines = wants.map((oid, index) => pktLine(index === 0 ? `want ${oid} ${ours.join(" ")}` : `want ${oid}`));
  return bytesOf([...lines, ...(canShallow ? [deepen] : []), flushPkt, pktLine("done")]);
}

/** The bytes of the pack in the answer to {@link packRequest}. */
export async function* readPack(
  reader: PktReader,
  { version, capabilities }: Greeting,
): AsyncGenerator<Uint8Array, void, undefined> {
  for (;;) {
    const pkt = await reader.next();
    if (pkt === undefined) throw brokeOff();
    // Between the sections before the pack: the commits that have no history here.
    if (pkt.type !== "data") continue;
    const line = textOf(pkt.data);
    if (line === (version === 2 ? "packfile" : "NAK")) break;
    if (!/^(?:shallow|unshallow|ACK) |^(?:shallow-info|acknowledgments|ready)$/.test(line)) {
      throw new GitFault("protocol", "the answer is not git's: it has neither a pack nor an error");
    }
  }
  if (version === 2 || capabilities.has("side-band-64k") || capabilities.has("side-band")) yield* firstBand(reader);
  else yield* reader.rest();
}

/** Of the answer's bands it yields the one with the pack; the second reports progress, the third an error. */
async function* firstBand(reader: PktReader): AsyncGenerator<Uint8Array, void, undefined> {
  for (;;) {
    const pkt = await reader.next();
    if (pkt === undefined) throw brokeOff();
    if (pkt.type !== "data") return;
    const [band] = pkt.data;
    if (band === 1) yield pkt.data.subarray(1);
    else if (band === 3) throw faultOfServer(pkt.data.toString("utf8", 1));
    else if (band !== 2) throw new GitFault("protocol", "the answer is not git's: it has an unknown band");
  }
}

function featuresOfFetch(capabilities: ReadonlyMap<string, string>): readonly string[] {
  return (capabilities.get("fetch") ?? "").split(" ");
}

function command(name: string, capabilities: ReadonlyMap<string, string>, args: readonly string[]): Uint8Array {
  const head = [pktLine(`command=${name}`), pktLine(agent)];
  if (capabilities.has("object-format")) head.push(pktLine("object-format=sha1"));
  return bytesOf([...head, delimPkt, ...args, flushPkt]);
}

function bytesOf(lines: readonly string[]): Uint8Array {
  return Buffer.from(lines.join(""));
}
