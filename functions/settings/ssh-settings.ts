import { z } from "zod";
import type { SshAlgorithms } from "../../lib/sources/git/ssh-transport.ts";

/** The algorithms that both Go's client (`golang.org/x/crypto/ssh`) and ours know. */
const kex = [
  "curve25519-sha256",
  "curve25519-sha256@libssh.org",
  "ecdh-sha2-nistp256",
  "ecdh-sha2-nistp384",
  "ecdh-sha2-nistp521",
  "diffie-hellman-group14-sha256",
  "diffie-hellman-group16-sha512",
  "diffie-hellman-group14-sha1",
  "diffie-hellman-group1-sha1",
] as const satisfies SshAlgorithms["kex"];

const hostKey = [
  "ssh-ed25519",
  "ecdsa-sha2-nistp256",
  "ecdsa-sha2-nistp384",
  "ecdsa-sha2-nistp521",
  "rsa-sha2-512",
  "rsa-sha2-256",
  "ssh-rsa",
] as const satisfies SshAlgorithms["hostKey"];

/** Flux's flags take commas, or are given several times. */
function algorithms<const Name extends string>(names: readonly [Name, ...Name[]]) {
  const fault = `must be a list of: ${names.join(", ")}`;
  return z
    .union(
      [z.string(fault).transform((text) => text.split(",").map((each) => each.trim())), z.array(z.string(fault))],
      fault,
    )
    .transform((given) => (given.length === 1 && given[0] === "" ? [] : given))
    .pipe(z.array(z.enum(names, fault)));
}

/** `ssh-kex-algos` */
export const KexAlgorithms = algorithms(kex);
/** `ssh-hostkey-algos` */
export const HostKeyAlgorithms = algorithms(hostKey);

/** What the settings of an installation say about ssh; an empty list leaves the choice to us. */
export function sshAlgorithmsOf(settings: {
  readonly "ssh-kex-algos": z.output<typeof KexAlgorithms>;
  readonly "ssh-hostkey-algos": z.output<typeof HostKeyAlgorithms>;
}): SshAlgorithms {
  const { "ssh-kex-algos": chosenKex, "ssh-hostkey-algos": chosenHostKey } = settings;
  return {
    ...(chosenKex.length === 0 ? {} : { kex: chosenKex }),
    ...(chosenHostKey.length === 0 ? {} : { hostKey: chosenHostKey }),
  };
}
