import { execFile } from "node:child_process";
import { isJsonObject } from "../core/json.ts";
import { ApiError } from "../core/ports/cluster.ts";
import { Secret } from "../core/secret.ts";
import type { ClientCertificate, ExecPlugin } from "./cluster-config.ts";

export const timeLimitMs = 30_000;
export const maxOutputBytes = 1024 * 1024;

/** The credential that a plugin printed. */
export interface ExecCredential {
  readonly token: Secret | undefined;
  readonly certificate: ClientCertificate | undefined;
  /** Wall time, milliseconds since 1970; undefined if it does not expire while this process runs. */
  readonly expiresAt: number | undefined;
}

/**
 * Runs a credential plugin. Throws an {@link ApiError} `Unauthorized` that names the command and what to do, without its output.
 *
 * @param signal kills the plugin
 */
export async function execCredential(
  plugin: ExecPlugin,
  env: Readonly<Record<string, string | undefined>>,
  signal: AbortSignal,
): Promise<ExecCredential> {
  const { apiVersion, cluster } = plugin;
  const info = {
    kind: "ExecCredential",
    apiVersion,
    spec: { interactive: false, ...(cluster === undefined ? {} : { cluster }) },
  };
  const stdout = await run(plugin, { ...env, ...plugin.env, KUBERNETES_EXEC_INFO: JSON.stringify(info) }, signal);
  return parse(plugin, stdout);
}

function run(
  plugin: ExecPlugin,
  env: Readonly<Record<string, string | undefined>>,
  signal: AbortSignal,
): Promise<string> {
  const { command, args, installHint } = plugin;
  return new Promise<string>((resolve, reject) => {
    execFile(
      command,
      [...args],
      { env: { ...env }, timeout: timeLimitMs, maxBuffer: maxOutputBytes, killSignal: "SIGKILL", signal },
      (error, stdout, stderr) => {
        if (error === null) {
          resolve(stdout);
          return;
        }
        if (signal.aborted) {
          reject(refused(`credential plugin ${command} was stopped`));
          return;
        }
        if (error.code === "ENOENT") {
          const hint =
            installHint === undefined ? "install it or correct users[].user.exec.command" : installHint.trim();
          reject(refused(`credential plugin ${command} not found: ${hint}`));
          return;
        }
        const end =
          error.killed === true
            ? `did not finish within ${timeLimitMs / 1000}s`
            : `ended with code ${String(error.code)}`;
        reject(refused(`credential plugin ${command} ${end}: ${lastLine(stderr)}`));
      },
    ).stdin?.end();
  }).catch((error: unknown) => {
    // Some failures to start a program are thrown, not called back: too long a command line, a file that is being written.
    throw error instanceof ApiError
      ? error
      : refused(`credential plugin ${command} cannot be started: ${codeOf(error)}`);
  });
}

/** The code of the system's error. Its message could quote the command line, which may hold a secret. */
function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "unknown reason";
}

/** A plugin explains its failure in the last line of its stderr; its stdout is secret. */
function lastLine(stderr: string): string {
  const line = stderr.trimEnd().split("\n").at(-1) ?? "";
  return line === "" ? "it printed no reason" : line.slice(0, 500);
}

function parse(plugin: ExecPlugin, stdout: string): ExecCredential {
  const bad = (reason: string) =>
    refused(`credential plugin ${plugin.command} printed no usable ExecCredential: ${reason}`);
  let answer: unknown;
  try {
    answer = JSON.parse(stdout);
  } catch {
    // The parser's message quotes the output, which may be a token.
    throw bad("its output is not JSON");
  }
  if (!isJsonObject(answer) || answer["kind"] !== "ExecCredential") throw bad("its kind is not ExecCredential");
  if (answer["apiVersion"] !== plugin.apiVersion) throw bad(`its apiVersion is not ${plugin.apiVersion}`);
  const status = answer["status"];
  if (!isJsonObject(status)) throw bad("it has no status");
  const { token, clientCertificateData: cert, clientKeyData: key, expirationTimestamp } = status;
  const certificate = typeof cert === "string" && typeof key === "string" ? { cert, key: new Secret(key) } : undefined;
  if (typeof token !== "string" && certificate === undefined)
    throw bad("it has neither a token nor a client certificate");
  const expiresAt = typeof expirationTimestamp === "string" ? Date.parse(expirationTimestamp) : undefined;
  if (Number.isNaN(expiresAt)) throw bad("its expirationTimestamp is not a time");
  return { token: typeof token === "string" ? new Secret(token) : undefined, certificate, expiresAt };
}

/** Without the error of `execFile` as its cause, since that contains the command line, which may hold a secret. */
function refused(message: string): ApiError {
  return new ApiError({ code: 0, reason: "Unauthorized", message });
}
