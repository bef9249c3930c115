import { inspect } from "node:util";
import { CreateAliasCommand, CreateKeyCommand, EncryptCommand, KMSClient } from "@aws-sdk/client-kms";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { clientConfig } from "../../lib/aws/aws-connection.ts";
import { kmsDataKeys } from "../../lib/aws/kms-data-keys.ts";
import type { KeyIdentity, SealedDataKey } from "../../lib/core/ports/data-keys.ts";
import { Secret } from "../../lib/core/secret.ts";
import { systemClock } from "../../lib/process/system-clock.ts";
import { importKeys } from "../../lib/sops/keys/import-keys.ts";
import { faultyWire, type WireFault } from "../doubles/faulty-wire.ts";
import { noKeyServices } from "../doubles/no-key-services.ts";
import { realAws } from "./real-aws.ts";
import { never } from "./state-back-end.ts";

const connection = realAws("AWS");
const installation: KeyIdentity = { kind: "installation", cluster: "c1", namespace: "apps" };
const dataKey = Buffer.alloc(32, "data key of sops");
const context = { app: "web", "env name": "prüfung" };

/** Each fault on the first try of a call, or on two. */
const faults: readonly (readonly [string, WireFault])[] = [
  ["is lost on its way", "dropped"],
  ["is answered, and the answer is lost", "lost"],
  ["is half answered", "cut"],
  ["meets a throttling server", { status: 503 }],
  [
    "is throttled",
    {
      status: 400,
      headers: { "content-type": "application/x-amz-json-1.1" },
      body: '{"__type":"ThrottlingException","message":"Rate exceeded"}',
    },
  ],
];

describe.skipIf(connection === undefined)(
  "data keys of KMS, where SLUICE_REAL_AWS names one (npm run real -- up)",
  () => {
    const of = connection ?? { region: "eu-west-1" };
    const client = new KMSClient(clientConfig(of));
    const keys = kmsDataKeys({ connection: of, clock: systemClock, isAllowed: () => true });
    let key = "";
    let sealed: SealedDataKey = { sealedBy: "", ciphertext: new Uint8Array(), context };

    async function newKey(sdk: KMSClient): Promise<string> {
      const { KeyMetadata } = await sdk.send(new CreateKeyCommand({ Description: "test/contract/aws-kms.test.ts" }));
      return KeyMetadata?.Arn ?? "";
    }

    async function seal(sdk: KMSClient, sealedBy: string, bound: SealedDataKey["context"]): Promise<SealedDataKey> {
      const command = new EncryptCommand({ KeyId: sealedBy, Plaintext: dataKey, EncryptionContext: { ...bound } });
      const { CiphertextBlob: ciphertext = new Uint8Array() } = await sdk.send(command);
      return { sealedBy, ciphertext, context: bound };
    }

    beforeAll(async () => {
      key = await newKey(client);
      sealed = await seal(client, key, context);
    });
    afterAll(() => {
      keys.close();
      client.destroy();
    });

    test("are decrypted with the key and context that encrypted them, repeatedly, and cannot be printed", async () => {
      for (const _time of ["first", "second"]) {
        const opened = await keys.open(sealed, installation, never);
        expect(Buffer.from(opened.reveal(), "base64")).toEqual(dataKey);
        expect(inspect({ opened })).toBe("{ opened: [secret] }");
      }
    });

    test("without a context are decrypted without one", async () => {
      const bare = await seal(client, key, {});
      expect((await keys.open(bare, installation, never)).reveal()).toBe(dataKey.toString("base64"));
    });

    test("are decrypted with an alias of the key", async () => {
      const name = `alias/${key.replace(/.*\//, "")}`;
      await client.send(new CreateAliasCommand({ AliasName: name, TargetKeyId: key }));
      const alias = key.replace(/key\/.*/, name);
      expect((await keys.open({ ...sealed, sealedBy: alias }, installation, never)).reveal()).toBe(
        dataKey.toString("base64"),
      );
    });

    test("of another region are decrypted there", async () => {
      const elsewhere = new KMSClient(clientConfig({ ...of, region: "us-east-1" }));
      const other = await seal(elsewhere, await newKey(elsewhere), context);
      expect(other.sealedBy).toContain(":us-east-1:");
      expect((await keys.open(other, installation, never)).reveal()).toBe(dataKey.toString("base64"));
      elsewhere.destroy();
    });

    test.each<[string, (sealed: SealedDataKey) => Partial<SealedDataKey>]>([
      ["for another context", () => ({ context: { ...context, app: "api" } })],
      ["for a context with one more entry", () => ({ context: { ...context, more: "" } })],
      ["for a context, if none is given", () => ({ context: {} })],
      ["with bytes changed since then", ({ ciphertext }) => ({ ciphertext: ciphertext.toReversed() })],
      ["by no key", () => ({ ciphertext: Buffer.from("not sealed") })],
    ])("that were encrypted %s cannot be decrypted", async (_, change) => {
      const message = `kms:Decrypt on key ${key}: it was sealed by another key or for another encryption context`;
      await expect(keys.open({ ...sealed, ...change(sealed) }, installation, never)).rejects.toMatchObject({
        name: "DataKeyError",
        reason: "mismatched",
        message: expect.stringContaining(message),
      });
    });

    test("of a missing key give an error that names the key and its region", async () => {
      const gone = key.replace(/key\/.*/, "key/00000000-0000-0000-0000-000000000000");
      await expect(keys.open({ ...sealed, sealedBy: gone }, installation, never)).rejects.toMatchObject({
        reason: "missing",
        message: expect.stringContaining(`kms:Decrypt on key ${gone}: it does not exist in region ${of.region}`),
      });
    });

    test.each(faults)("are decrypted if a request %s, even twice", async (_, fault) => {
      await using wire = await faultyWire(of.endpoint, (_request, count) => (count < 2 ? fault : "pass"));
      const over = kmsDataKeys({
        connection: { ...of, endpoint: wire.url },
        clock: systemClock,
        isAllowed: () => true,
      });
      expect((await over.open(sealed, installation, never)).reveal()).toBe(dataKey.toString("base64"));
      expect(wire.seen).toHaveLength(3);
      over.close();
    });

    const role = "arn:aws:iam::123456789012:role/decrypts";
    const own = { kind: "static", accessKeyId: "AKIATENANT", sessionToken: undefined } as const;
    test.each<readonly [string, KeyIdentity, Partial<SealedDataKey>]>([
      ["with the credentials of a tenant", { ...own, secretAccessKey: new Secret("tenant's") }, {}],
      ["with a role that the file names", installation, { role }],
      [
        "with the role of a service account",
        { kind: "account", namespace: "apps", name: "web", role, token: async () => new Secret("a.b.c") },
        {},
      ],
    ])("are decrypted %s", async (_, identity, changed) => {
      for (const _time of ["first", "second"]) {
        const opened = await keys.open({ ...sealed, ...changed }, identity, never);
        expect(opened.reveal()).toBe(dataKey.toString("base64"));
      }
    });

    test("are decrypted for a recipient of SOPS with the credentials of the decryption Secret, through the role that it names", async () => {
      const entry = "aws_access_key_id: AKIATENANT\naws_secret_access_key: tenant's\n";
      const data = { "sops.aws-kms": Buffer.from(entry).toString("base64") };
      const home = {
        get: async () => ({ apiVersion: "v1", kind: "Secret", metadata: { name: "keys", uid: "u" }, data }),
      };
      const parts = { ...noKeyServices, home, dataKeys: keys };
      const request = { decryption: { secretRef: { name: "keys" } }, cluster: "c1", namespace: "apps" };
      const enc = Buffer.from(sealed.ciphertext).toString("base64");
      const recipient = { kind: "kms", arn: key, role, context, awsProfile: undefined, enc } as const;
      const opened: Uint8Array[] = [];
      for (const source of await importKeys(request, parts, never)) {
        opened.push(...[await source.open(recipient, never)].filter((one) => one !== undefined));
      }
      expect(opened.map((one) => Buffer.from(one))).toEqual([dataKey]);
    });

    test("are requested with the run's signal, and an aborted request does not disturb later ones", async () => {
      const stop = new AbortController();
      const reason = new Error("the time is up");
      await using wire = await faultyWire(of.endpoint, (_request, count) => {
        if (count > 0) return "pass";
        stop.abort(reason);
        return "silent";
      });
      const over = kmsDataKeys({
        connection: { ...of, endpoint: wire.url },
        clock: systemClock,
        isAllowed: () => true,
      });
      await expect(over.open(sealed, installation, stop.signal)).rejects.toBe(reason);
      expect((await over.open(sealed, installation, never)).reveal()).toBe(dataKey.toString("base64"));
      over.close();
    });
  },
);
