import { mkdir, rm } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { join } from "node:path";
import { finished } from "node:stream/promises";
import { messageOf } from "../../lib/core/failure.ts";
import type { Log } from "../../lib/core/ports/log.ts";
import { createServer } from "../../lib/http/node-http.ts";
import { listenOnLoopback } from "../loopback/listen-on-loopback.ts";
import { refuseForeignRequest } from "../loopback/refuse-foreign-request.ts";
import { DiskFull, namingFullDisk } from "../state/disk-full.ts";
import { answer, answerJson, type Exchange } from "./answer.ts";
import { type Manifests, manifestsIn } from "./manifests.ts";
import { RegistryError } from "./registry-error.ts";
import { type RegistryFiles, registryFiles } from "./registry-files.ts";
import { parseRoute } from "./route.ts";
import { serveBlob } from "./serve-blobs.ts";
import { type Push, serveCatalog, serveManifest, serveReferrers, serveTags } from "./serve-manifests.ts";
import { beginUpload, serveUpload } from "./serve-uploads.ts";
import { type Uploads, uploadsIn } from "./uploads.ts";

export interface RegistryOptions {
  /** Holds everything, made where it is missing; a registry started on it again goes on where the last one ended. */
  readonly folder: string;
  /** On 127.0.0.1; 0 takes a free one. */
  readonly port: number;
  readonly log: Log;
  /** That it answers to, beside those of loopback: `NAME` or `NAME:PORT`. */
  readonly names?: readonly string[];
  /** Called with each manifest that is pushed by tag, once it is stored and before the client gets its answer. */
  readonly onPush: (push: Push) => void | Promise<void>;
}

export interface Registry {
  /** `127.0.0.1:PORT`. */
  readonly address: string;
  close(): Promise<void>;
}

/** Starts the embedded OCI 1.1 registry: plain HTTP on loopback, no accounts, everything in files. */
export async function startRegistry({ folder, port, log, names = [], onPush }: RegistryOptions): Promise<Registry> {
  await mkdir(folder, { recursive: true });
  // Half-written files of a process that was killed; uploads are elsewhere and go on.
  await rm(join(folder, "temporary"), { recursive: true, force: true });
  const files = registryFiles(folder);
  const parts: Parts = {
    folder,
    names,
    files,
    uploads: uploadsIn(files),
    manifests: manifestsIn(files),
    announce: async (push) => {
      try {
        await onPush({ registry: address, ...push });
      } catch (error) {
        log.error("push not announced", { ...push, error: messageOf(error) });
        // Otherwise its source would not look at it before its interval is over. The client pushes again.
        if (error instanceof DiskFull) throw error;
      }
    },
  };
  const server = createServer((request, response) => void serve(request, response, parts, log));
  const listening = await listenOnLoopback(server, port, { name: "the registry", option: "--registry-port" });
  const address = `127.0.0.1:${listening.port}`;
  return { address, close: () => listening.close() };
}

interface Parts {
  readonly folder: string;
  readonly names: readonly string[];
  readonly files: RegistryFiles;
  readonly uploads: Uploads;
  readonly manifests: Manifests;
  readonly announce: (push: Omit<Push, "registry">) => Promise<void>;
}

async function serve(request: IncomingMessage, response: ServerResponse, parts: Parts, log: Log): Promise<void> {
  // Joined and not resolved: by itself a target such as `//` would be read as a host.
  const url = new URL(`http://registry${request.url?.startsWith("/") === true ? request.url : "/"}`);
  const exchange: Exchange = { request, response, method: request.method ?? "GET", query: url.searchParams };
  response.setHeader("docker-distribution-api-version", "registry/2.0");
  try {
    const refusal = refuseForeignRequest(request.headers, parts.names);
    if (refusal !== undefined) throw new RegistryError(403, "DENIED", refusal);
    await dispatch(exchange, decodedPath(url), parts);
  } catch (thrown) {
    const error = namingFullDisk(thrown, parts.folder);
    if (response.headersSent || (request.destroyed && !request.complete)) {
      // The client went away, or the answer broke off midway: only a closed connection tells it so.
      response.destroy();
      return;
    }
    if (!(error instanceof RegistryError)) {
      log.error("registry request failed", { method: exchange.method, path: url.pathname, error: messageOf(error) });
      if (error instanceof DiskFull) return refuseForRoom(exchange, error);
      return answerJson(exchange, 500, { errors: [{ code: "UNKNOWN", message: "unknown error" }] });
    }
    const { code, message, detail, status } = error;
    answerJson(
      exchange,
      status,
      { errors: [{ code, message, detail }] },
      request.complete ? {} : { connection: "close" },
    );
  }
}

/** Reads the rest of the request first: otherwise the client would not see the answer. */
async function refuseForRoom(exchange: Exchange, { message }: DiskFull): Promise<void> {
  await finished(exchange.request.resume()).catch(() => undefined);
  answerJson(exchange, 507, { errors: [{ code: "INSUFFICIENT_STORAGE", message }] });
}

function decodedPath({ pathname }: URL): string {
  try {
    return decodeURIComponent(pathname);
  } catch (error) {
    throw new RegistryError(400, "NAME_INVALID", `invalid path: ${messageOf(error)}`, { name: pathname });
  }
}

async function dispatch(exchange: Exchange, path: string, parts: Parts): Promise<void> {
  const route = parseRoute(path);
  if (route === undefined) return answer(exchange, 404, { "content-type": "text/plain" }, "404 page not found\n");
  switch (route.to) {
    case "base":
      return answerJson(exchange, 200, {});
    case "catalog":
      return serveCatalog(exchange, parts.manifests);
    case "uploads":
      return beginUpload(exchange, parts.files, parts.uploads, route.repository);
    case "upload":
      return serveUpload(exchange, parts.uploads, route.repository, route.id);
    case "blob":
      return serveBlob(exchange, parts.files, route.repository, route.digest);
    case "manifest":
      return serveManifest(exchange, parts.manifests, parts.announce, route.repository, route.reference);
    case "tags":
      return serveTags(exchange, parts.manifests, route.repository);
    case "referrers":
      return serveReferrers(exchange, parts.manifests, route.repository, route.digest);
  }
}
