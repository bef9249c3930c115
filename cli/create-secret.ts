import { createReadStream } from "node:fs";
import { messageOf } from "../lib/core/failure.ts";
import type { Manifest } from "../lib/core/manifest.ts";
import { type CreatedOptions, printOrApply } from "./create-object.ts";
import { labelsOf, upsert } from "./created-object.ts";
import type { SecretData } from "./git-credentials.ts";
import type { Session, Surroundings } from "./session.ts";

// The frame of the words of `create secret`. Values are printed by `--export` alone.

/** The most that a Secret can hold. */
const maxFileBytes = 1024 * 1024;

/** A new Secret. Its data and annotations may depend on its namespace, which is only known when it is printed or written. */
export interface NewSecret {
  readonly name: string;
  readonly dataIn: (namespace: string) => SecretData;
  /** For example `kubernetes.io/tls`. Unset if flux sets none: the API server then makes it Opaque. */
  readonly type?: string;
  readonly annotationsIn?: (namespace: string) => Readonly<Record<string, string>>;
  /** For most Secrets flux prints an empty line after the YAML of `--export`. True for those where it does not. */
  readonly isExportedWithoutEmptyLine?: boolean;
  /** Completes the Secret from the state of the cluster, before it is written. Unset: it is written as it is. */
  readonly inCluster?: (session: Session) => Promise<NewSecret>;
}

/** Messages for the user before and after the Secret is written. */
interface Said {
  readonly before?: (session: Session) => void;
  readonly after?: (written: Manifest, session: Session) => void;
}

/**
 * Prints the Secret, or creates or changes it in the cluster.
 *
 * @param what how flux calls it: `git secret 'NAME' created in …`
 * @param said the command's own messages
 */
export async function createSecret(
  what: string,
  secret: NewSecret,
  options: CreatedOptions,
  surroundings: Surroundings,
  said: Said = {},
): Promise<void> {
  const labels = labelsOf(options);
  const manifestIn = (namespace: string): Manifest => manifestOf(secret, namespace, labels);
  await printOrApply(manifestIn, options, surroundings, async (manifest, session) => {
    said.before?.(session);
    const { namespace, terminal } = session;
    const written =
      secret.inCluster === undefined ? manifest : manifestOf(await secret.inCluster(session), namespace, labels);
    await upsert(written, session);
    terminal.action(`${what} secret '${secret.name}' created in '${namespace}' namespace`);
    said.after?.(written, session);
  });
  if (options.export === true && secret.isExportedWithoutEmptyLine !== true) surroundings.terminal.document("\n");
}

function manifestOf(
  { annotationsIn, dataIn, name, type }: NewSecret,
  namespace: string,
  labels: ReturnType<typeof labelsOf>,
): Manifest {
  const annotations = annotationsIn === undefined ? {} : { annotations: annotationsIn(namespace) };
  const data = dataIn(namespace);
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name, namespace, ...labels, ...annotations },
    ...(type === undefined ? {} : { type }),
    ...(Object.keys(data).length === 0 ? {} : { stringData: { ...data } }),
  };
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
