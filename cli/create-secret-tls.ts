import { createPrivateKey, X509Certificate } from "node:crypto";
import { messageOf } from "../lib/core/failure.ts";
import type { CreatedOptions } from "./create-object.ts";
import { createSecret, type NewSecret, readSecretFile } from "./create-secret.ts";
import { checkName } from "./created-object.ts";
import type { SecretData } from "./git-credentials.ts";
import type { Surroundings } from "./session.ts";

interface TlsSecretOptions extends CreatedOptions {
  readonly tlsCrtFile?: string;
  readonly tlsKeyFile?: string;
  readonly caCrtFile?: string;
}

interface HelmSecretOptions extends TlsSecretOptions {
  readonly username?: string;
  readonly password?: string;
}

/** The certificates of the options; empty texts for those that are not given. */
interface Certificates {
  readonly cert: string;
  readonly key: string;
  readonly ca: string;
}

/** `create secret tls`: certificates to connect with. */
export async function createSecretTls(
  name: string | undefined,
  options: TlsSecretOptions,
  surroundings: Surroundings,
): Promise<void> {
  checkName(name);
  const content = tlsContent(await readCertificates(options));
  const secret = { ...secretWith(name, content), isExportedWithoutEmptyLine: true };
  await createSecret("tls", secret, options, surroundings);
}

/**
 * `create secret helm`: what a HelmRepository logs in with. As in flux, a client certificate counts before a login, which it is then
 * without, and a Secret without any of them is empty.
 */
export async function createSecretHelm(
  name: string | undefined,
  options: HelmSecretOptions,
  surroundings: Surroundings,
): Promise<void> {
  checkName(name);
  const content = helmContent(options, await readCertificates(options));
  const hasLogin = [options.username, options.password].some((value = "") => value !== "");
  if (content.type === tlsType && hasLogin) {
    surroundings.terminal.warning(
      "the Secret holds the client certificate and no username and password: make a second one for those",
    );
  }
  await createSecret("helm", secretWith(name, content), options, surroundings);
}

const tlsType = "kubernetes.io/tls";

interface Content {
  readonly data: SecretData;
  readonly type?: string;
}

function secretWith(name: string, { data, ...type }: Content): NewSecret {
  return { name, dataIn: () => data, ...type };
}

function helmContent({ username = "", password = "" }: HelmSecretOptions, of: Certificates): Content {
  if (of.cert !== "" || of.key !== "") return tlsContent(of);
  if (username === "" && password === "") return of.ca === "" ? { data: {} } : tlsContent(of);
  if (username === "") throw new Error("username is required");
  if (password === "") throw new Error("password is required");
  return { type: "kubernetes.io/basic-auth", data: { username, password, ...authority(of) } };
}

function tlsContent(of: Certificates): Content {
  const { cert, key, ca } = of;
  if (cert !== "" && key === "") throw new Error("found certificate but missing private key: give --tls-key-file");
  if (cert === "" && key !== "") throw new Error("found private key but missing certificate: give --tls-crt-file");
  if (cert === "" && ca === "") {
    const mend = "give --ca-crt-file, or --tls-crt-file and --tls-key-file";
    throw new Error(`no CA certificate or client certificate pair found: ${mend}`);
  }
  if (cert === "") return { type: "Opaque", data: authority(of) };
  checkPair(of);
  return { type: tlsType, data: { "tls.crt": cert, "tls.key": key, ...authority(of) } };
}

function authority({ ca }: Certificates): SecretData {
  return ca === "" ? {} : { "ca.crt": ca };
}

/** Throws unless the key is that of the certificate: of the first one, which a chain begins with. */
function checkPair({ cert, key }: Certificates): void {
  const invalid = (why: string, cause?: unknown): Error =>
    new Error(`invalid TLS certificate and key pair: ${why}`, { cause });
  let isPair: boolean;
  try {
    isPair = new X509Certificate(cert).checkPrivateKey(createPrivateKey(key));
  } catch (error) {
    throw invalid(messageOf(error), error);
  }
  if (!isPair) throw invalid("tls: private key does not match public key");
}

async function readCertificates(options: TlsSecretOptions): Promise<Certificates> {
  const read = async (file = "", failed: string) => (file === "" ? "" : await readSecretFile(file, failed));
  return {
    ca: await read(options.caCrtFile, "unable to read TLS CA file"),
    cert: await read(options.tlsCrtFile, "failed to read cert file"),
    key: await read(options.tlsKeyFile, "failed to read key file"),
  };
}
