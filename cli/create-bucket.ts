import { declaredBucket } from "../lib/api/kinds/bucket.ts";
import type { JsonObject } from "../lib/core/json.ts";
import { applyCredentials, applySource, withSecret } from "./applied-source.ts";
import { type CreatedOptions, objectOf, printOrApply } from "./create-object.ts";
import { checkName, secretOf, withoutUndefined } from "./created-object.ts";
import { durationOf } from "./duration-option.ts";
import type { Surroundings } from "./session.ts";

interface BucketOptions extends CreatedOptions {
  readonly interval: string;
  readonly provider: string;
  readonly bucketName?: string;
  readonly endpoint?: string;
  readonly accessKey?: string;
  readonly secretKey?: string;
  readonly region?: string;
  readonly prefix?: string;
  readonly insecure?: boolean;
  readonly secretRef?: string;
  readonly proxySecretRef?: string;
  readonly ignorePaths?: readonly string[];
}

/** `create source bucket`: a Bucket, with the Secret that it logs in with, and waits for its first artifact. */
export async function createSourceBucket(
  name: string | undefined,
  options: BucketOptions,
  surroundings: Surroundings,
): Promise<void> {
  checkName(name);
  const manifestIn = objectOf(declaredBucket, name, specOf(options), options);
  await printOrApply(manifestIn, options, surroundings, async (manifest, session) => {
    session.terminal.generating("generating Bucket source");
    const { accessKey: accesskey = "", secretKey: secretkey = "", secretRef } = options;
    const hasKeys = secretRef === undefined && accesskey !== "" && secretkey !== "";
    if (hasKeys) {
      const secret = secretOf(name, session.namespace, { accesskey, secretkey }, options);
      await applyCredentials(secret, "bucket", session);
    }
    await applySource(hasKeys ? withSecret(manifest, name) : manifest, { thing: "Bucket source" }, session);
  });
}

function specOf(options: BucketOptions): JsonObject {
  const { bucketName, endpoint, ignorePaths, insecure, provider, proxySecretRef, region, prefix, secretRef } = options;
  if (bucketName === undefined) throw new Error("bucket-name is required");
  if (endpoint === undefined) throw new Error("endpoint is required");
  return withoutUndefined({
    bucketName,
    provider,
    insecure: insecure === true ? true : undefined,
    endpoint,
    region,
    prefix,
    interval: durationOf(options.interval, "--interval"),
    secretRef: secretRef === undefined ? undefined : { name: secretRef },
    proxySecretRef: proxySecretRef === undefined ? undefined : { name: proxySecretRef },
    ignore: ignorePaths?.join("\n"),
  });
}
