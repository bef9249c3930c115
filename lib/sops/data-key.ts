import { createHash } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import { messageOf } from "../core/failure.ts";
import { type KeySource, type Recipient, recipientName } from "./key-source.ts";
import type { SopsMetadata } from "./metadata.ts";
import { combineShares } from "./shamir.ts";
import { SopsFault } from "./sops-fault.ts";

/** Data keys of one run. Each is opened once; they are held in memory alone, and go with the run. */
export interface DataKeys {
  /** The data key of a file. Throws a {@link SopsFault} `cannot get sops data key: …`, or the reason of the signal. */
  of(metadata: SopsMetadata, signal: AbortSignal): Promise<Uint8Array>;
}

export function dataKeys(sources: readonly KeySource[]): DataKeys {
  const opened = new Map<string, Promise<Uint8Array>>();
  return {
    of(metadata, signal) {
      const id = idOf(metadata);
      const known = opened.get(id);
      if (known !== undefined) return known;
      const key = dataKey(metadata, sources, signal);
      opened.set(id, key);
      return key;
    },
  };
}

/** Files whose data key is encrypted in the same way have the same data key. */
function idOf({ keyGroups, shamirThreshold }: SopsMetadata): string {
  return createHash("sha256")
    .update(JSON.stringify([keyGroups, shamirThreshold]))
    .digest("base64");
}

/** The data key: each group is asked until one of its recipients opens; several groups hold a share each. */
export async function dataKey(
  metadata: SopsMetadata,
  sources: readonly KeySource[],
  signal: AbortSignal,
): Promise<Uint8Array> {
  const { keyGroups, shamirThreshold } = metadata;
  const wanted = keyGroups.length === 1 ? 1 : shamirThreshold || keyGroups.length;
  const shares: Uint8Array[] = [];
  const results: string[] = [];
  for (const [index, group] of keyGroups.entries()) {
    // A group more would only ask another key service.
    if (shares.length === wanted) break;
    const result = await openGroup(group, sources, signal);
    if ("share" in result) shares.push(result.share);
    results.push(groupText(index, result));
  }
  if (shares.length < wanted)
    throw new SopsFault(`cannot get sops data key: ${failureText(results, metadata, shares.length)}`);
  const [only] = shares;
  if (keyGroups.length === 1 && only !== undefined) return only;
  try {
    return combineShares(shares);
  } catch (error) {
    if (!(error instanceof SopsFault)) throw error;
    throw new SopsFault(`cannot get sops data key: ${error.message}`, { cause: error });
  }
}

type GroupResult = { readonly share: Uint8Array } | { readonly faults: readonly string[] };

async function openGroup(
  group: readonly Recipient[],
  sources: readonly KeySource[],
  signal: AbortSignal,
): Promise<GroupResult> {
  const faults: string[] = [];
  for (const recipient of group.toSorted((a, b) => turnOf(a) - turnOf(b))) {
    // Each may compute for a while.
    await setImmediate();
    const reasons: string[] = [];
    for (const source of sources) {
      signal.throwIfAborted();
      try {
        const share = await source.open(recipient, signal);
        if (share !== undefined) return { share };
      } catch (error) {
        if (!(error instanceof SopsFault)) throw error;
        reasons.push(messageOf(error));
      }
    }
    if (reasons.length === 0) reasons.push(`no key or credentials for ${recipient.kind} are given`);
    faults.push(recipientText(recipient, reasons));
  }
  return { faults };
}

/** As sops' `DefaultDecryptionOrder`: keys that are at hand are tried before a service is asked, the others as the file has them. */
function turnOf({ kind }: Recipient): number {
  const at = ["age", "pgp"].indexOf(kind);
  return at === -1 ? 2 : at;
}

/** The texts below are those of sops (usererrors.go). */
function failureText(groups: readonly string[], { shamirThreshold }: SopsMetadata, successful: number): string {
  const trailer =
    shamirThreshold === 0
      ? "Recovery failed because no master key was able to decrypt the file. In order for SOPS to recover the file, " +
        "at least one key has to be successful, but none were."
      : `Recovery failed because the file was encrypted with a Shamir threshold of ${shamirThreshold}, but only ` +
        `${successful} part(s) were successfully recovered, one for each successful key group. In order for SOPS to ` +
        `recover the file, at least ${shamirThreshold} groups have to be successful. In order for a group to be ` +
        "successful, decryption has to succeed with any of the keys in that key group.";
  const head = "Failed to get the data key required to decrypt the SOPS file.";
  return [head, ...groups, wrap(trailer, 75)].join("\n\n");
}

function groupText(index: number, result: GroupResult): string {
  if ("share" in result) return `Group ${index}: SUCCESS`;
  return `Group ${index}: FAILED\n${indent(result.faults.join("\n\n"), "  ")}`;
}

function recipientText(recipient: Recipient, reasons: readonly string[]): string {
  const list = reasons.map((reason) => indent(wrap(reason, 60), "  | ").replace(" ", "-")).join("\n\n");
  return `${recipientName(recipient)}: FAILED\n${indent(list, "  ")}`;
}

function indent(text: string, prefix: string): string {
  return text.replaceAll(/^/gm, prefix);
}

/** Breaks lines at spaces so that they have at most so many characters where they can. */
function wrap(text: string, width: number): string {
  const lines = text.split("\n").map((line) => {
    let length = 0;
    let out = "";
    for (const word of line.split(/(?<= )/)) {
      if (length > 0 && length + word.trimEnd().length > width) {
        out = `${out.trimEnd()}\n`;
        length = 0;
      }
      out += word;
      length += word.length;
    }
    return out;
  });
  return lines.join("\n");
}
