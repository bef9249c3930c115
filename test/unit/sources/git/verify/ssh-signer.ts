import { createHash, generateKeyPairSync, type KeyObject, sign } from "node:crypto";

/** Fields of SSH's wire format (RFC 4251, section 5): a number is a uint32. */
export function wire(...fields: readonly (Buffer | number | string)[]): Buffer {
  return Buffer.concat(
    fields.map((field) => {
      const head = Buffer.alloc(4);
      head.writeUInt32BE(typeof field === "number" ? field : Buffer.byteLength(field));
      return typeof field === "number" ? head : Buffer.concat([head, Buffer.from(field)]);
    }),
  );
}

/** A number above zero, as SSH writes it. */
export function mpint(bytes: Buffer): Buffer {
  const first = bytes.findIndex((byte) => byte !== 0);
  const digits = first === -1 ? Buffer.alloc(0) : bytes.subarray(first);
  return (digits[0] ?? 0) > 127 ? Buffer.concat([Buffer.alloc(1), digits]) : digits;
}

export interface SshSigner {
  readonly blob: Buffer;
  /** A line of authorized_keys. */
  readonly line: string;
  /** The field `signature` of SSHSIG: its format, then what the format says. */
  readonly sign: (data: Buffer) => Buffer;
}

function signer(type: string, blob: Buffer, makes: (data: Buffer) => Buffer): SshSigner {
  return { blob, line: `${type} ${blob.toString("base64")} signer@example.com`, sign: makes };
}

function jwk(key: KeyObject, name: "e" | "n" | "x" | "y"): Buffer {
  return Buffer.from(key.export({ format: "jwk" })[name] ?? "", "base64url");
}

export function ed25519Signer(): SshSigner {
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  const type = "ssh-ed25519";
  return signer(type, wire(type, jwk(publicKey, "x")), (data) => wire(type, sign(null, data, privateKey)));
}

export function rsaSigner(modulusLength = 2048, format = "rsa-sha2-512"): SshSigner {
  const { publicKey, privateKey } = generateKeyPairSync("rsa", { modulusLength });
  const hash = { "rsa-sha2-512": "sha512", "rsa-sha2-256": "sha256" }[format] ?? "sha1";
  const blob = wire("ssh-rsa", mpint(jwk(publicKey, "e")), mpint(jwk(publicKey, "n")));
  return signer("ssh-rsa", blob, (data) => wire(format, sign(hash, data, privateKey)));
}

export function ecdsaSigner(bits: 256 | 384 | 521): SshSigner {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: `P-${bits}` });
  const type = `ecdsa-sha2-nistp${bits}`;
  const hash = { 256: "sha256", 384: "sha384", 521: "sha512" }[bits];
  return signer(type, wire(type, `nistp${bits}`, point(publicKey)), (data) =>
    wire(type, numbers(sign(hash, data, { key: privateKey, dsaEncoding: "ieee-p1363" }))),
  );
}

/** A security key. `flags`: 1 if somebody touched it. */
export function hardwareSigner(kind: "ecdsa" | "ed25519", flags = 1, application = "ssh:"): SshSigner {
  const counter = 7;
  const signed = (data: Buffer): Buffer =>
    Buffer.concat([digest(application), Buffer.from([flags]), wire(counter), digest(data)]);
  const tail = Buffer.concat([Buffer.from([flags]), wire(counter)]);
  if (kind === "ed25519") {
    const { publicKey, privateKey } = generateKeyPairSync("ed25519");
    const type = "sk-ssh-ed25519@openssh.com";
    const blob = wire(type, jwk(publicKey, "x"), application);
    return signer(type, blob, (data) => Buffer.concat([wire(type, sign(null, signed(data), privateKey)), tail]));
  }
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const type = "sk-ecdsa-sha2-nistp256@openssh.com";
  return signer(type, wire(type, "nistp256", point(publicKey), application), (data) =>
    Buffer.concat([
      wire(type, numbers(sign("sha256", signed(data), { key: privateKey, dsaEncoding: "ieee-p1363" }))),
      tail,
    ]),
  );
}

function point(key: KeyObject): Buffer {
  return Buffer.concat([Buffer.from([4]), jwk(key, "x"), jwk(key, "y")]);
}

/** The two numbers of an ECDSA signature. */
function numbers(value: Buffer): Buffer {
  const half = value.length / 2;
  return wire(mpint(value.subarray(0, half)), mpint(value.subarray(half)));
}

function digest(data: Buffer | string): Buffer {
  return createHash("sha256").update(data).digest();
}

export interface SshSigOptions {
  readonly namespace?: string;
  readonly hash?: string;
  readonly version?: number;
  readonly magic?: string;
  /** Of the key that the signature says is its maker's. */
  readonly blob?: Buffer;
  /** After the last field. */
  readonly junk?: Buffer;
}

/** What `ssh-keygen -Y sign -n git` writes (OpenSSH, PROTOCOL.sshsig), or nearly that. */
export function sshSignature(by: SshSigner, payload: Buffer | string, options: SshSigOptions = {}): string {
  const { namespace = "git", hash = "sha512", version = 1, magic = "SSHSIG", blob = by.blob } = options;
  const hashed = createHash(hash).update(payload).digest();
  const value = by.sign(Buffer.concat([Buffer.from("SSHSIG"), wire(namespace, "", hash, hashed)]));
  return armor(
    Buffer.concat([
      Buffer.from(magic),
      wire(version, blob, namespace, "", hash, value),
      options.junk ?? Buffer.alloc(0),
    ]),
  );
}

export function armor(bytes: Buffer): string {
  const lines = bytes.toString("base64").match(/.{1,70}/g) ?? [];
  return `-----BEGIN SSH SIGNATURE-----\n${lines.join("\n")}\n-----END SSH SIGNATURE-----\n`;
}
