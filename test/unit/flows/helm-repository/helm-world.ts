import { z } from "zod";
import { Conditions } from "../../../../lib/api/condition.ts";
import { Artifact } from "../../../../lib/api/source.ts";
import type { JsonObject } from "../../../../lib/core/json.ts";
import { type Http, HttpError, type HttpRequest } from "../../../../lib/core/ports/http.ts";
import {
  type HelmRepositoryDeps,
  helmRepositoryFlow,
} from "../../../../lib/flows/helm-repository/helm-repository-flow.ts";
import { untilDeadline } from "../../../deadline.ts";
import { sourceWorld } from "../source-world.ts";

const Status = z.object({ conditions: Conditions.default([]), artifact: Artifact.exactOptional() }).loose();

/** What the server answers now; without a body it is 404. */
export interface Answer {
  status?: number;
  body?: string;
  headers?: Readonly<Record<string, string>>;
  /** Whether it honours `If-None-Match` and `If-Modified-Since`. */
  isConditional?: boolean;
}

export type HelmWorld = Awaited<ReturnType<typeof helmWorld>>;

/** A HelmRepository `app` in a cluster of plain objects, and a server whose answers a test sets. */
export async function helmWorld(more: Pick<HelmRepositoryDeps, "helmIndexMaxBytes"> = {}) {
  const world = await sourceWorld(undefined, "HelmRepository");
  const sent: HttpRequest[] = [];
  const server: Answer = { body: index("1.0.0") };
  const http: Pick<Http, "send"> = {
    async send(request) {
      sent.push(request);
      const { body = "", headers = {}, isConditional = false } = server;
      const status = server.status ?? (server.body === undefined ? 404 : 200);
      if (body.length > request.maxBytes) throw new HttpError("too-large", `GET ${request.url}: too large`);
      const asked = request.headers ?? {};
      const isSame =
        asked["if-none-match"] === (headers["etag"] ?? 0) ||
        asked["if-modified-since"] === (headers["last-modified"] ?? 0);
      if (isConditional && isSame) return { url: request.url, status: 304, headers, body: Buffer.alloc(0) };
      return { url: request.url, status, headers, body: Buffer.from(body) };
    },
  };
  return {
    ...world,
    sent,
    server,
    helmRepository(spec: JsonObject = {}): void {
      const metadata = { name: "app", namespace: "apps" };
      const apiVersion = "source.toolkit.fluxcd.io/v1";
      const all = { interval: "60m", url: "https://charts.example.test/stable", ...spec };
      world.apply({ apiVersion, kind: "HelmRepository", metadata, spec: all });
    },
    secret(name: string, data: Readonly<Record<string, string>>): void {
      const encoded = Object.entries(data).map(([key, value]) => [key, Buffer.from(value).toString("base64")]);
      const metadata = { name, namespace: "apps" };
      world.apply({ apiVersion: "v1", kind: "Secret", metadata, data: Object.fromEntries(encoded) });
    },
    runOnce: () => world.run("app", untilDeadline(), (deps) => helmRepositoryFlow({ ...deps, http, ...more })),
    read: () => Status.parse(world.get("app")["status"] ?? {}),
    said: () =>
      Status.parse(world.get("app")["status"] ?? {}).conditions.map(
        ({ type, status, reason, message }) => `${type}=${status} ${reason}: ${message}`,
      ),
    told: () => world.events.map((one) => `${String(one["type"])} ${String(one["reason"])}: ${String(one["message"])}`),
  };
}

/** An index with one chart in these versions. */
export function index(...versions: readonly string[]): string {
  const entries = versions.map((version) => `  - name: app\n    version: ${version}\n    urls: [app-${version}.tgz]\n`);
  return `apiVersion: v1\nentries:\n  app:\n${entries.join("")}`;
}
