import { createHmac } from "node:crypto";

/** A host and its port, as a URL names them; the brackets of an IPv6 address may be there or not. */
export interface HostAndPort {
  readonly host: string;
  readonly port: number;
}

/** The entries of a `known_hosts` file for one host. */
export interface HostKeys {
  /** The types of the keys that the host may show, for example `ssh-ed25519`. Empty if no line names the host. */
  readonly types: readonly string[];
  /** Why a key that the host shows is refused, in Go's words; undefined if it is the host's. */
  fault(key: Uint8Array): string | undefined;
}

interface Line {
  readonly number: number;
  readonly marker: string | undefined;
  readonly matches: (host: string, port: number) => boolean;
  readonly type: string;
  readonly key: Buffer;
}

/** Some hundred lines. */
export const maxKnownHostsChars = 64 * 1024;
/** As of a name in DNS. Each pattern is matched with it. */
export const maxHostChars = 255;

const defaultPort = 22;
const keyTypes = new Set([
  "ssh-ed25519",
  "ecdsa-sha2-nistp256",
  "ecdsa-sha2-nistp384",
  "ecdsa-sha2-nistp521",
  "ssh-rsa",
  "ssh-dss",
  "sk-ssh-ed25519@openssh.com",
  "sk-ecdsa-sha2-nistp256@openssh.com",
]);

/**
 * Reads the lines of a `known_hosts` file (sshd(8), SSH_KNOWN_HOSTS FILE FORMAT) about one host, by Flux's rules: only the first key
 * of a type counts, a key of a type without a line is a mismatch, and a revoked key is refused for every host.
 *
 * @throws {Error} for a text or a host that is too long; in Go's words for an unreadable line of any host, and for a line of this host with the key of an authority:
 * certificates of hosts are not supported.
 */
export function knownHostKeys(text: string, { host, port }: HostAndPort): HostKeys {
  if (text.length > maxKnownHostsChars) {
    throw new Error(
      `knownhosts: the file has more than ${maxKnownHostsChars} characters: leave out hosts that are not used`,
    );
  }
  if (host.length > maxHostChars) throw new Error(`knownhosts: the host has more than ${maxHostChars} characters`);
  const lines = text.split("\n").flatMap((line, index) => parseLine(line.replace(/\r$/, ""), index + 1) ?? []);
  const name = host.replace(/^\[|\]$/g, "").toLowerCase();
  const own = lines.filter(({ marker, matches }) => marker !== "@revoked" && matches(name, port));
  const authority = own.find(({ marker }) => marker === "@cert-authority");
  if (authority !== undefined) {
    const where = `line ${authority.number} is for ${authority.marker}`;
    throw new Error(`knownhosts: ${where}, which is not supported: give the keys of the host itself`);
  }
  const revoked = lines.filter(({ marker }) => marker === "@revoked");
  const known = new Map(own.toReversed().map(({ type, key }) => [type, key]));
  return {
    types: [...known.keys()],
    fault: (key) => {
      if (revoked.some((one) => one.key.equals(key))) return "knownhosts: key is revoked";
      if (known.size === 0) return "knownhosts: key is unknown";
      const type = typeOf(Buffer.from(key));
      return type !== undefined && known.get(type)?.equals(key) === true ? undefined : "knownhosts: key mismatch";
    },
  };
}

function parseLine(text: string, number: number): Line | undefined {
  const words = text.trim().split(/[ \t]+/);
  const [first = ""] = words;
  if (first === "" || first.startsWith("#")) return undefined;
  const marker = first === "@revoked" || first === "@cert-authority" ? first : undefined;
  const [patterns = "", type, blob] = marker === undefined ? words : words.slice(1);
  if (type === undefined) throw new Error("knownhosts: knownhosts: missing host pattern");
  if (blob === undefined) throw new Error("knownhosts: knownhosts: missing key type pattern");
  const key = Buffer.from(blob, "base64");
  if (!/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(blob)) {
    throw new Error(`knownhosts: illegal base64 data in line ${number}`);
  }
  // The type in front of the key is not read, as in Flux: the key itself names it.
  const own = typeOf(key);
  if (own === undefined) throw new Error("knownhosts: ssh: short read");
  if (!keyTypes.has(own)) throw new Error(`knownhosts: ssh: unknown key algorithm: ${own}`);
  const matches = patterns.startsWith("|") ? hashedHost(patterns) : hostPatterns(patterns);
  return { number, marker, matches, type: own, key };
}

/** The type that a key in the format of SSH (RFC 4253, 6.6) names at its beginning. */
function typeOf(key: Buffer): string | undefined {
  if (key.length < 4) return undefined;
  const end = 4 + key.readUInt32BE(0);
  return end > key.length ? undefined : key.toString("latin1", 4, end);
}

/** `|1|<salt>|<HMAC-SHA1 of the host>`. */
function hashedHost(text: string): Line["matches"] {
  const parts = text.split("|");
  if (parts.length !== 4) throw new Error(`knownhosts: knownhosts: got ${parts.length} components, want 3`);
  const [, type = "", salt = "", hash = ""] = parts;
  if (type !== "1") throw new Error(`knownhosts: knownhosts: got hash type ${type}, must be '1'`);
  const wanted = Buffer.from(hash, "base64");
  return (host, port) => {
    const name = port === defaultPort ? host : `[${host}]:${port}`;
    return createHmac("sha1", Buffer.from(salt, "base64")).update(name).digest().equals(wanted);
  };
}

/** Patterns with `*` and `?`, joined by commas; `!` before one excludes what it matches. */
function hostPatterns(text: string): Line["matches"] {
  const patterns = text
    .split(",")
    .filter((pattern) => pattern !== "")
    .map((pattern) => {
      const isNegated = pattern.startsWith("!");
      const bare = isNegated ? pattern.slice(1) : pattern;
      if (bare === "") throw new Error("knownhosts: knownhosts: negation without following hostname");
      const hasPort = bare.includes(":");
      const [, bracketed, plain, port] = (hasPort ? /^(?:\[([^\]]*)\]|([^:[\]]*)):(\d+)$/.exec(bare) : null) ?? [];
      if (port === undefined && bare.startsWith("[")) {
        throw new Error(`knownhosts: address ${bare}: missing port in address`);
      }
      const name = (bracketed ?? plain ?? bare).toLowerCase();
      return { isNegated, name, port: port === undefined ? defaultPort : Number(port) };
    });
  return (host, atPort) => {
    const found = patterns.filter(({ name, port }) => port === atPort && isMatch(name, host));
    return found.length > 0 && !found.some(({ isNegated }) => isNegated);
  };
}

const [asterisk, questionMark] = [0x2a, 0x3f];

/** Whether a text matches a pattern with `*` and `?`. It goes back to the last `*` only, so its time is bounded by their product. */
function isMatch(pattern: string, text: string): boolean {
  let at = 0;
  let inPattern = 0;
  let star = -1;
  let resumeAt = 0;
  while (at < text.length) {
    const wanted = pattern.charCodeAt(inPattern);
    if (wanted === asterisk) {
      star = inPattern++;
      resumeAt = at;
    } else if (wanted === questionMark || wanted === text.charCodeAt(at)) {
      inPattern++;
      at++;
    } else if (star >= 0) {
      inPattern = star + 1;
      at = ++resumeAt;
    } else {
      return false;
    }
  }
  while (pattern.charCodeAt(inPattern) === asterisk) inPattern++;
  return inPattern === pattern.length;
}
