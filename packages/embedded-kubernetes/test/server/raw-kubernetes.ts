import { mkdtemp, rm } from "node:fs/promises";
import { type IncomingMessage, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { silentLog } from "../../src/core/log.ts";
import { startKubernetes } from "../../src/start-kubernetes.ts";

export interface Answer {
  readonly status: number;
  readonly text: string;
}

/** An embedded API server of its own that may be sent anything. */
export interface RawKubernetes {
  readonly port: number;
  /** What it logged as an error: the failures that it did not foresee. */
  readonly failures: readonly unknown[];
  call(method: string, path: string, body?: string, headers?: Readonly<Record<string, string>>): Promise<Answer>;
  close(): Promise<void>;
}

export async function rawKubernetes(): Promise<RawKubernetes> {
  const failures: unknown[] = [];
  const log = { ...silentLog, error: (message: string, fields?: unknown) => void failures.push([message, fields]) };
  const folder = await mkdtemp(join(tmpdir(), "sluice-raw-"));
  const kubernetes = await startKubernetes({ stateFolder: folder, port: 0, controllers: false, log });
  return {
    port: kubernetes.port,
    failures,
    /** Without fetch: it would mend the paths that are to be odd. */
    async call(method, path, body = "", headers = {}) {
      const length = "transfer-encoding" in headers ? {} : { "content-length": Buffer.byteLength(body) };
      const outgoing = request({
        host: "127.0.0.1",
        port: kubernetes.port,
        method,
        path,
        headers: { authorization: `Bearer ${kubernetes.token}`, ...length, ...headers },
      });
      outgoing.end(body);
      const response = await new Promise<IncomingMessage>((resolve, reject) => {
        outgoing.once("response", resolve);
        outgoing.once("error", reject);
      });
      return { status: response.statusCode ?? 0, text: await text(response) };
    },
    async close() {
      await kubernetes.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
