import { readFile } from "node:fs/promises";
import type { JsonObject } from "../lib/core/json.ts";
import { applyCredentials, awaitArtifact, sourceOf } from "./applied-source.ts";
import type { CreateOptions } from "./create-git.ts";
import { checkName, exportNamespace, secretOf, upsert, withoutUndefined, yamlOf } from "./created-object.ts";
import { durationOf } from "./duration-option.ts";
import type { SecretData } from "./git-credentials.ts";
import { type Surroundings, withCluster } from "./session.ts";

export interface HelmOptions extends CreateOptions {
  readonly interval: string;
  readonly fetchTimeout?: string;
  readonly certFile?: string;
  readonly keyFile?: string;
  readonly secretRef?: string;
  readonly passCredentials?: boolean;
  readonly ociProvider?: string;
}

/** `create source helm`: a HelmRepository, with the Secret that it logs in with, and waits for its first index. */
export async function createSourceHelm(
  name: string | undefined,
  options: HelmOptions,
  surroundings: Surroundings,
): Promise<void> {
  checkName(name);
  const isOci = protocolOf(options.url) === "oci:";
  const { secretRef } = options;
  const login = secretRef === undefined ? {} : { secretRef: { name: secretRef }, ...passing(options) };
  const spec = { ...specOf(options, isOci), ...login };
  const { terminal } = surroundings;
  if (options.export === true) {
    terminal.document(
      await yamlOf(sourceOf("HelmRepository", name, exportNamespace(options, surroundings), spec, options)),
    );
    return;
  }
  const data = secretRef === undefined ? await secretData(options) : {};
  await withCluster(options, surroundings, async (session) => {
    terminal.generating("generating HelmRepository source");
    const own = `helm-${name}`;
    const hasCredentials = Object.keys(data).length > 0;
    if (hasCredentials) {
      await applyCredentials(secretOf(own, session.namespace, data, options), "repository", session);
    }
    terminal.action("applying HelmRepository source");
    const whole = hasCredentials ? { ...spec, secretRef: { name: own }, ...passing(options) } : spec;
    const manifest = sourceOf("HelmRepository", name, session.namespace, whole, options);
    terminal.success(`source ${await upsert(manifest, session)}`);
    if (!isOci) return awaitArtifact(manifest, session);
    // It has no status that could be waited for.
    terminal.waiting("waiting for HelmRepository source reconciliation");
    terminal.success("HelmRepository source reconciliation completed");
  });
}

function protocolOf(url = ""): string {
  if (url === "") throw new Error("url is required");
  if (!URL.canParse(url)) throw new Error("url parse failed: write it like https://HOST/PATH");
  const { host, protocol } = new URL(url);
  if (!["http:", "https:", "oci:"].includes(protocol)) {
    throw new Error(`url scheme '${protocol.slice(0, -1)}' not supported, can be: http, https and oci`);
  }
  if (host === "") throw new Error("url host is required");
  return protocol;
}

function specOf({ fetchTimeout, interval, ociProvider, url }: HelmOptions, isOci: boolean): JsonObject {
  return withoutUndefined({
    url,
    interval: durationOf(interval, "--interval"),
    timeout: fetchTimeout === undefined ? undefined : durationOf(fetchTimeout, "--fetch-timeout"),
    type: isOci ? "oci" : undefined,
    provider: isOci ? ociProvider : undefined,
  });
}

function passing({ passCredentials }: HelmOptions): JsonObject {
  return passCredentials === true ? { passCredentials } : {};
}

async function secretData({ caFile, certFile, keyFile, password, username }: HelmOptions): Promise<SecretData> {
  const read = (file: string, what: string) =>
    readFile(file, "utf8").catch((error: unknown) => {
      throw new Error(`unable to read ${what} file '${file}'`, { cause: error });
    });
  const hasLogin = (username ?? "") !== "" || (password ?? "") !== "";
  const pair = certFile !== undefined && keyFile !== undefined;
  return {
    ...(hasLogin ? { username: username ?? "", password: password ?? "" } : {}),
    ...(caFile === undefined ? {} : { "ca.crt": await read(caFile, "TLS CA") }),
    ...(pair ? { "tls.crt": await read(certFile, "cert"), "tls.key": await read(keyFile, "key") } : {}),
  };
}
