import { z } from "zod";
import type { Clock } from "../../core/ports/clock.ts";
import type { Http } from "../../core/ports/http.ts";
import { Secret } from "../../core/secret.ts";
import type { KeySource, Recipient } from "../key-source.ts";
import { SopsFault } from "../sops-fault.ts";
import { askKeyService, KeyServiceRefusal } from "./ask-key-service.ts";
import { type AzureCredentials, tokenForm } from "./azure-credentials.ts";

const apiVersion = "7.4";
const renewBeforeMs = 60_000;

/**
 * The domains of key vaults and managed HSMs in Azure's clouds; a token is valid for one of them. The encrypted file names the vault, so a
 * token goes to no other host: its operator could use it.
 */
const domains = [
  "vault.azure.net",
  "vault.azure.cn",
  "vault.usgovcloudapi.net",
  "managedhsm.azure.net",
  "managedhsm.azure.cn",
  "managedhsm.usgovcloudapi.net",
] as const;

const Token = z.object({ access_token: z.string().min(1), expires_in: z.coerce.number().positive() });
const Decrypted = z.object({ value: z.base64url().min(1) });
const Refusal = z.object({ error: z.object({ code: z.string(), message: z.string() }) });
const TokenRefusal = z.object({ error: z.string(), error_description: z.string().default("") });

/** Opens recipients of kind `azure_kv` by the REST API of Azure Key Vault. */
export function azureKeyVaultSource(http: Http, clock: Pick<Clock, "now">, credentials: AzureCredentials): KeySource {
  const kept = new Map<string, { readonly token: Secret; readonly until: number }>();
  const current = async (domain: string, signal: AbortSignal): Promise<Secret> => {
    const known = kept.get(domain);
    if (known !== undefined && clock.now() < known.until) return known.token;
    const { form, secrets } = tokenForm(credentials, `https://${domain}/.default`, clock.now());
    const url = credentials.tokenUrl;
    const { access_token, expires_in } = await askKeyService(
      http,
      { ...{ method: "POST", url, form, secrets, answer: Token }, wordsOf: tokenWords },
      signal,
    );
    const token = new Secret(access_token);
    kept.set(domain, { token, until: clock.now() + expires_in * 1000 - renewBeforeMs });
    return token;
  };
  return {
    async open(recipient, signal) {
      if (recipient.kind !== "azure_kv") return undefined;
      const { name, url, domain } = decryptUrl(recipient);
      if (!/^[\w-]+$/.test(recipient.enc)) {
        throw new SopsFault("failed to base64 decode Azure Key Vault encrypted key");
      }
      try {
        const token = await current(domain, signal);
        const { value } = await askKeyService(
          http,
          {
            method: "POST",
            url,
            headers: { authorization: `Bearer ${token.reveal()}` },
            json: { alg: "RSA-OAEP-256", value: recipient.enc },
            answer: Decrypted,
            wordsOf: (body) => {
              const { error } = Refusal.safeParse(body).data ?? {};
              return error === undefined ? undefined : `${error.code}: ${error.message}`;
            },
            secrets: [token],
          },
          signal,
        );
        return Buffer.from(value, "base64url");
      } catch (error) {
        if (!(error instanceof KeyServiceRefusal)) throw error;
        throw new SopsFault(`failed to decrypt sops data key with Azure Key Vault key '${name}': ${error.message}`);
      }
    },
  };
}

/** As it names the key itself: `<vault>/keys/<name>/<version>`. */
function decryptUrl({ vaultUrl, keyName, version }: Extract<Recipient, { kind: "azure_kv" }>): {
  readonly name: string;
  readonly url: string;
  readonly domain: string;
} {
  const url = URL.canParse(vaultUrl) ? new URL(vaultUrl) : undefined;
  const domain = domains.find((one) => url?.hostname.endsWith(`.${one}`) === true);
  if (url === undefined || url.protocol !== "https:" || url.port !== "" || domain === undefined) {
    const given = JSON.stringify(vaultUrl.slice(0, 200));
    throw new SopsFault(`${given} is not a vault of Azure: write https://<name>.vault.azure.net`);
  }
  // Both as Azure allows them; an empty version is the newest, which sops does not write.
  if (!/^[0-9A-Za-z-]{1,127}$/.test(keyName) || !/^[0-9A-Za-z]{1,64}$/.test(version)) {
    throw new SopsFault(`the data key does not name a key and version of the vault ${url.origin}`);
  }
  const name = `${url.origin}/keys/${keyName}/${version}`;
  return { name, domain, url: `${name}/decrypt?api-version=${apiVersion}` };
}

function tokenWords(body: unknown): string | undefined {
  const { error, error_description: why = "" } = TokenRefusal.safeParse(body).data ?? {};
  return error === undefined ? undefined : `${error}: ${why.split("\r\n", 1)[0] ?? ""}`;
}
