import { createServer, type ServerResponse } from "node:http";
import { digestOf } from "../../lib/core/digest.ts";
import { mediaTypes } from "../../lib/sources/oci/media-types.ts";
import { closeServer } from "./close-server.ts";
import { portOnLoopback } from "./port-on-loopback.ts";

const layer = Buffer.from("the layer that the manifest promises");
const manifest = Buffer.from(
  JSON.stringify({
    schemaVersion: 2,
    layers: [{ mediaType: mediaTypes.fluxContent, digest: digestOf(layer), size: layer.length }],
  }),
);

/** How a registry treats its clients, by the name of the repository. */
const treatments: Readonly<Record<string, (response: ServerResponse, path: string) => void>> = {
  // Takes the request and never answers.
  slow: () => undefined,
  closed: (response) =>
    refuse(response, 401, "UNAUTHORIZED", "authentication required", { "www-authenticate": 'Basic realm="double"' }),
  absent: (response) => refuse(response, 404, "NAME_UNKNOWN", "repository name not known to registry"),
  busy: (response) => refuse(response, 429, "TOOMANYREQUESTS", "slow down", { "retry-after": "3600" }),
  "false-layer": (response, path) =>
    path.includes("/blobs/") ? response.end(Buffer.from("another layer")) : sendManifest(response, manifest),
  "false-manifest": (response, path) => sendManifest(response, path.includes("sha256:") ? Buffer.from("{}") : manifest),
};

/** The address of a lying registry: `127.0.0.1:PORT`. */
export interface LyingRegistry extends AsyncDisposable {
  readonly host: string;
}

export async function lyingRegistry(): Promise<LyingRegistry> {
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? "/", "http://registry");
    const treat = treatments[pathname.split("/")[2] ?? ""];
    if (treat === undefined) response.end("{}");
    else treat(response, pathname);
  });
  const port = await portOnLoopback(server);
  return {
    host: `127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      await closeServer(server);
    },
  };
}

function refuse(
  response: ServerResponse,
  status: number,
  code: string,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(JSON.stringify({ errors: [{ code, message }] }));
}

function sendManifest(response: ServerResponse, bytes: Buffer): void {
  response.writeHead(200, { "content-type": mediaTypes.manifest, "docker-content-digest": digestOf(manifest) });
  response.end(bytes);
}
