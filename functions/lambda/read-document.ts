import type { AwsConnection } from "../../lib/aws/aws-connection.ts";
import { readObject } from "../../lib/aws/s3/read-object.ts";
import { s3Client } from "../../lib/aws/s3/s3-bucket.ts";
import type { Config, documentVariables } from "../settings/config.ts";
import { type Installation, maxInstallationBytes, readInstallation } from "../settings/installation.ts";

const whole = { maxBytes: maxInstallationBytes, keep: true };

/**
 * The installation's document. Throws one error that names all faults and quotes no value, also where the document is not the one
 * whose digest the environment names: a deploy replaces both together.
 */
export async function readDocument(
  config: Pick<Config, keyof typeof documentVariables>,
  connection: AwsConnection,
  signal: AbortSignal,
): Promise<Installation> {
  const client = s3Client(connection);
  const bucket = { client, name: config.SLUICE_INSTALLATION_BUCKET, region: connection.region };
  const unusable = (why: string): Error =>
    new Error(
      `the document of the installation is not usable, SLUICE_INSTALLATION_KEY in bucket ${bucket.name}: ${why}`,
    );
  const found = await readObject(bucket, config.SLUICE_INSTALLATION_KEY, whole, signal).finally(() => client.destroy());
  if (found === undefined) throw unusable("there is none; deploy the installation again");
  if (found.digest !== config.SLUICE_INSTALLATION_DIGEST) {
    throw unusable(
      "its digest is not SLUICE_INSTALLATION_DIGEST, so it was changed after the deploy; deploy the installation again",
    );
  }
  const read = readInstallation(Buffer.from(found.bytes).toString());
  if ("faults" in read) throw unusable(read.faults.join("; "));
  const networks = new Set(read.clusters.map(({ network }) => network));
  const without = [...networks].filter((network) => !Object.hasOwn(config.SLUICE_QUEUE_URLS, network));
  if (without.length > 0) throw unusable(`SLUICE_QUEUE_URLS has no queue for its networks ${without.join(", ")}`);
  return read;
}
