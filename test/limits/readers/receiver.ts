import { generateKeyPairSync } from "node:crypto";
import { messageOf } from "../../../lib/core/failure.ts";
import { checkCdEvent, maxListEntries } from "../../../lib/receiver/cdevents.ts";
import { maxBodyBytes, maxBodyValues, parseBody } from "../../../lib/receiver/delivery.ts";
import {
  isSignedBy,
  maxKeys,
  maxRsaBits,
  maxTriedKeys,
  parseToken,
  publicKeys,
} from "../../../lib/receiver/json-web-token.ts";
import { keySets, maxDocumentBytes } from "../../../lib/receiver/key-sets.ts";
import { steppedClock } from "../../doubles/stepped-clock.ts";
import type { WorstInput } from "../worst-input.ts";

const signal = new AbortController().signal;

/** An event of `dev.cdevents.ticket.created.0.1.0` with more fields in its content. */
function ticket(more: string, links = "[]"): string {
  const context = `{"type":"dev.cdevents.ticket.created.0.1.0","version":"1","id":"1","source":"/a","links":${links}}`;
  return `{"context":${context},"subject":{"id":"1","type":"ticket","content":{"uri":"u","creator":"c"${more}}}}`;
}

function eventOf(name: string, text: () => string, memoryMiB: number): WorstInput {
  return readOf("lib/receiver/cdevents.ts", name, memoryMiB, () => Buffer.from(text()), checkCdEvent);
}

function readOf<Input>(
  reader: string,
  name: string,
  memoryMiB: number,
  prepare: () => Input,
  read: (input: Input) => unknown,
): WorstInput {
  return {
    reader,
    name,
    memoryMiB,
    make: async () => {
      const input = prepare();
      return async () => {
        try {
          return read(input);
        } catch (error) {
          return messageOf(error);
        }
      };
    },
  };
}

const fields = (count: number, value: string): string =>
  Array.from({ length: count }, (_, at) => `"field${at}":${value}`).join(",");

/** A token without the name of a key, whose signature is as long as a modulus of the limit. */
function unsigned(alg: string, bytes: number): string {
  const part = (object: object): string => Buffer.from(JSON.stringify(object)).toString("base64url");
  return `${part({ alg })}.${part({ iss: "x" })}.${Buffer.alloc(bytes, 0x7f).toString("base64url")}`;
}

const longestRsa = {
  kty: "RSA",
  n: Buffer.alloc(maxRsaBits / 8, 0xff).toString("base64url"),
  e: Buffer.from("7fffffff", "hex").toString("base64url"),
};

/** The worst inputs of what reads deliveries to Receivers, and the keys of their issuers. */
export const receiverReaders: readonly WorstInput[] = [
  eventOf("links that are numbers, 3 MiB of them", () => ticket("", `[${"1,".repeat(1_500_000)}1]`), 40),
  eventOf(
    `${maxListEntries} links of an unknown shape`,
    () => ticket("", `[${'{"linkType":"RELATION","tags":{}},'.repeat(maxListEntries - 1)}{}]`),
    40,
  ),
  eventOf(`${maxBodyValues} unknown fields`, () => ticket(`,${fields(maxBodyValues - 20, "1")}`), 100),
  eventOf(
    "an artifact with a path of 3 MiB",
    () => {
      const text = ticket("").replaceAll("ticket.created.0.1.0", "build.finished.0.2.0").replace('"ticket"', '"build"');
      return text.replace('"uri":"u"', `"artifactId":"pkg:a/${"b/@".repeat(1_000_000)}"`);
    },
    60,
  ),
  readOf(
    "lib/receiver/delivery.ts",
    `a body of ${maxBodyValues} values and ${maxBodyBytes} bytes`,
    100,
    () => {
      const text = `{${fields(maxBodyValues / 2, "{}")}}`;
      return Buffer.from(text.padEnd(maxBodyBytes));
    },
    parseBody,
  ),
  readOf(
    "lib/receiver/json-web-token.ts",
    `${maxTriedKeys} RSA keys of ${maxRsaBits} bits with the longest exponent`,
    40,
    () => ({
      token: parseToken(unsigned("RS512", maxRsaBits / 8)),
      keys: publicKeys({ keys: Array.from({ length: maxKeys }, () => longestRsa) }),
    }),
    ({ token, keys }) => isSignedBy(token, keys),
  ),
  readOf(
    "lib/receiver/json-web-token.ts",
    `a set of ${maxKeys} keys on P-521`,
    40,
    () => {
      const key = generateKeyPairSync("ec", { namedCurve: "P-521" }).publicKey.export({ format: "jwk" });
      return { keys: Array.from({ length: maxKeys }, () => key) };
    },
    publicKeys,
  ),
  {
    reader: "lib/receiver/key-sets.ts",
    name: `a set of ${maxDocumentBytes} bytes that lists numbers`,
    memoryMiB: 60,
    make: async () => {
      const body = Buffer.from(`{"keys":[${"1,".repeat((maxDocumentBytes - 20) / 2)}1]}`);
      const http = { send: async ({ url }: { readonly url: string }) => ({ url, status: 200, headers: {}, body }) };
      const keys = keySets({ http, clock: steppedClock() });
      return () =>
        keys.hasSigned("https://issuer.example/", parseToken(unsigned("RS256", 256)), signal).catch(messageOf);
    },
  },
];
