import type { JsonObject } from "../../../../lib/core/json.ts";
import { fluxLayer, push } from "../images.ts";
import type { SourceHosts } from "../source-hosts.ts";
import { ociRepository } from "./written.ts";

/** The OCIRepository of a scenario. */
export const at = ({ registry }: SourceHosts, place: string, more: JsonObject = {}) =>
  ociRepository("app", { url: `oci://${registry}/${place}`, insecure: true, ...more });

export const files = { "a/one.yaml": "one: 1\n", "b.yaml": "b: 1\n", "image.png": "png" };
const annotations = {
  "org.opencontainers.image.source": "https://example.test/repo",
  "org.opencontainers.image.revision": "main@sha1:0123",
};
/** Pushes an artifact under some tags. */
export async function begin({ registry }: SourceHosts, place: string): Promise<void> {
  for (const tag of ["latest", "1.0.0", "v1.1.0", "2.0.0-rc.1", "1.2", "prod-1.5.0", "2.0.0_b"]) {
    await push(registry, place, tag, { layers: [await fluxLayer({ ...files, tag })], annotations });
  }
}
