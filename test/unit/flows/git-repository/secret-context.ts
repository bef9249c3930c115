import type { ObjectRef } from "../../../../lib/core/object-ref.ts";
import type { SecretContext } from "../../../../lib/flows/source/secrets.ts";

/** A namespace with these Secrets, by name, as a run of an object in it reads them. */
export function secretContext(secrets: Readonly<Record<string, Readonly<Record<string, string>>>>): SecretContext {
  const get = ({ kind, name }: Pick<ObjectRef, "kind" | "name">) => {
    const values = kind === "Secret" ? secrets[name] : undefined;
    if (values === undefined) return Promise.resolve(undefined);
    const data = Object.entries(values).map(([key, value]) => [key, Buffer.from(value).toString("base64")] as const);
    const metadata = { name, namespace: "apps", uid: "1" };
    return Promise.resolve({ apiVersion: "v1", kind: "Secret", metadata, data: Object.fromEntries(data) });
  };
  return { home: { get }, namespace: "apps", run: { signal: new AbortController().signal } };
}
