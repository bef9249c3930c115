import type { BucketSpec } from "../../api/bucket.ts";
import { Failure, messageOf } from "../../core/failure.ts";
import type { Way } from "../../sources/bucket/bounded-requests.ts";
import { googleStore } from "../../sources/bucket/google-store.ts";
import { type GoogleServiceAccount, googleTokens, readServiceAccount } from "../../sources/bucket/google-token.ts";
import type { ObjectStore } from "../../sources/bucket/object-store.ts";
import type { SourceContext } from "../source/source-context.ts";
import { invalidSecret, type SecretData } from "./bucket-secrets.ts";

/** A bucket of Google Cloud Storage, with the service account of a Secret (reference sources 8.2). Throws a {@link Failure}. */
export function openGoogleBucket(
  { bucketName, secretRef }: BucketSpec,
  secret: SecretData | undefined,
  way: Way,
  { deps, namespace }: Pick<SourceContext, "deps" | "namespace">,
): ObjectStore {
  if (secret === undefined) throw noGoogleIdentity();
  const text = secret.get("serviceaccount") ?? "";
  if (text === "") throw invalidSecret(secretRef?.name, "required fields 'serviceaccount'");
  return googleStore(
    bucketName,
    googleTokens(accountOf(text, `${namespace}/${secretRef?.name ?? ""}`), way, deps.clock),
    way,
  );
}

/** The fault of a Google bucket without a Secret. */
export function noGoogleIdentity(): Failure {
  const why = "spec.provider gcp without secretRef is not supported, since Sluice has no Google identity";
  return new Failure("UnsupportedField", `${why}: give a secretRef with the key of a service account`);
}

function accountOf(text: string, secret: string): GoogleServiceAccount {
  try {
    return readServiceAccount(text);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    const why = `secret '${secret}', key 'serviceaccount': ${messageOf(error)}`;
    throw new Failure("AuthenticationFailed", why, { cause: error });
  }
}
