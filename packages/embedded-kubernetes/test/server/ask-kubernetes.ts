import { isJsonObject, type JsonObject } from "../../src/core/json.ts";
import type { Kubernetes } from "../../src/start-kubernetes.ts";

/** What an embedded API server answers to a request of its administrator; `text` alone where that is no JSON object. */
export async function askKubernetes(
  { url, token }: Kubernetes,
  method: string,
  path: string,
  body?: object,
  type = "application/json",
): Promise<JsonObject> {
  const request: RequestInit = {
    method,
    headers: { authorization: `Bearer ${token}`, "content-type": type },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  };
  const text = await (await fetch(`${url}${path}`, request)).text();
  const answer: unknown = text.startsWith("{") ? JSON.parse(text) : undefined;
  return isJsonObject(answer) ? answer : { text };
}
