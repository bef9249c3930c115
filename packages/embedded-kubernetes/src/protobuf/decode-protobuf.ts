import { StatusError } from "../core/api-object.ts";
import type { JsonObject } from "../core/json.ts";
import { plainText } from "../core/plain-text.ts";
import { messages } from "./messages.ts";
import { readMessage } from "./read-message.ts";

/** `k8s` and a zero byte stand before every message. */
const magic = Buffer.from("k8s\0");

const envelope = {
  1: {
    name: "typeMeta",
    type: { message: { 1: { name: "apiVersion", type: "string" }, 2: { name: "kind", type: "string" } } },
  },
  2: { name: "raw", type: "bytes" },
} as const;

/**
 * An object that came in protobuf, which `kubectl create configmap` and its like and `kubectl auth can-i` send whatever
 * the server prefers.
 *
 * @throws {StatusError} 400 for what is no message, 415 for a kind that is not read
 */
export function decodeProtobuf(body: Buffer): JsonObject {
  try {
    if (!body.subarray(0, magic.length).equals(magic))
      throw new RangeError("it does not begin with k8s and a zero byte");
    const { typeMeta, raw } = readMessage(body.subarray(magic.length), envelope);
    const { apiVersion, kind } = Object.assign({ apiVersion: "", kind: "" }, typeMeta);
    const message = messages[`${apiVersion}/${kind}`];
    if (message === undefined) throw unread(kind);
    return { apiVersion, kind, ...readMessage(Buffer.from(plainText(raw), "base64"), message) };
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new StatusError(400, "BadRequest", `error decoding the protobuf body: ${error.message}`);
  }
}

function unread(kind: string): StatusError {
  return new StatusError(
    415,
    "UnsupportedMediaType",
    `the embedded cluster does not read ${kind} in protobuf. Send JSON or YAML: kubectl create … --dry-run=client -o yaml | kubectl apply -f -`,
  );
}
