import { type ChildProcess, spawn } from "node:child_process";
import { type Engine, EngineError, type EngineErrorKind, type EngineLimits } from "../core/ports/engine.ts";

/**
 * What a Go program of kubectl's size needs to start at all: its runtime reserves address space that it never touches.
 * The heap is held by GOMEMLIMIT below that; see docs/adr/0003.
 */
const minAddressSpaceBytes = 1_000_000 * 1024;
const maxErrorBytes = 64 * 1024;

/**
 * `kubectl kustomize` as the {@link Engine}: an empty environment, no plugins, no helm, its own process group, limits on
 * address space, time and output. The group is killed with it, whatever the reason.
 */
export function kubectlEngine(kubectl: string): Engine {
  return {
    build(folder, limits, signal) {
      signal.throwIfAborted();
      return run(start(kubectl, folder, limits), limits, signal);
    },
  };
}

function start(kubectl: string, folder: string, { maxMemoryBytes }: EngineLimits): ChildProcess {
  const addressSpaceKb = Math.floor(Math.max(maxMemoryBytes, minAddressSpaceBytes) / 1024);
  // The limit has to be set by a process that then becomes kubectl: there is no other way from Node. macOS has none.
  const limit = process.platform === "linux" ? 'ulimit -v "$1" && ' : "";
  const script = `${limit}ulimit -c 0 && exec "$2" kustomize --load-restrictor LoadRestrictionsNone "$3"`;
  return spawn("/bin/sh", ["-c", script, "sh", String(addressSpaceKb), kubectl, folder], {
    cwd: folder,
    env: { GOMEMLIMIT: String(Math.floor(addressSpaceKb * 1024 * 0.6)), GOMAXPROCS: "2" },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
}

function run(child: ChildProcess, limits: EngineLimits, signal: AbortSignal): Promise<string> {
  return new Promise((resolve, reject) => {
    const output: Buffer[] = [];
    const complaint: Buffer[] = [];
    let [outputBytes, complaintBytes] = [0, 0];
    let ended = false;
    const end = (settle: () => void): void => {
      if (ended) return;
      ended = true;
      clearTimeout(timer);
      signal.removeEventListener("abort", abort);
      killGroup(child);
      settle();
    };
    const fail = (kind: EngineErrorKind, message: string, options?: ErrorOptions): void =>
      end(() => reject(new EngineError(kind, message, options)));
    const abort = (): void =>
      end(() =>
        reject(signal.reason instanceof Error ? signal.reason : new Error("aborted", { cause: signal.reason })),
      );
    const timer = setTimeout(() => fail("time", `no result within ${limits.timeoutMs / 1000} s`), limits.timeoutMs);
    signal.addEventListener("abort", abort);

    child.stdout?.on("data", (chunk: Buffer) => {
      outputBytes += chunk.length;
      if (outputBytes > limits.maxOutputBytes) fail("output", `more than ${limits.maxOutputBytes} bytes of output`);
      else output.push(chunk);
    });
    child.stderr?.on("data", (chunk: Buffer) => {
      complaintBytes += chunk.length;
      if (complaintBytes <= maxErrorBytes) complaint.push(chunk);
    });
    child.on("error", (error) => fail("unavailable", `kustomize did not start: ${error.message}`, { cause: error }));
    child.on("close", (code) => {
      if (code === 0) end(() => resolve(Buffer.concat(output).toString()));
      else fail(...verdict(Buffer.concat(complaint).toString(), code));
    });
  });
}

/** Tells the engine's own refusal from a run that came to its limits or never began. */
function verdict(complaint: string, code: number | null): [EngineErrorKind, string] {
  if (complaint.includes("(0 in use)")) {
    return ["unavailable", "kubectl did not start: its address space is too small for it"];
  }
  const refusal = /^error: ([\s\S]*)/m.exec(complaint)?.[1]?.trim();
  if (refusal !== undefined) return ["refused", refusal];
  if (
    /out of memory|cannot allocate memory|failed to reserve|failed to create new OS thread|goroutine stack exceeds/.test(
      complaint,
    )
  ) {
    return ["memory", "it needs more memory than it may have"];
  }
  if (/^panic: /m.test(complaint)) {
    return ["refused", `recovered from kustomize build panic: ${/^panic: (.*)$/m.exec(complaint)?.[1] ?? ""}`];
  }
  if (code === 126 || code === 127) return ["unavailable", `kubectl did not start: ${complaint.trim().slice(0, 300)}`];
  return [
    "refused",
    complaint.trim().slice(0, 1_000) || `it ended with ${code === null ? "a signal" : `code ${code}`}`,
  ];
}

function killGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // The group is gone already, which is all that is wanted.
  }
}
