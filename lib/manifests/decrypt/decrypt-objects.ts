import { setImmediate } from "node:timers/promises";
import { Failure } from "../../core/failure.ts";
import { formatJson, type Json, type JsonObject } from "../../core/json.ts";
import { isEncryptedValue } from "../../sops/cipher.ts";
import { decryptObject, isEncryptedObject } from "../../sops/decrypt-object.ts";
import { decryptFile } from "../../sops/file/decrypt-file.ts";
import { encryptedFormat, formatOfName } from "../../sops/format.ts";
import { SopsFault } from "../../sops/sops-fault.ts";
import { mapping, textIn } from "../fields.ts";
import { goYamlText } from "../go-yaml/emit.ts";
import { type BuildOutput, describe, documentsOf, separator } from "../rendered.ts";
import { decryptedTexts } from "../sealed/plain-values.ts";
import type { Decrypter } from "./decryption.ts";
import { isOptedOut } from "./guard.ts";
import { macVerifier, type SealedFiles } from "./sealed-files.ts";

/** A build without ciphertext. */
export interface DecryptedOutput {
  readonly output: BuildOutput;
  /** The decrypted values: no text may show them. */
  readonly values: readonly string[];
}

/** The MACs of the objects that are encrypted as a whole. Pure. */
export function macsOf(objects: readonly JsonObject[]): ReadonlySet<string> {
  return new Set(objects.filter((object) => !isOptedOut(object) && isEncryptedObject(object)).map(macOf));
}

/**
 * Decrypts the objects of a build (reference 3.10): those of any kind with `sops.mac` as a whole, and of the other Secrets the
 * values of `data` that are files of sops. Not those with the annotation `decrypt: disabled`.
 *
 * @param sealed the files of the artifact that hold {@link macsOf} the objects
 * @throws Failure `BuildFailed`
 */
export async function decryptObjects(
  output: BuildOutput,
  sealed: SealedFiles,
  decrypter: Decrypter,
  signal: AbortSignal,
): Promise<DecryptedOutput> {
  const verify = decrypter.ignoreMac ? async () => undefined : macVerifier(sealed, decrypter.keys, signal);
  const decrypt = decrypter.namesOnly ? decryptName : decryptContent;
  const values: string[] = [];
  const objects: JsonObject[] = [];
  for (const object of output.objects) {
    const plain = isOptedOut(object) ? object : await decrypt(object, decrypter, verify, signal);
    objects.push(plain);
    if (plain === object) continue;
    for (const value of valuesOf(object, plain)) values.push(value);
    // Many objects take a while, and until then other runs and heartbeats of leases would wait.
    await setImmediate();
    signal.throwIfAborted();
  }
  return { output: rendered(output, objects), values };
}

type Verify = (mac: string) => Promise<void>;

async function decryptContent(
  object: JsonObject,
  decrypter: Decrypter,
  verify: Verify,
  signal: AbortSignal,
): Promise<JsonObject> {
  if (isEncryptedObject(object)) {
    return reported(object, `${textIn(object["kind"])} data`, async () => {
      await verify(macOf(object));
      const plain = await decryptObject(object, decrypter.keys, signal);
      if (valuesOf(object, plain).some(isEncryptedValue)) throw new SopsFault(twice);
      return plain;
    });
  }
  return object["kind"] === "Secret" ? decryptData(object, decrypter, signal) : object;
}

/** Decrypted only if its name, namespace or kind is. The MAC does not matter: nothing of the object is applied. */
async function decryptName(
  object: JsonObject,
  { keys }: Decrypter,
  _verify: Verify,
  signal: AbortSignal,
): Promise<JsonObject> {
  const { name, namespace } = mapping(object["metadata"]);
  const isHidden = [object["apiVersion"], object["kind"], name, namespace].some(isCiphertext);
  if (!isHidden || !isEncryptedObject(object)) return object;
  try {
    return await decryptObject(object, keys, signal);
  } catch (error) {
    if (error instanceof SopsFault) return object;
    throw error;
  }
}

/** The Secret with decrypted values in place of files of sops. The API server refuses values that are not base64. */
async function decryptData(secret: JsonObject, decrypter: Decrypter, signal: AbortSignal): Promise<JsonObject> {
  const data = mapping(secret["data"]);
  const changed: { [key: string]: Json } = {};
  for (const [key, value] of Object.entries(data)) {
    const bytes = typeof value === "string" ? decodedBase64(value) : undefined;
    const input = bytes && encryptedFormat(bytes);
    if (bytes === undefined || input === undefined) continue;
    changed[key] = await reported(secret, `Secret field '${key}'`, async () => {
      const { keys, ignoreMac } = decrypter;
      const plain = await decryptFile(bytes, { input, output: formatOfName(key), ignoreMac }, keys, signal);
      if (encryptedFormat(plain) !== undefined) throw new SopsFault(twice);
      return Buffer.from(plain).toString("base64");
    });
  }
  const decrypted = Object.keys(changed).length === 0 ? secret : { ...secret, data: { ...data, ...changed } };
  // An object that still has its metadata is refused after the build, in Flux's words.
  const sealed = "sops" in decrypted ? undefined : sealedField(decrypted);
  return sealed === undefined
    ? decrypted
    : reported(secret, `Secret field '${sealed}'`, () => Promise.reject(new SopsFault(withoutMetadata)));
}

const twice = "it is SOPS encrypted twice: encrypt the plain file once";
const withoutMetadata =
  "it is a value that sops has encrypted, without the metadata to decrypt it: name the whole file in a secretGenerator, or encrypt it again";

/** A field that holds a single value of sops, as a generator makes it of a file that Flux does not decrypt. */
function sealedField(secret: JsonObject): string | undefined {
  const texts = [
    ...Object.entries(mapping(secret["data"])).flatMap(([key, value]) => [
      [key, value] as const,
      [key, decodedText(value)] as const,
    ]),
    ...Object.entries(mapping(secret["stringData"])),
  ];
  return texts.find(([, value]) => isCiphertext(value))?.[0];
}

function decodedText(value: Json): string | undefined {
  const bytes = typeof value === "string" ? decodedBase64(value) : undefined;
  return bytes && Buffer.from(bytes).toString();
}

function isCiphertext(value: Json | undefined): boolean {
  return typeof value === "string" && isEncryptedValue(value);
}

async function reported<Result>(object: JsonObject, what: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof SopsFault)) throw error;
    const { name, namespace } = mapping(object["metadata"]);
    const subject = `'${textIn(namespace)}/${textIn(name)}'`;
    const why = `failed to decrypt and format ${subject} ${what}: ${error.message}`;
    throw new Failure("BuildFailed", `decryption failed for '${describe(object)}': ${why}`, { cause: error });
  }
}

/** The texts of the objects that have changed are printed again. */
function rendered({ objects: before, text }: BuildOutput, objects: readonly JsonObject[]): BuildOutput {
  if (objects.every((object, index) => object === before[index])) return { objects: before, text };
  const documents = documentsOf(text);
  if (documents.length !== before.length) throw new Error("kustomize printed another number of documents than objects");
  const texts = objects.map((object, index) =>
    object === before[index] ? (documents[index] ?? "") : (goYamlText(object) ?? `${formatJson(object)}\n`),
  );
  return { objects, text: texts.join(separator) };
}

function valuesOf(before: JsonObject, after: JsonObject): readonly string[] {
  const texts = decryptedTexts(before, after);
  if (after["kind"] !== "Secret") return texts;
  return texts.flatMap((text) => [text, Buffer.from(text, "base64").toString()]);
}

function macOf(object: JsonObject): string {
  return textIn(mapping(object["sops"])["mac"]);
}

/** Undefined for what Go's decoder refuses; Node decodes it as far as it can. */
function decodedBase64(text: string): Uint8Array | undefined {
  const bytes = Buffer.from(text, "base64");
  return bytes.toString("base64") === text.replaceAll(/[\r\n]/g, "") ? bytes : undefined;
}
