import { inspect } from "node:util";
import { CreateAliasCommand, CreateKeyCommand, EncryptCommand, KMSClient } from "@aws-sdk/client-kms";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { clientConfig } from "../../lib/aws/aws-connection.ts";
import { kmsDataKeys } from "../../lib/aws/kms/kms-data-keys.ts";
import type { SealedDataKey } from "../../lib/core/ports/data-keys.ts";
import { faultyWire, type WireFault } from "../doubles/faulty-wire.ts";
import { realAws } from "./real-aws.ts";
import { never } from "./state-back-end.ts";

const connection = realAws("AWS");
const dataKey = Buffer.alloc(32, "data key of sops");
const context = { app: "web", "env name": "prüfung" };

/** Each fault on the first try of a call, or on two. */
const faults: readonly (readonly [string, WireFault])[] = [
  ["is lost on its way", "dropped"],
  ["is answered and nobody hears it", "lost"],
  ["is answered by half", "cut"],
  ["meets a server without time", { status: 503 }],
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
    const keys = kmsDataKeys({ connection: of, isAllowed: () => true });
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

    test("are opened by the key and the context that sealed them, again and again, and cannot be printed", async () => {
      for (const _time of ["first", "second"]) {
        const opened = await keys.open(sealed, "apps", never);
        expect(Buffer.from(opened.reveal(), "base64")).toEqual(dataKey);
        expect(inspect({ opened })).toBe("{ opened: [secret] }");
      }
    });

    test("without a context are opened without one", async () => {
      const bare = await seal(client, key, {});
      expect((await keys.open(bare, "apps", never)).reveal()).toBe(dataKey.toString("base64"));
    });

    test("are opened by an alias of the key", async () => {
      const name = `alias/${key.replace(/.*\//, "")}`;
      await client.send(new CreateAliasCommand({ AliasName: name, TargetKeyId: key }));
      const alias = key.replace(/key\/.*/, name);
      expect((await keys.open({ ...sealed, sealedBy: alias }, "apps", never)).reveal()).toBe(
        dataKey.toString("base64"),
      );
    });

    test("of another region are opened there", async () => {
      const elsewhere = new KMSClient(clientConfig({ ...of, region: "us-east-1" }));
      const other = await seal(elsewhere, await newKey(elsewhere), context);
      expect(other.sealedBy).toContain(":us-east-1:");
      expect((await keys.open(other, "apps", never)).reveal()).toBe(dataKey.toString("base64"));
      elsewhere.destroy();
    });

    test.each<[string, (sealed: SealedDataKey) => Partial<SealedDataKey>]>([
      ["for another context", () => ({ context: { ...context, app: "api" } })],
      ["for a context with one name more", () => ({ context: { ...context, more: "" } })],
      ["for any context, where none is given", () => ({ context: {} })],
      ["with bytes changed since", ({ ciphertext }) => ({ ciphertext: ciphertext.toReversed() })],
      ["by nobody", () => ({ ciphertext: Buffer.from("not sealed") })],
    ])("that were sealed %s stay closed", async (_, change) => {
      const message = `kms:Decrypt on key ${key}: it was sealed by another key, or for another encryption context`;
      await expect(keys.open({ ...sealed, ...change(sealed) }, "apps", never)).rejects.toMatchObject({
        name: "DataKeyError",
        kind: "mismatched",
        message: expect.stringContaining(message),
      });
    });

    test("of a key that is not there name it and its region", async () => {
      const gone = key.replace(/key\/.*/, "key/00000000-0000-0000-0000-000000000000");
      await expect(keys.open({ ...sealed, sealedBy: gone }, "apps", never)).rejects.toMatchObject({
        kind: "missing",
        message: expect.stringContaining(`kms:Decrypt on key ${gone}: there is none in region ${of.region}`),
      });
    });

    test.each(faults)("are opened where a request %s, twice even", async (_, fault) => {
      await using wire = await faultyWire(of.endpoint, (_request, count) => (count < 2 ? fault : "pass"));
      const over = kmsDataKeys({ connection: { ...of, endpoint: wire.url }, isAllowed: () => true });
      expect((await over.open(sealed, "apps", never)).reveal()).toBe(dataKey.toString("base64"));
      expect(wire.seen).toHaveLength(3);
      over.close();
    });

    test("are asked for under the run's signal, and later ones are not disturbed by what was given up", async () => {
      const stop = new AbortController();
      const reason = new Error("the time is up");
      await using wire = await faultyWire(of.endpoint, (_request, count) => {
        if (count > 0) return "pass";
        stop.abort(reason);
        return "silent";
      });
      const over = kmsDataKeys({ connection: { ...of, endpoint: wire.url }, isAllowed: () => true });
      await expect(over.open(sealed, "apps", stop.signal)).rejects.toBe(reason);
      expect((await over.open(sealed, "apps", never)).reveal()).toBe(dataKey.toString("base64"));
      over.close();
    });
  },
);
