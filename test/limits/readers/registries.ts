import { messageOf } from "../../../lib/core/failure.ts";
import { chooseTag } from "../../../lib/sources/oci/choose-tag.ts";
import {
  credentialsFor,
  maxDockerConfigBytes,
  maxDockerConfigEntries,
} from "../../../lib/sources/oci/docker-config.ts";
import { maxManifestBytes, maxTagLength, maxTags, registryClients } from "../../../lib/sources/oci/registry-client.ts";
import { steppedClock } from "../../doubles/stepped-clock.ts";
import type { WorstInput } from "../worst-input.ts";

const signal = new AbortController().signal;
const filled = (part: string, bytes: number): string => part.repeat(Math.floor(bytes / part.length));

/** What a registry answers to every request. */
function registryOf(text: string) {
  const body = Buffer.from(text);
  const headers = { "content-type": "application/vnd.oci.image.manifest.v1+json" };
  const http = { send: async ({ url }: { readonly url: string }) => ({ url, status: 200, headers, body }) };
  return registryClients(http, steppedClock())({ host: "registry.example", insecure: false });
}

const longTags = (): string[] =>
  Array.from({ length: maxTags }, (_, at) => `1.${at}.0-${"a.1".repeat(40)}`.slice(0, maxTagLength - 1).concat("a"));

/** The worst inputs of what reads registries' answers and logins. */
export const registryReaders: readonly WorstInput[] = [
  {
    reader: "lib/sources/oci/registry-client.ts",
    name: "a page of tags of 4 MiB that lists numbers",
    memoryMiB: 200,
    make: async () => {
      const registry = registryOf(`{"tags":[${filled("1,", maxManifestBytes - 20)}1]}`);
      return () => Promise.resolve(registry.tags("a", signal)).catch(messageOf);
    },
  },
  {
    reader: "lib/sources/oci/choose-tag.ts",
    name: `${maxTags} tags of the greatest length`,
    memoryMiB: 150,
    make: async () => {
      const tags = longTags();
      const wanted = { semver: ">=1.0.0-0 <2.0.0", filter: "(a?){20}a{20}", isChart: true };
      return () => chooseTag(tags, wanted, signal, 1_000).catch(messageOf);
    },
  },
  {
    reader: "lib/sources/oci/docker-config.ts",
    name: `${maxDockerConfigEntries} registries`,
    memoryMiB: 60,
    make: async () => {
      const entries = Array.from(
        { length: maxDockerConfigEntries },
        (_, at) => `"registry-${at}.example":{"auth":"YTpi"}`,
      );
      const text = `{"auths":{${entries.join(",")}}}`;
      return async () => credentialsFor("last.example", text) ?? "none";
    },
  },
  {
    reader: "lib/sources/oci/docker-config.ts",
    name: "1 MiB of short fields",
    memoryMiB: 100,
    make: async () => {
      const fields = Array.from({ length: 90_000 }, (_, at) => `"${at}":1`).join(",");
      const text = `{"auths":{${fields}}}`.padEnd(maxDockerConfigBytes);
      return async () => {
        try {
          return credentialsFor("last.example", text);
        } catch (error) {
          return messageOf(error);
        }
      };
    },
  },
];
