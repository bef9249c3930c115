import type { JsonObject } from "../lib/core/json.ts";
import { applyCredentials, awaitArtifact, sourceOf } from "./applied-source.ts";
import { checkName, exportNamespace, secretOf, upsert, withoutUndefined, yamlOf } from "./created-object.ts";
import { durationOf } from "./duration-option.ts";
import { type GlobalOptions, type Surroundings, withCluster } from "./session.ts";

export interface BucketOptions extends GlobalOptions {
  readonly export?: boolean;
  readonly label?: readonly string[];
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
  const spec = specOf(options);
  const { terminal } = surroundings;
  if (options.export === true) {
    terminal.document(await yamlOf(sourceOf("Bucket", name, exportNamespace(options, surroundings), spec, options)));
    return;
  }
  await withCluster(options, surroundings, async (session) => {
    terminal.generating("generating Bucket source");
    const { accessKey: accesskey = "", secretKey: secretkey = "", secretRef } = options;
    const hasKeys = secretRef === undefined && accesskey !== "" && secretkey !== "";
    if (hasKeys) {
      const secret = secretOf(name, session.namespace, { accesskey, secretkey }, options);
      await applyCredentials(secret, "bucket", session);
    }
    terminal.action("applying Bucket source");
    const whole = hasKeys ? { ...spec, secretRef: { name } } : spec;
    const manifest = sourceOf("Bucket", name, session.namespace, whole, options);
    terminal.success(`Bucket source ${await upsert(manifest, session)}`);
    await awaitArtifact(manifest, session);
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
