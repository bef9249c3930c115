import { createServer } from "node:http";
import { z } from "zod";
import { digestOf } from "../../../lib/core/digest.ts";
import { gzip, packEnd, packEntry } from "../../../lib/sources/archive/pack-tar.ts";
import { closeServer } from "../../doubles/close-server.ts";
import { portOnLoopback } from "../../doubles/port-on-loopback.ts";

/** What the source of a scenario says of a Helm repository: its index, or archives by the files in them. */
export const HelmChange = z.record(z.string(), z.union([z.string(), z.record(z.string(), z.string())]));
export type HelmChange = z.infer<typeof HelmChange>;

/** `1. /golden-x/index.yaml`, `2. /golden-x: charts`. */
const nameOfChange = /^\d+\. \/(?<folder>[\w-]+)(?:\/index\.yaml|: charts)$/;

export function isHelmChange(name: string): boolean {
  return nameOfChange.test(name);
}

/** Helm repositories on loopback, each a folder of files. */
export interface HelmHost extends AsyncDisposable {
  /** `127.0.0.1:PORT`. */
  readonly address: string;
  /**
   * Makes a change that the source names. Charts come before the index that lists them: it gets their digests, since we pack them with
   * other bytes. Answers the digest of an index, and the one that it has in the recording.
   */
  publish(name: string, change: HelmChange): Promise<readonly (readonly [own: string, recorded: string])[]>;
}

export async function helmHost(): Promise<HelmHost> {
  const files = new Map<string, Uint8Array>();
  const server = createServer((request, response) => {
    const found = files.get(request.url ?? "");
    response.writeHead(found === undefined ? 404 : 200).end(found);
  });
  const port = await portOnLoopback(server);
  return {
    address: `127.0.0.1:${port}`,
    async publish(name, change) {
      const { folder = "" } = nameOfChange.exec(name)?.groups ?? {};
      const named: (readonly [string, string])[] = [];
      for (const [file, content] of Object.entries(change)) {
        if (typeof content !== "string") {
          files.set(`/${folder}/${file}`, await archiveOf(content));
          continue;
        }
        if (content === "(gone)") {
          files.delete(`/${folder}/${file}`);
          continue;
        }
        const own = content.replaceAll(listed, (entry: string, digest: string, archive: string) => {
          const bytes = files.get(`/${folder}/${archive}`);
          return bytes === undefined ? entry : entry.replace(digest, hexOf(bytes));
        });
        files.set(`/${folder}/${file}`, Buffer.from(own));
        named.push([hexOf(Buffer.from(own)), hexOf(Buffer.from(content))]);
      }
      return named;
    },
    [Symbol.asyncDispose]: () => closeServer(server),
  };
}

/** A version in an index: its digest, and the file of its archive. */
const listed = /digest: "?([0-9a-f]{64})"?\n\s*name: \S+\n\s*urls:\n\s*- (\S+)\n/g;

function hexOf(bytes: Uint8Array): string {
  return digestOf(bytes).slice("sha256:".length);
}

function archiveOf(content: Readonly<Record<string, string>>): Promise<Uint8Array> {
  const members = Object.entries(content).flatMap(([path, text]) => [
    ...packEntry({ type: "file", path, mode: 0o644, bytes: Buffer.from(text) }),
  ]);
  return gzip([...members, packEnd()]);
}
