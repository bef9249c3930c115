import { createServer } from "node:http";
import { z } from "zod";
import { closeServer } from "../../doubles/close-server.ts";
import { portOnLoopback } from "../../doubles/port-on-loopback.ts";

/** What the source of a scenario says of a change of the index of a Helm repository. */
export const HelmChange = z.strictObject({ "index.yaml": z.string() });
export type HelmChange = z.infer<typeof HelmChange>;

/** `1. /golden-helm-repository/index.yaml`. */
const nameOfChange = /^\d+\. (?<path>\/[\w-]+\/index\.yaml)$/;

export function isHelmChange(name: string): boolean {
  return nameOfChange.test(name);
}

/** A static web server on loopback with the Helm repositories of the given recordings. */
export interface HelmHost extends AsyncDisposable {
  /** `127.0.0.1:PORT`. */
  readonly address: string;
  /** Makes a change that the source names: another index, or none. */
  publish(name: string, change: HelmChange): void;
}

export async function helmHost(): Promise<HelmHost> {
  const files = new Map<string, string>();
  const server = createServer((request, response) => {
    const found = files.get(request.url ?? "");
    response.writeHead(found === undefined ? 404 : 200).end(found);
  });
  const port = await portOnLoopback(server);
  return {
    address: `127.0.0.1:${port}`,
    publish(name, { "index.yaml": text }) {
      const { path = "" } = nameOfChange.exec(name)?.groups ?? {};
      if (text === "(gone)") files.delete(path);
      else files.set(path, text);
    },
    async [Symbol.asyncDispose]() {
      await closeServer(server);
    },
  };
}
