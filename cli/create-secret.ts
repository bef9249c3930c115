import { createReadStream } from "node:fs";
import { messageOf } from "../lib/core/failure.ts";
import type { Manifest } from "../lib/core/manifest.ts";
import { type CreatedOptions, printOrApply } from "./create-object.ts";
import { labelsOf, upsert } from "./created-object.ts";
import type { SecretData } from "./git-credentials.ts";
import type { Session, Surroundings } from "./session.ts";

// The frame of the words of `create secret`. Values are printed by `--export` alone.

/** A Secret holds no more. */
const maxFileBytes = 1024 * 1024;

/** A new Secret; the namespace that some of it depends on is known late. */
export interface NewSecret {
  readonly name: string;
  readonly dataIn: (namespace: string) => SecretData;
  /** `kubernetes.io/tls`; absent where flux leaves it to the API server, which takes Opaque. */
  readonly type?: string;
  readonly annotationsIn?: (namespace: string) => Readonly<Record<string, string>>;
}

/**
 * Prints the Secret, or creates or changes it in the cluster.
 *
 * @param what how flux calls it: `git secret 'NAME' created in …`
 * @param before what else is said before it is written
 */
export async function createSecret(
  what: string,
  secret: NewSecret,
  options: CreatedOptions,
  surroundings: Surroundings,
  before: (session: Session) => void = () => undefined,
): Promise<void> {
  const labels = labelsOf(options);
  const { name, dataIn, type, annotationsIn } = secret;
  const manifestIn = (namespace: string): Manifest => {
    const annotations = annotationsIn === undefined ? {} : { annotations: annotationsIn(namespace) };
    const data = dataIn(namespace);
    return {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name, namespace, ...labels, ...annotations },
      ...(type === undefined ? {} : { type }),
      ...(Object.keys(data).length === 0 ? {} : { stringData: { ...data } }),
    };
  };
  await printOrApply(manifestIn, options, surroundings, async (manifest, session) => {
    before(session);
    await upsert(manifest, session);
    session.terminal.action(`${what} secret '${name}' created in '${session.namespace}' namespace`);
  });
  // flux ends all of them with an empty line, but for this one.
  if (options.export === true && what !== "tls") surroundings.terminal.document("\n");
}

/**
 * The text of a file that becomes a value of a Secret. Throws if it cannot be read, is longer than a Secret may be, or is not text.
 *
 * @param failed the beginning of the error, in flux's words: `failed to read cert file`
 */
export async function readSecretFile(file: string, failed: string): Promise<string> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const piece of createReadStream(file)) {
      if (!Buffer.isBuffer(piece)) continue;
      bytes += piece.length;
      if (bytes > maxFileBytes) break;
      pieces.push(piece);
    }
  } catch (error) {
    throw new Error(`${failed}: ${messageOf(error)}`, { cause: error });
  }
  if (bytes > maxFileBytes) throw new Error(`${failed}: ${file} is longer than 1 MiB, the most that a Secret can hold`);
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(Buffer.concat(pieces));
  } catch (error) {
    throw new Error(`${failed}: ${file} is not text: convert it to PEM, for example with openssl`, { cause: error });
  }
}
