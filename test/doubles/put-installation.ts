import { PutObjectCommand, type S3Client } from "@aws-sdk/client-s3";
import type { InstallationDocument } from "../../functions/settings/installation.ts";
import { digestOf } from "../../lib/core/digest.ts";

/** The environment variables of the functions for a document. */
export function installationVariables(bucket: string, text: string) {
  return {
    SLUICE_INSTALLATION_BUCKET: bucket,
    SLUICE_INSTALLATION_KEY: "installation.json",
    SLUICE_INSTALLATION_DIGEST: digestOf(text),
  };
}

/** Stores the document of an installation as a deploy does; answers what the environment of the functions says of it. */
export async function putInstallation(client: S3Client, bucket: string, document: InstallationDocument) {
  const text = JSON.stringify(document);
  const variables = installationVariables(bucket, text);
  await client.send(new PutObjectCommand({ Bucket: bucket, Key: variables.SLUICE_INSTALLATION_KEY, Body: text }));
  return variables;
}
