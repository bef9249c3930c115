import { armor, Encrypter, identityToRecipient } from "age-encryption";
import { load } from "js-yaml";
import { isJsonObject, type JsonObject, toJson } from "../lib/core/json.ts";
import { decryptObjects, macsOf } from "../lib/manifests/decrypt/decrypt-objects.ts";
import { sealedFiles } from "../lib/manifests/decrypt/sealed-files.ts";
import { goYamlText } from "../lib/manifests/go-yaml/emit.ts";
import { dataKeys } from "../lib/sops/data-key.ts";
import { decryptObject } from "../lib/sops/decrypt-object.ts";
import { verifyFile } from "../lib/sops/file/decrypt-file.ts";
import type { KeySource } from "../lib/sops/key-source.ts";
import { ageIdentities, ageKeys } from "../lib/sops/keys/age.ts";
import { dataKey, encrypted, macOf, sopsOf } from "../test/unit/sops/encrypt.ts";
import { fixture } from "../test/unit/sops/fixtures.ts";
import { type Figure, figure } from "./figure.ts";

const rounds = 30;
const objects = 100;
const [mostAnObjectMs, mostARunMs] = [1, 5];
const signal = new AbortController().signal;

/**
 * Decryption at home, keys in memory: the file of a Secret by the real sops is read and its MAC verified, and the object that was
 * built from it is decrypted. Each object has a data key of its own, which is opened with an age key; a run has four of them.
 */
export async function sopsDecryption(): Promise<readonly Figure[]> {
  const file = fixture("encrypted/secret.regex.yaml");
  const object = builtFrom(file);
  const age = ageKeys(ageIdentities(fixture("keys/first.agekey").toString()));
  const first = await timed(() => decrypt(file, object, age));
  await timed(() => many(objects, file, object, age));
  const each: number[] = [];
  const four: number[] = [];
  for (let round = 0; round < rounds; round++) {
    each.push((await timed(() => many(objects, file, object, age))) / objects);
    four.push(await timed(() => many(4, file, object, age)));
  }
  const whole = await wholeRun();
  for (let round = 0; round < 3; round++) await whole(age);
  const run: number[] = [];
  for (let round = 0; round < rounds; round++) run.push((await timed(() => whole(age))) / objects);
  return [
    figure("sops: the first Secret of a process, ms", "ms", [first]),
    figure("sops: a Secret with its file and its data key, ms", "ms", each, { of: "median", atMost: mostAnObjectMs }),
    figure("sops: one of 100 Secrets of a run, ms", "ms", run, { of: "median", atMost: mostAnObjectMs }),
    figure("sops: a run with four Secrets, ms", "ms", four, { of: "median", atMost: mostARunMs }),
  ];
}

/**
 * What a build adds for 100 encrypted Secrets, each with a file and a data key of its own: the files are searched for MACs and
 * verified, the objects are decrypted and printed.
 */
async function wholeRun(): Promise<(age: KeySource) => Promise<void>> {
  const encrypter = new Encrypter();
  const [identity = ""] = ageIdentities(fixture("keys/first.agekey").toString());
  encrypter.addRecipient(await identityToRecipient(identity));
  const files = new Map<string, Buffer>();
  const secrets: JsonObject[] = [];
  for (let at = 0; at < objects; at++) {
    const enc = armor.encode(await encrypter.encrypt(dataKey));
    const secret = secretOf(`s${at}`, [{ recipient: "age1", enc }]);
    const text = goYamlText(secret);
    if (text === undefined) throw new TypeError("a Secret cannot be printed");
    files.set(`${at}.yaml`, Buffer.from(text));
    secrets.push(secret);
  }
  const output = { objects: secrets, text: Array.from(files.values(), String).join("---\n") };
  return async (age) => {
    const keys = dataKeys([age]);
    const sealed = await sealedFiles({ files }, macsOf(secrets), signal);
    await decryptObjects(output, sealed, { keys, ignoreMac: false, namesOnly: false }, signal);
  };
}

function secretOf(name: string, age: readonly JsonObject[]): JsonObject {
  const values = { password: "correct horse battery staple", user: "admin" };
  const data = Object.fromEntries(
    Object.entries(values).map(([key, value]) => [key, encrypted(value, `stringData:${key}:`)]),
  );
  const mac = macOf("v1", "Secret", name, values.password, values.user);
  const sops = toJson(sopsOf(mac, { age, encrypted_regex: "^(data|stringData)$" }));
  return { apiVersion: "v1", kind: "Secret", metadata: { name }, sops, stringData: data };
}

/** Each time with nothing remembered, as for so many different files. */
async function many(count: number, file: Buffer, object: JsonObject, age: KeySource): Promise<void> {
  for (let done = 0; done < count; done++) await decrypt(file, object, age);
}

async function decrypt(file: Buffer, object: JsonObject, age: KeySource): Promise<void> {
  const keys = dataKeys([age]);
  await verifyFile(file, "yaml", keys, signal);
  await decryptObject(object, keys, signal);
}

function builtFrom(file: Buffer): JsonObject {
  const json = toJson(load(file.toString()));
  if (!isJsonObject(json)) throw new TypeError("the fixture is not one object");
  return json;
}

async function timed(run: () => Promise<void>): Promise<number> {
  const start = performance.now();
  await run();
  return performance.now() - start;
}
