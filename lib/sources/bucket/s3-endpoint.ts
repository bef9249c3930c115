import { goUrlFault } from "../../core/go-url-fault.ts";

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

/** The host in `spec.endpoint`: a slash at its end is no path, as in Flux. */
export function endpointHost(endpoint: string): string {
  return endpoint.replace(/\/$/, "");
}

/**
 * What is wrong with {@link endpointHost}, in the words of minio's client, which Flux uses, and how to mend it; undefined for `host[:port]`. Only
 * letters of hosts may become a part of a URL. Pure.
 */
export function endpointFault(endpoint: string): string | undefined {
  const isHost = /^(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::[0-9]{1,5})?$/.test(endpoint);
  if (isHost && !/^[-_.]|[-_](?::|$)/.test(endpoint) && URL.canParse(`https://${endpoint}/`)) return undefined;
  const mend = "Write only host and port in spec.endpoint, as in s3.eu-central-1.amazonaws.com";
  const fault = goUrlFault(`https://${endpoint}`);
  if (fault !== undefined) return `parse ${JSON.stringify(`https://${endpoint}`)}: ${fault}. ${mend}`;
  const [, host = "", path = ""] = /^([^/?#]*)([^?#]*)/.exec(endpoint) ?? [];
  if (path !== "") return `Endpoint url cannot have fully qualified paths. ${mend}`;
  return `Endpoint: ${host} does not follow ip address or domain name standards. ${mend}`;
}

/** What is wrong with the name of a bucket, in the words of minio's client; undefined if it may be asked for. Pure. */
export function bucketNameFault(bucket: string): string | undefined {
  if (bucket.trim() === "") return "Bucket name cannot be empty";
  if (bucket.length < 3) return "Bucket name cannot be shorter than 3 characters";
  if (bucket.length > 63) return "Bucket name cannot be longer than 63 characters";
  if (/^(?:\d+\.){3}\d+$/.test(bucket)) return "Bucket name cannot be an ip address";
  const isValid = /^[A-Za-z0-9][A-Za-z0-9._-]+[A-Za-z0-9]$/.test(bucket) && !/\.\.|\.-|-\./.test(bucket);
  return isValid ? undefined : "Bucket name contains invalid characters";
}
