import { createHash } from "node:crypto";
import { createServer } from "node:http";
import {
  CreateBucketCommand,
  DeleteBucketCommand,
  DeleteObjectCommand,
  PutObjectCommand,
  S3Client,
} from "@aws-sdk/client-s3";
import type { AwsConnection } from "../lib/aws/aws-connection.ts";
import { mapLimit } from "../lib/core/concurrency.ts";
import { digestOf } from "../lib/core/digest.ts";
import type { JsonObject } from "../lib/core/json.ts";
import type { Http } from "../lib/core/ports/http.ts";
import { gzip, packEnd, packEntry } from "../lib/sources/archive/pack-tar.ts";
import { realAws } from "../test/contract/real-aws.ts";
import { closeServer } from "../test/doubles/close-server.ts";
import { gitPrograms, gitRepository, gitServer } from "../test/doubles/git-server.ts";
import { portOnLoopback } from "../test/doubles/port-on-loopback.ts";
import { pushFiles } from "../test/e2e/recorded-flux/push-files.ts";
import { realRegistry } from "../test/real/addresses.ts";

const { signal } = new AbortController();
const manifests = Object.fromEntries(
  Array.from({ length: 20 }, (_, at) => {
    const metadata = { name: `app-${at}` };
    return [`deploy/${at}.yaml`, JSON.stringify({ apiVersion: "v1", kind: "ConfigMap", metadata })];
  }),
);
const objectsOfBucket = 200;
const chartsOfIndex = 100;
const versionsOfChart = 20;

/** A source of each kind whose origin is a real part or, for Helm, a file server, as most Helm repositories are. */
export const sourceKinds = ["OCIRepository", "GitRepository", "HelmRepository", "HelmChart", "Bucket"] as const;
export type MeasuredKind = (typeof sourceKinds)[number];

/** The specs of the sources, and the keys of the bucket for a Secret `bucket`. */
export interface SourceHosts {
  readonly specs: Readonly<Record<MeasuredKind, JsonObject>>;
  readonly bucketKeys: { readonly accesskey: string; readonly secretkey: string };
}

/**
 * Fills the registry and the S3 gateway of the real parts, and starts `git http-backend` and a file server, which end with `open`, as the bucket does.
 *
 * @returns undefined if a part is not here
 */
export async function sourceHosts(http: Http, open: AsyncDisposableStack): Promise<SourceHosts | undefined> {
  const [registry, s3] = [realRegistry(), realAws("S3")];
  if (registry === undefined || s3?.endpoint === undefined || gitPrograms === undefined) return undefined;
  await pushFiles(`oci://${registry}/bench/sources:v1`, manifests, http, signal);
  const repository = open.use(await gitRepository());
  await repository.commit(manifests);
  const git = open.use(await gitServer(repository));
  const { bucketName, ...bucketKeys } = await filledBucket(s3, open);
  return {
    bucketKeys,
    specs: {
      OCIRepository: { url: `oci://${registry}/bench/sources`, insecure: true, ref: { tag: "v1" } },
      GitRepository: { url: git.url, ref: { branch: "main" } },
      HelmRepository: { url: await helmRepository(open) },
      HelmChart: { chart: "chart-7", version: "1.x", sourceRef: { kind: "HelmRepository", name: "helmrepository" } },
      Bucket: { endpoint: new URL(s3.endpoint).host, bucketName, insecure: true, secretRef: { name: "bucket" } },
    },
  };
}

/** The bucket is deleted with `open`. */
async function filledBucket({ credentials, endpoint = "", region }: AwsConnection, open: AsyncDisposableStack) {
  if (credentials === undefined || typeof credentials === "function") throw new Error("the S3 gateway has fixed keys");
  const client = new S3Client({ endpoint, region, credentials, forcePathStyle: true });
  const bucketName = `sluice-bench-${Date.now()}`;
  await client.send(new CreateBucketCommand({ Bucket: bucketName }));
  const keys = Array.from({ length: objectsOfBucket }, (_, at) => `deploy/${at}.yaml`);
  const put = (Key: string) => client.send(new PutObjectCommand({ Bucket: bucketName, Key, Body: `name: ${Key}\n` }));
  open.defer(async () => {
    const remove = (Key: string) => client.send(new DeleteObjectCommand({ Bucket: bucketName, Key }));
    await mapLimit(keys, 8, remove, signal);
    await client.send(new DeleteBucketCommand({ Bucket: bucketName }));
    client.destroy();
  });
  await mapLimit(keys, 8, put, signal);
  return { bucketName, accesskey: credentials.accessKeyId, secretkey: credentials.secretAccessKey };
}

/** An index of about a megabyte, and the archive of each of its charts; both with an ETag, as file servers and buckets send it. */
async function helmRepository(open: AsyncDisposableStack): Promise<string> {
  const files = new Map<string, Uint8Array>();
  const entries: string[] = [];
  for (let chart = 0; chart < chartsOfIndex; chart++) {
    entries.push(`  chart-${chart}:\n`);
    for (let minor = versionsOfChart; minor > 0; minor--) {
      const [name, version] = [`chart-${chart}`, `1.${minor}.0`];
      const bytes = await chartArchive(name, version);
      files.set(`/${name}-${version}.tgz`, bytes);
      const digest = digestOf(bytes).slice("sha256:".length);
      entries.push(
        `  - apiVersion: v2\n    name: ${name}\n    version: ${version}\n    description: ${"A chart. ".repeat(30)}\n`,
        `    created: "2026-01-01T00:00:00Z"\n    digest: ${digest}\n    urls:\n    - ${name}-${version}.tgz\n`,
      );
    }
  }
  files.set("/index.yaml", Buffer.from(`apiVersion: v1\nentries:\n${entries.join("")}`));
  const etags = new Map(
    Array.from(files, ([path, bytes]) => [path, `"${createHash("md5").update(bytes).digest("hex")}"`]),
  );
  const server = createServer(({ url = "", headers }, response) => {
    const [bytes, etag] = [files.get(url), etags.get(url)];
    if (bytes === undefined || etag === undefined) return void response.writeHead(404).end();
    const isSame = headers["if-none-match"] === etag;
    response.writeHead(isSame ? 304 : 200, { etag }).end(isSame ? undefined : bytes);
  });
  const port = await portOnLoopback(server);
  open.defer(() => closeServer(server));
  return `http://127.0.0.1:${port}`;
}

function chartArchive(name: string, version: string): Promise<Uint8Array> {
  const file = (path: string, text: string) => [
    ...packEntry({ type: "file", path: `${name}/${path}`, mode: 0o644, bytes: Buffer.from(text) }),
  ];
  const metadata = `apiVersion: v2\nname: ${name}\nversion: ${version}\n`;
  return gzip([...file("Chart.yaml", metadata), ...file("values.yaml", "replicas: 1\n"), packEnd()]);
}
