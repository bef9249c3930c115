import type { OutputArtifact } from "../../api/artifact-generator.ts";
import { sourceOf } from "./copy-files.ts";
import type { FileTree } from "./file-tree.ts";
import type { Budget } from "./generator-limits.ts";
import { dnsSubdomainFaults, labelKeyFaults, labelValueFaults } from "./kubernetes-names.ts";

/** An artifact to make, with the labels that its captures give. */
export interface ArtifactRequest extends Pick<OutputArtifact, "copy" | "name" | "originRevision" | "revision"> {
  readonly labels: Readonly<Record<string, string>>;
}

/** Artifacts that one object makes: as many as `spec.artifacts` may hold. */
export const maxArtifacts = 1_000;

/** Captures of one pattern. */
export const maxCaptures = 32;

/** A pattern that matches nothing as it should, until the object or the folders of the source change. */
export class PathPatternFault extends Error {
  override readonly name = "PathPatternFault";
}

type Captures = ReadonlyMap<string, string>;

/**
 * The artifacts of a spec: those that it lists or, with a `pathPattern`, those of every folder that matches (reference sources 10.4).
 *
 * @throws PathPatternFault in Flux's words
 */
export async function artifactRequests(
  { artifacts, pathPattern = "" }: { readonly artifacts: readonly OutputArtifact[]; readonly pathPattern?: string },
  sources: ReadonlyMap<string, FileTree>,
  budget: Budget,
): Promise<readonly ArtifactRequest[]> {
  if (pathPattern === "") return artifacts.map((artifact) => ({ ...artifact, labels: {} }));
  const fault = (text: string): PathPatternFault =>
    new PathPatternFault(`pathPattern ${JSON.stringify(pathPattern)}: ${text}`);
  const { alias, path } = sourceOf(pathPattern);
  const source = sources.get(alias);
  if (source === undefined) throw fault(`source alias ${alias} not found in local sources`);
  const segments = parsePattern(path, fault);
  const folders = new Map<string, string>();
  const requests: ArtifactRequest[] = [];
  for (const folder of source.below(".")) {
    if (source.get(folder)?.type !== "directory") continue;
    const steps = { count: 1 };
    const captures = match(segments, folder, steps);
    await budget.spend(steps.count);
    if (captures === undefined) continue;
    const lower = new Map([...captures].map(([key, value]) => [key, value.toLowerCase()]));
    for (const [key, value] of lower) {
      const faults = labelValueFaults(value);
      if (faults.length === 0) continue;
      const what = `captured value ${JSON.stringify(value)} for variable ${JSON.stringify(key)}`;
      throw fault(`${what} is not a valid Kubernetes label value: ${faults.join("; ")}`);
    }
    for (const artifact of artifacts) {
      const request = rendered(artifact, lower, captures, (text) =>
        fault(`failed to render artifact ${artifact.name} for match ${folder}: ${text}`),
      );
      const { name } = request;
      const faults = dnsSubdomainFaults(name);
      if (faults.length > 0) {
        const what = `rendered artifact name ${JSON.stringify(name)}`;
        throw fault(`${what} is not a valid Kubernetes object name: ${faults.join("; ")}`);
      }
      const other = folders.get(name);
      if (other !== undefined) {
        const both = `directories ${JSON.stringify(other)} and ${JSON.stringify(folder)}`;
        throw fault(`${both} both resolve to artifact name ${JSON.stringify(name)}`);
      }
      folders.set(name, folder);
      requests.push(request);
      if (requests.length > maxArtifacts) {
        throw fault(`it makes more than ${maxArtifacts} artifacts: split it over several ArtifactGenerators`);
      }
    }
  }
  return requests;
}

/** A part of a segment: text, or the name of a capture. */
type Piece = { readonly text: string } | { readonly capture: string };

const captureName = /^[A-Za-z_][A-Za-z0-9_]*$/;
const rule = "must be a valid capture name matching [A-Za-z_][A-Za-z0-9_]*";

/** The pieces of each segment of a pattern. */
function parsePattern(pattern: string, fault: (text: string) => Error): readonly (readonly Piece[])[] {
  const seen = new Set<string>();
  const pieces = piecesOf(pattern, {
    unclosed: (at) => fault(`invalid capture starting at offset ${at}: missing closing brace`),
    unopened: (at) => fault(`invalid capture ending at offset ${at}: missing opening brace`),
    empty: () => fault("empty capture variable"),
    invalid: (name) => fault(`capture variable ${JSON.stringify(name)} ${rule}`),
  });
  const segments: Piece[][] = [[]];
  for (const piece of pieces) {
    if ("capture" in piece) {
      const { capture } = piece;
      if (seen.has(capture)) throw fault(`duplicate capture variable ${JSON.stringify(capture)}`);
      seen.add(capture);
      if (seen.size > maxCaptures) throw fault(`it has more than ${maxCaptures} captures`);
      segments.at(-1)?.push(piece);
      continue;
    }
    for (const [index, text] of piece.text.split("/").entries()) {
      if (index > 0) segments.push([]);
      if (text !== "") segments.at(-1)?.push({ text });
    }
  }
  for (const name of seen) {
    const faults = labelKeyFaults(name);
    if (faults.length === 0) continue;
    const what = `capture variable ${JSON.stringify(name)} is not a valid Kubernetes label key`;
    throw fault(`${what}: ${faults.join("; ")}`);
  }
  return segments;
}

interface PieceFaults {
  readonly unclosed: (at: number) => Error;
  readonly unopened: (at: number) => Error;
  readonly empty: () => Error;
  readonly invalid: (name: string) => Error;
}

function piecesOf(template: string, faults: PieceFaults): readonly Piece[] {
  const pieces: Piece[] = [];
  let from = 0;
  for (let at = 0; at < template.length; at++) {
    if (template[at] === "}") throw faults.unopened(at);
    if (template[at] !== "{") continue;
    const end = template.indexOf("}", at + 1);
    if (end === -1) throw faults.unclosed(at);
    const name = template.slice(at + 1, end);
    if (name === "") throw faults.empty();
    if (!captureName.test(name)) throw faults.invalid(name);
    if (at > from) pieces.push({ text: template.slice(from, at) });
    pieces.push({ capture: name });
    at = end;
    from = end + 1;
  }
  if (from < template.length) pieces.push({ text: template.slice(from) });
  return pieces;
}

/** Counts its steps, for the budget of the run. */
interface Steps {
  count: number;
}

function match(segments: readonly (readonly Piece[])[], folder: string, steps: Steps): Captures | undefined {
  const names = folder.split("/");
  if (names.length !== segments.length) return undefined;
  const captures = new Map<string, string>();
  for (const [index, pieces] of segments.entries()) {
    const found = matchName(pieces, names[index] ?? "", steps);
    if (found === undefined) return undefined;
    for (const [key, value] of found) captures.set(key, value);
  }
  return captures;
}

/** Bytes of a name on the disks on which Flux looks for folders. */
const maxNameBytes = 255;

/** As a regular expression would match: each capture takes as much as it can. What cannot match from a place is tried once. */
function matchName(pieces: readonly Piece[], name: string, steps: Steps): Captures | undefined {
  if (Buffer.byteLength(name) > maxNameBytes) return undefined;
  const failed = new Set<number>();
  const attempt = (piece: number, at: number): readonly (readonly [string, string])[] | undefined => {
    const next = pieces[piece];
    if (next === undefined) return at === name.length ? [] : undefined;
    if ("text" in next) return name.startsWith(next.text, at) ? attempt(piece + 1, at + next.text.length) : undefined;
    const place = piece * (name.length + 1) + at;
    if (failed.has(place)) return undefined;
    steps.count += name.length - at;
    for (let end = name.length; end > at; end--) {
      const rest = attempt(piece + 1, end);
      if (rest !== undefined) return [[next.capture, name.slice(at, end)], ...rest];
    }
    failed.add(place);
    return undefined;
  };
  const found = attempt(0, 0);
  return found && new Map(found);
}

/** The artifact of one folder. Names have the captures in lower case, paths as they are. */
function rendered(
  { copy, name, ...rest }: OutputArtifact,
  lower: Captures,
  raw: Captures,
  fault: (text: string) => Error,
): ArtifactRequest {
  return {
    ...rest,
    name: render(name, lower, fault),
    copy: copy.map((operation) => ({
      ...operation,
      from: render(operation.from, raw, fault),
      to: render(operation.to, raw, fault),
    })),
    labels: Object.fromEntries(lower),
  };
}

function render(template: string, captures: Captures, fault: (text: string) => Error): string {
  const invalid = (text: string): Error => fault(`invalid template ${JSON.stringify(template)}: ${text}`);
  const pieces = piecesOf(template, {
    unclosed: (at) => invalid(`capture starting at offset ${at} is missing closing brace`),
    unopened: (at) => invalid(`capture ending at offset ${at} is missing opening brace`),
    empty: () => invalid("empty capture variable"),
    invalid: (capture) => invalid(`capture variable ${JSON.stringify(capture)} ${rule}`),
  });
  return pieces
    .map((piece) => {
      if ("text" in piece) return piece.text;
      const value = captures.get(piece.capture);
      if (value !== undefined) return value;
      throw invalid(`capture variable ${JSON.stringify(piece.capture)} is not defined by pathPattern`);
    })
    .join("");
}
