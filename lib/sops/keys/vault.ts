import { z } from "zod";
import type { Http } from "../../core/ports/http.ts";
import { Secret } from "../../core/secret.ts";
import type { KeySource, Recipient } from "../key-source.ts";
import { SopsFault } from "../sops-fault.ts";
import { askKeyService, KeyServiceRefusal } from "./ask-key-service.ts";

/** The token for the server at an address, as the recipient writes it. Throws a {@link SopsFault}. */
export type VaultToken = (address: string, signal: AbortSignal) => Promise<Secret>;

export const maxNameChars = 1_000;
export const maxCiphertextChars = 8 * 1024;

const Decrypted = z.object({ data: z.object({ plaintext: z.base64() }) });
const Login = z.object({ auth: z.object({ client_token: z.string() }).nullish() });
const Errors = z.object({ errors: z.array(z.string()) });

/**
 * Opens recipients of kind `hc_vault` by the transit engine of Vault or OpenBao. Server and path come from the encrypted file: the network
 * policy judges the server, and a token goes to no other host (a redirect is not followed).
 */
export function vaultKeySource(http: Http, tokenFor: VaultToken): KeySource {
  return {
    async open(recipient, signal) {
      if (recipient.kind !== "hc_vault") return undefined;
      const path = decryptPath(recipient);
      const url = vaultUrl(recipient.vaultAddress, path);
      const token = await tokenFor(recipient.vaultAddress, signal);
      try {
        const { data } = await write(
          http,
          url,
          { token, json: { ciphertext: recipient.enc }, answer: Decrypted },
          signal,
        );
        return Buffer.from(data.plaintext, "base64");
      } catch (error) {
        if (!(error instanceof KeyServiceRefusal)) throw error;
        const what = `failed to decrypt sops data key from Vault transit backend '${path}'`;
        throw new SopsFault(`${what}: ${error.message}`);
      }
    },
  };
}

/**
 * Logs in with the token of a service account; the role is called after it (`<namespace>_<name>`). Throws a {@link SopsFault} in Flux's
 * words.
 *
 * @param loginPath as the installation's ConfigMap lists it for this address, for example `auth/kubernetes/login`
 */
export async function vaultLogin(
  http: Http,
  { address, loginPath, jwt }: { readonly address: string; readonly loginPath: string; readonly jwt: Secret },
  signal: AbortSignal,
): Promise<Secret> {
  const role = roleOf(jwt);
  const at = `login path '${loginPath}' as role '${role}'`;
  const url = vaultUrl(address, normalPath(loginPath));
  try {
    const json = { role, jwt: jwt.reveal() };
    const { auth } = await write(http, url, { json, secrets: [jwt], answer: Login }, signal);
    if (auth?.client_token !== undefined && auth.client_token !== "") return new Secret(auth.client_token);
  } catch (error) {
    if (!(error instanceof KeyServiceRefusal)) throw error;
    throw new SopsFault(`failed to authenticate with Vault '${address}' at ${at}: ${error.message}`);
  }
  throw new SopsFault(`Vault '${address}' returned no token for login at '${loginPath}' as role '${role}'`);
}

interface Write<Answer> {
  readonly token?: Secret;
  readonly json: Readonly<Record<string, string>>;
  readonly answer: z.ZodType<Answer>;
  readonly secrets?: readonly Secret[];
}

async function write<Answer>(
  http: Http,
  url: string,
  { token, json, answer, secrets = [] }: Write<Answer>,
  signal: AbortSignal,
): Promise<Answer> {
  const authorised = token === undefined ? {} : { "x-vault-token": token.reveal() };
  try {
    return await askKeyService(
      http,
      {
        ...{ method: "PUT", url, json, answer },
        headers: { "x-vault-request": "true", ...authorised },
        wordsOf: (body) =>
          Errors.safeParse(body)
            .data?.errors.map((one) => `* ${one}`)
            .join("\n"),
        secrets: token === undefined ? secrets : [token, ...secrets],
      },
      signal,
    );
  } catch (error) {
    if (!(error instanceof KeyServiceRefusal) || error.status === 0 || !error.message.startsWith("* ")) throw error;
    // As Vault's own client says it.
    const said = `URL: PUT ${url}\nCode: ${error.status}. Errors:\n\n${error.message}`;
    throw new KeyServiceRefusal(error.status, `Error making API request.\n\n${said}`);
  }
}

function decryptPath({ enginePath, keyName, enc }: Extract<Recipient, { kind: "hc_vault" }>): string {
  if (enc.length > maxCiphertextChars) {
    throw new SopsFault(`the data key that Vault encrypted has more than ${maxCiphertextChars} characters`);
  }
  return normalPath(`${enginePath}/decrypt/${keyName}`);
}

/** A path of Vault's API without empty parts. An address of another server is refused: the file chooses it, and our token goes there. */
function normalPath(path: string): string {
  const parts = path.split("/").filter((part) => part !== "");
  if (path.length > maxNameChars || parts.some((part) => part === "." || part === "..")) {
    throw new SopsFault(`${JSON.stringify(path.slice(0, 200))} is not a path of Vault's API`);
  }
  return parts.join("/");
}

function vaultUrl(address: string, path: string): string {
  const url = URL.canParse(address) && address.length <= maxNameChars ? new URL(address) : undefined;
  const isPlain =
    url !== undefined && url.username === "" && url.password === "" && url.search === "" && url.hash === "";
  if (!isPlain || !/^https?:$/.test(url.protocol)) {
    throw new SopsFault("the address of Vault is not an http or https URL without user, query and fragment");
  }
  const base = url.pathname.replace(/\/+$/, "");
  return `${url.origin}${base}/v1/${path.split("/").map(encodeURIComponent).join("/")}`;
}

/** The service account of a token is its subject, `system:serviceaccount:<namespace>:<name>`. The cluster issued it, so it is only read. */
function roleOf(jwt: Secret): string {
  const parts = jwt.reveal().split(".");
  const failed = (why: string) => new SopsFault(`failed to derive Vault role for authentication: ${why}`);
  if (parts.length !== 3) throw failed("not a JWT");
  const subject = subjectOf(parts[1] ?? "");
  if (subject === undefined) throw failed("failed to decode token payload");
  const [, namespace, name] = /^system:serviceaccount:([^:]+):([^:]+)$/.exec(subject) ?? [];
  if (namespace === undefined || name === undefined) throw failed("unexpected token subject");
  return `${namespace}_${name}`;
}

function subjectOf(payload: string): string | undefined {
  try {
    return z.object({ sub: z.string() }).parse(JSON.parse(Buffer.from(payload, "base64url").toString())).sub;
  } catch {
    return undefined;
  }
}
