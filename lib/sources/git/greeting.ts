import { GitFault } from "./git-fault.ts";
import { isOid } from "./git-object.ts";
import type { GitLimits, GitRef } from "./git-remote.ts";
import { brokeOff, type PktReader, textOf } from "./pkt-line.ts";

/** The first lines of a server. The value of a capability without one is empty. */
export type Greeting =
  | { readonly version: 2; readonly capabilities: ReadonlyMap<string, string> }
  | { readonly version: 0; readonly capabilities: ReadonlyMap<string, string>; readonly refs: readonly GitRef[] };

export type RefLimits = Pick<GitLimits, "maxRefBytes" | "maxRefs">;

/** The limit for the capabilities of version 2. A server's capabilities have some hundred bytes; those of version 0 are on one line. */
export const maxCapabilityBytes = 64 * 1024;

/** Throws a {@link GitFault} `protocol`, `unsupported` or `too-large`, or that of an error which the server tells. */
export async function readGreeting(reader: PktReader, limits: RefLimits): Promise<Greeting> {
  let lines = linesOf(reader, limits.maxRefBytes);
  let first = await lines.next();
  if (first.done !== true && first.value.startsWith("# service=")) {
    // Smart HTTP before version 2: one line and a mark, then what the server says everywhere.
    if ((await lines.next()).done !== true) throw strange();
    lines = linesOf(reader, limits.maxRefBytes);
    first = await lines.next();
  }
  if (first.done !== true && first.value === "version 2") {
    const capabilities = new Map<string, string>();
    let bytes = 0;
    for await (const line of lines) {
      bytes += Buffer.byteLength(line);
      if (bytes > maxCapabilityBytes) {
        throw new GitFault("too-large", `the git server names more than ${maxCapabilityBytes} bytes of capabilities`);
      }
      addCapability(capabilities, line);
    }
    return sha1Only({ version: 2, capabilities });
  }
  if (first.done !== true && first.value === "version 1") first = await lines.next();
  if (first.done === true) return { version: 0, capabilities: new Map(), refs: [] };
  return sha1Only(await readRefs(first.value, lines, limits));
}

/** The lines up to the next mark. */
export async function* linesOf(reader: PktReader, maxBytes: number): AsyncGenerator<string, void, undefined> {
  let bytes = 0;
  for (;;) {
    const pkt = await reader.next();
    if (pkt === undefined) throw brokeOff();
    if (pkt.type !== "data") return;
    bytes += pkt.data.length;
    if (bytes > maxBytes) throw new GitFault("too-large", `the git server lists more than ${maxBytes} bytes of refs`);
    yield textOf(pkt.data);
  }
}

async function readRefs(first: string, more: AsyncIterable<string>, limits: RefLimits): Promise<Greeting> {
  const capabilities = new Map<string, string>();
  const symrefs = new Map<string, string>();
  const [line = "", written = ""] = first.split("\0");
  for (const each of written.split(" ").filter((word) => word !== "")) {
    const [, from, to] = /^symref=([^:]+):(.+)$/.exec(each) ?? [];
    if (from !== undefined && to !== undefined) symrefs.set(from, to);
    else addCapability(capabilities, each);
  }
  const refs = refList(limits);
  const add = (text: string): void => {
    const [, oid = "", name = ""] = /^([0-9a-f]{40}|[0-9a-f]{64}) (\S+)$/.exec(text) ?? [];
    if (oid.length === 64) throw sha256();
    const symref = symrefs.get(name);
    // `capabilities^{}` with an id of zeros stands for no ref at all.
    if (name !== "capabilities^{}") refs.add({ name, oid, ...(symref === undefined ? {} : { symref }) });
  };
  add(line);
  for await (const text of more) if (!text.startsWith("shallow ")) add(text);
  return { version: 0, capabilities, refs: refs.all() };
}

/** Gathers refs as they are read. The peeled object of a tag may follow as a ref of its own: `refs/tags/v1^{}`. */
export function refList({ maxRefs }: RefLimits) {
  const refs = new Map<string, GitRef>();
  return {
    add(ref: GitRef): void {
      const oids = ref.peeled === undefined ? [ref.oid] : [ref.oid, ref.peeled];
      // eslint-disable-next-line no-control-regex -- a name goes into texts for people
      if (!oids.every(isOid) || !/^[^\s\u0000-\u001f\u007f]+$/.test(ref.name)) throw strange();
      if (ref.name.endsWith("^{}")) {
        const name = ref.name.slice(0, -"^{}".length);
        const tag = refs.get(name);
        if (tag !== undefined) refs.set(name, { ...tag, peeled: ref.oid });
        return;
      }
      refs.set(ref.name, ref);
      if (refs.size > maxRefs) throw new GitFault("too-large", `the git server lists more than ${maxRefs} refs`);
    },
    all: (): readonly GitRef[] => [...refs.values()],
  };
}

function addCapability(capabilities: Map<string, string>, text: string): void {
  const [, name = "", value = ""] = /^([^=]*)=?(.*)$/s.exec(text) ?? [];
  capabilities.set(name, value);
}

function sha1Only(greeting: Greeting): Greeting {
  if ((greeting.capabilities.get("object-format") ?? "sha1") !== "sha1") throw sha256();
  return greeting;
}

function sha256(): GitFault {
  return new GitFault(
    "unsupported",
    "the repository has SHA-256 object ids (object-format=sha256): only SHA-1 is supported",
  );
}

function strange(): GitFault {
  return new GitFault("protocol", "the answer is not git's: it lists an entry that is not a ref");
}
