import type { JsonObject } from "../../../../lib/core/json.ts";
import type { SourceHosts } from "../source-hosts.ts";
import { bucket, secret } from "./written.ts";

/** The Bucket of a scenario. */
export const at = ({ s3 }: SourceHosts, place: string, more: JsonObject = {}) =>
  bucket("app", { bucketName: place, endpoint: s3, insecure: true, secretRef: { name: "keys" }, ...more });
/** Its login. */
export const keys = secret("keys", { accesskey: "golden", secretkey: "golden-password" });

/** Puts these objects into its bucket, in place of all others. */
export const put =
  (objects: Readonly<Record<string, string>>) =>
  ({ buckets }: SourceHosts, place: string) =>
    void buckets.set(
      place,
      new Map(
        Object.entries(objects)
          .toSorted(([a], [b]) => (a < b ? -1 : 1))
          .map(([key, text]) => [key, Buffer.from(text)]),
      ),
    );
/** Some objects. */
export const files = { "a/one.yaml": "one: 1\n", "b/two.yaml": "two: 2\n", "logo.png": "png", "c d/ü+.yaml": "c\n" };
