import { Failure } from "../../core/failure.ts";
import { isJsonObject } from "../../core/json.ts";
import { outageOf } from "../../core/outage.ts";
import { ApiError } from "../../core/ports/cluster.ts";
import type { SubjectOfRun } from "./subject-of-run.ts";

/** The decoded values of a Secret in the object's own namespace, which is the only one that it may name. Undefined: not there. */
export async function secretData(
  name: string,
  { cluster, namespace, run }: SubjectOfRun,
): Promise<ReadonlyMap<string, string> | undefined> {
  const fault = nameFault(name);
  if (fault !== undefined) throw noCredential(`failed to get secret '${namespace}/${name}': ${fault}`);
  const ref = { group: "", version: "v1", kind: "Secret", namespace, name };
  const secret = await cluster.get(ref, run.signal).catch((error: unknown) => {
    const what = `failed to get secret '${namespace}/${name}'`;
    if (error instanceof ApiError && error.reason === "Forbidden")
      throw noCredential(`${what}: ${error.message}`, error);
    throw outageOf(error, "AuthenticationFailed", `failed to get credential: ${what}`);
  });
  if (secret === undefined) return undefined;
  const data = secret["data"];
  const entries = isJsonObject(data) ? Object.entries(data) : [];
  return new Map(
    entries.flatMap(([key, value]) =>
      typeof value === "string" ? [[key, Buffer.from(value, "base64").toString()] as const] : [],
    ),
  );
}

/**
 * Why no object can have this name, in the words of Flux's client (client-go, rest/request.go): the API server would answer
 * an empty one with the list of all Secrets.
 */
function nameFault(name: string): string | undefined {
  if (name === "") return "resource name may not be empty";
  const faults = [
    ...(name === "." || name === ".." ? [`may not be '${name}'`] : []),
    ...["/", "%"].filter((part) => name.includes(part)).map((part) => `may not contain '${part}'`),
  ];
  return faults.length === 0 ? undefined : `invalid resource name ${JSON.stringify(name)}: [${faults.join(" ")}]`;
}

/** What Flux says of credentials that it cannot get. */
export function noCredential(why: string, cause?: unknown): Failure {
  return new Failure("AuthenticationFailed", `failed to get credential: ${why}`, { cause });
}
