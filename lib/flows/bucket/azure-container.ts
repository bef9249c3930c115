import type { BucketSpec } from "../../api/bucket.ts";
import { Failure, messageOf } from "../../core/failure.ts";
import { Secret } from "../../core/secret.ts";
import { readAzureCredentials, tokenForm } from "../../sops/keys/azure-credentials.ts";
import { SopsFault } from "../../sops/sops-fault.ts";
import { askForAccessToken } from "../../sources/bucket/access-token.ts";
import { type AzureAccess, azureStore } from "../../sources/bucket/azure-store.ts";
import type { Way } from "../../sources/bucket/bounded-requests.ts";
import type { ObjectStore } from "../../sources/bucket/object-store.ts";
import type { Phase } from "../../sources/bucket/phase.ts";
import type { SourceContext } from "../source/source-context.ts";
import { invalidSecret, type SecretData } from "./bucket-secrets.ts";

const scope = "https://storage.azure.com/.default";

/** A container of Azure Blob Storage, with its Secret's credentials (reference sources 8.2). Throws a {@link Failure}. */
export async function openAzureContainer(
  { bucketName: container, endpoint, secretRef }: BucketSpec,
  secret: SecretData | undefined,
  way: Way,
  { deps, namespace }: Pick<SourceContext, "deps" | "namespace">,
): Promise<ObjectStore> {
  const { clock } = deps;
  const access =
    secret === undefined ? anonymous : await accessOf(secret, secretRef?.name ?? "", way, { clock, namespace });
  // In Flux's order: an incomplete Secret is reported before a wrong address.
  if (!/^https?:\/\//.test(endpoint) || !URL.canParse(endpoint)) {
    const mend = "write the URL of the storage account: https://<account>.blob.core.windows.net";
    throw new Failure("URLInvalid", `spec.endpoint is not a URL: ${mend}`);
  }
  if (!/^[$A-Za-z0-9-]{1,63}$/.test(container)) {
    throw new Failure(
      "URLInvalid",
      "spec.bucketName must be the name of a container: up to 63 letters, digits and hyphens",
    );
  }
  return azureStore({ ...way, endpoint: new URL(endpoint), container, access, clock });
}

const anonymous = { kind: "anonymous" } as const;

/** The credentials in the Secret, in the order in which Flux looks for them. */
async function accessOf(
  secret: SecretData,
  name: string,
  way: Way,
  { clock, namespace }: Pick<SourceContext, "namespace"> & Pick<SourceContext["deps"], "clock">,
): Promise<AzureAccess> {
  const read = (key: string): string => secret.get(key) ?? "";
  const [clientId, accountKey, sasKey] = ["clientId", "accountKey", "sasKey"].map(read);
  const isApplication = [read("tenantId"), clientId].every((one) => one !== "");
  if (isApplication && (read("clientSecret") !== "" || read("clientCertificate") !== "")) {
    return applicationOf(secret, `${namespace}/${name}`, way, clock);
  }
  if (clientId) {
    const why = `secret '${namespace}/${name}': clientId alone means a managed identity of Azure, which Sluice does not have`;
    throw new Failure("AuthenticationFailed", `${why}: give tenantId and clientSecret or clientCertificate as well`);
  }
  if (accountKey) return { kind: "key", key: new Secret(accountKey.trim()) };
  if (sasKey) return { kind: "sas", query: new Secret(sasKey.trim().replace(/^\?/, "")) };
  const combinations =
    "a combination of 'tenantId', 'clientId' and 'clientSecret', or 'tenantId', 'clientId' and 'clientCertificate'";
  throw invalidSecret(name, `requires a 'clientId' or 'accountKey' field, ${combinations}`);
}

async function applicationOf(
  secret: SecretData,
  name: string,
  way: Way,
  clock: SourceContext["deps"]["clock"],
): Promise<AzureAccess> {
  const { clientCertificateSendChain = "", ...entry } = Object.fromEntries(secret);
  const sendsChain = ["1", "true"].includes(clientCertificateSendChain.toLowerCase());
  try {
    const text = JSON.stringify({ ...entry, clientCertificateSendChain: sendsChain });
    const credentials = await readAzureCredentials(Buffer.from(text));
    let asked: Promise<Secret> | undefined;
    const token = (phase: Phase): Promise<Secret> => {
      asked ??= askForAccessToken(
        "Entra ID",
        credentials.tokenUrl,
        new URLSearchParams(tokenForm(credentials, scope, clock.now()).form),
        way,
        phase,
      );
      return asked;
    };
    return { kind: "token", token };
  } catch (error) {
    if (!(error instanceof SopsFault)) throw error;
    throw new Failure("AuthenticationFailed", `secret '${name}': ${messageOf(error)}`, { cause: error });
  }
}
