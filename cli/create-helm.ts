import { declaredHelmRepository } from "../lib/api/kinds/helm-repository.ts";
import type { JsonObject } from "../lib/core/json.ts";
import { applyCredentials, applySource, withSecret } from "./applied-source.ts";
import { applyObject, type CreatedOptions, objectOf, printOrApply } from "./create-object.ts";
import { readSecretFile } from "./create-secret.ts";
import { checkName, secretOf, withoutUndefined } from "./created-object.ts";
import { durationOf } from "./duration-option.ts";
import type { CredentialOptions, SecretData } from "./git-credentials.ts";
import type { Surroundings } from "./session.ts";

interface HelmOptions extends CreatedOptions, Pick<CredentialOptions, "caFile" | "password" | "url" | "username"> {
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
  const login = secretRef === undefined ? {} : { secretRef: { name: secretRef }, ...passingOf(options) };
  const spec = { ...specOf(options, isOci), ...login };
  const manifestIn = objectOf(declaredHelmRepository, name, spec, options);
  const data = secretRef === undefined && options.export !== true ? await secretData(options) : {};
  const hasCredentials = Object.keys(data).length > 0;
  await printOrApply(manifestIn, options, surroundings, async (manifest, session) => {
    const { namespace, terminal } = session;
    terminal.generating("generating HelmRepository source");
    const own = `helm-${name}`;
    if (hasCredentials) await applyCredentials(secretOf(own, namespace, data, options), "repository", session);
    const whole = hasCredentials ? withSecret(manifest, own, passingOf(options)) : manifest;
    const called = { thing: "HelmRepository source", stored: "source" };
    if (!isOci) return applySource(whole, called, session);
    await applyObject(whole, called, session);
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

function passingOf({ passCredentials }: HelmOptions): JsonObject {
  return passCredentials === true ? { passCredentials } : {};
}

async function secretData({ caFile, certFile, keyFile, password, username }: HelmOptions): Promise<SecretData> {
  const hasLogin = (username ?? "") !== "" || (password ?? "") !== "";
  const pair = certFile !== undefined && keyFile !== undefined;
  return {
    ...(hasLogin ? { username: username ?? "", password: password ?? "" } : {}),
    ...(caFile === undefined ? {} : { "ca.crt": await readSecretFile(caFile, "unable to read TLS CA file") }),
    ...(pair
      ? {
          "tls.crt": await readSecretFile(certFile, "failed to read cert file"),
          "tls.key": await readSecretFile(keyFile, "failed to read key file"),
        }
      : {}),
  };
}
