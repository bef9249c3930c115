/** Hosts that know a bucket by a name of its own before theirs, as minio's client finds them. All others have it in the path. */
const virtualHosts = [
  /(^|[.-])s3[.-].*amazonaws\.com(\.cn)?$/,
  /^s3\.amazonaws\.com$/,
  /^storage\.googleapis\.com$/,
  /\.aliyuncs\.com$/,
];
const amazonHost =
  /^s3(?:-fips)?(?:\.dualstack)?(?:[.-]([a-z]{2}(?:-[a-z]+)+-[0-9]+))?\.(amazonaws\.com|amazonaws\.com\.cn)$/;

/** Whether this is a host of Amazon S3 itself, which our own identity may be shown to. */
export function isAmazonS3(endpoint: string): boolean {
  return amazonHost.test(endpoint);
}

/** The region that a host of Amazon S3 names; undefined if it names none. */
export function regionOfEndpoint(endpoint: string): string | undefined {
  return amazonHost.exec(endpoint)?.[1];
}

/** Whether a text can be a region, which becomes a part of a host and of a signature. */
export function isRegion(text: string): boolean {
  return /^[A-Za-z0-9-]{1,64}$/.test(text);
}

/** An S3 endpoint, and the bucket there. */
export interface S3Address {
  /** `host[:port]`. */
  readonly endpoint: string;
  readonly insecure: boolean;
  readonly bucket: string;
}

/** The host that is asked, without the bucket: `s3.amazonaws.com` stands for every region of Amazon's. */
export function hostOf(endpoint: string, region: string | undefined): string {
  return endpoint === "s3.amazonaws.com" && region !== undefined ? `s3.${region}.amazonaws.com` : endpoint;
}

/**
 * The URL of a bucket, with a slash at its end. Amazon's and some other hosts have the bucket in the name of the host, unless it has a
 * dot, which no certificate is for; all others have it in the path.
 *
 * @param region of the bucket, for {@link hostOf}
 */
export function bucketUrl({ endpoint, insecure, bucket }: S3Address, region?: string): string {
  const scheme = insecure ? "http" : "https";
  const host = hostOf(endpoint, region);
  const isInHost = virtualHosts.some((pattern) => pattern.test(host)) && (insecure || !bucket.includes("."));
  return isInHost ? `${scheme}://${bucket}.${host}/` : `${scheme}://${host}/${bucket}/`;
}

/** What is wrong with the fields that a URL is made of; undefined if they give one. Only letters of hosts, buckets and regions may be in it. */
export function addressFault({
  endpoint,
  bucket,
  region,
}: Pick<S3Address, "bucket" | "endpoint"> & { readonly region: string | undefined }): string | undefined {
  if (!/^[A-Za-z0-9._-]{3,255}$/.test(bucket) || bucket.includes("..")) {
    return "spec.bucketName must be 3 to 255 letters, digits, dots and hyphens";
  }
  if (region !== undefined && !isRegion(region)) {
    return "spec.region must be 1 to 64 letters, digits and hyphens, for example eu-central-1";
  }
  const isHost = /^(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::[0-9]{1,5})?$/.test(endpoint);
  if (isHost && URL.canParse(`https://${endpoint}/`)) return undefined;
  return "spec.endpoint must be a host without scheme and path, for example s3.eu-central-1.amazonaws.com";
}
