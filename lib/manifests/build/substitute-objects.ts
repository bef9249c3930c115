import { kustomizeGroup } from "../../api/names.ts";
import { timeSlices } from "../../core/concurrency.ts";
import { Failure } from "../../core/failure.ts";
import type { JsonObject } from "../../core/json.ts";
import type { FileTree } from "../../core/ports/engine.ts";
import type { PostBuild } from "../build-spec.ts";
import { mapping, textIn } from "../fields.ts";
import { type BuildOutput, describe, documentsOf, separator } from "../rendered.ts";
import { maxBuildSteps } from "../substitute/step-budget.ts";
import { substituteDocumentSafely } from "../thread/off-thread.ts";

/** The files of an artifact, and the folder of them that was built. */
export interface TemplateSources extends Pick<FileTree, "files"> {
  readonly folder: string;
}

/** An object or, with the value `disabled`, its label or annotation opts out. */
const substituteName = `${kustomizeGroup}/substitute`;

const variableName = "^[_[:alpha:]][_[:alpha:][:digit:]]*$";

/**
 * Replaces variables in every object that has not opted out and is no definition of a kind (reference 3.11). An object is
 * rendered, substituted and read again, so a value may be of another type afterwards. Throws a {@link Failure} `BuildFailed` in
 * Flux's words, to which it adds where the expression at fault stands.
 *
 * @param sources where the expression at fault is looked for
 * @param maxSteps of all expressions of the build
 */
export async function substituteObjects(
  { objects, text }: BuildOutput,
  postBuild: PostBuild,
  sources: TemplateSources,
  signal: AbortSignal,
  maxSteps = maxBuildSteps,
): Promise<BuildOutput> {
  const { variables, always, fault } = postBuild;
  const concerned = objects.find((object) => !hasOptedOut(object));
  if (concerned === undefined) return { objects, text };
  if (fault !== undefined) throw refusal(concerned, fault);
  if (variables.size === 0 && !always) return { objects, text };
  const misnamed = [...variables.keys()].toSorted().find((name) => !/^[_a-zA-Z][_a-zA-Z0-9]*$/.test(name));
  if (misnamed !== undefined) {
    throw refusal(concerned, `envsubst error: '${misnamed}' var name is invalid, must match '${variableName}'`);
  }
  const rendered = documentsOf(text);
  if (rendered.length !== objects.length) throw new Error("kustomize printed another number of documents than objects");
  const done: JsonObject[] = [];
  const texts: string[] = [];
  const ids = new Counts(objects.map(idOf));
  const slices = timeSlices(signal);
  const { strict, notText = new Set() } = postBuild;
  let stepsLeft = maxSteps;
  for (const [index, object] of objects.entries()) {
    const source = rendered[index] ?? "";
    const isTemplate = source.includes("$") && !hasOptedOut(object);
    const template = { source, variables, strict, notText, maxSteps: stepsLeft };
    const answer = isTemplate ? await substituteDocumentSafely(template, signal) : unchanged;
    if (answer.kind === "outOfSteps") {
      throw refusal(object, `envsubst error: the build needs more than ${maxSteps} steps of substitution`);
    }
    if (answer.kind === "fault") {
      const where = answer.at === undefined ? "" : placeOf(answer.at, object, source, sources);
      throw refusal(object, `envsubst error: ${answer.why}${where}`);
    }
    stepsLeft -= answer.steps;
    const substituted = answer.kind === "changed" ? answer.object : object;
    const matched = ids.moved(idOf(object), idOf(substituted));
    // Flux puts the object back in its place by its name, and says no more than this if it has become that of another one.
    if (matched > 1) throw new Failure("BuildFailed", `in Replace: id matched ${matched} resources`);
    done.push(substituted);
    texts.push(answer.kind === "changed" ? answer.text : source);
    if (slices.isOver()) await slices.pause();
  }
  return { objects: done, text: texts.join(separator) };
}

const unchanged = { kind: "unchanged", steps: 0 } as const;

/** What kustomize takes for the identity of an object. */
function idOf({ apiVersion, kind, metadata }: JsonObject): string {
  const { namespace, name } = mapping(metadata);
  return JSON.stringify([textIn(apiVersion), textIn(kind), textIn(namespace) || "default", textIn(name)]);
}

class Counts {
  readonly #counts = new Map<string, number>();

  constructor(keys: readonly string[]) {
    for (const key of keys) this.#add(key, 1);
  }

  /** How many there are of the new one. */
  moved(from: string, to: string): number {
    this.#add(from, -1);
    return this.#add(to, 1);
  }

  #add(key: string, change: number): number {
    const count = (this.#counts.get(key) ?? 0) + change;
    this.#counts.set(key, count);
    return count;
  }
}

const shownChars = 60;
/** The bytes of the files in which an expression at fault is looked for: the place is for people, and it is looked for at once. */
const maxSearchedBytes = 2 * 1024 * 1024;
/** A kind or a name that is looked for. Space in it could not be told from the space around it without many tries. */
const sought = /^\S{1,253}$/;

/**
 * Where the expression stands, for people: in the one document that names the object and has it, below the built folder or,
 * for a base, elsewhere. No place is better than a wrong place. Nothing of a Secret is shown.
 */
function placeOf(at: number, object: JsonObject, source: string, { files, folder }: TemplateSources): string {
  const [line = ""] = source.slice(at).split("\n", 1);
  const expression = /^\$\{[^}]*\}?/.exec(line)?.[0] ?? "";
  if (object["kind"] === "Secret" || expression === "") return "";
  const shown = expression.length > shownChars ? `${expression.slice(0, shownChars)}...` : expression;
  let bytes = 0;
  for (const content of files.values()) bytes += content.length;
  if (bytes > maxSearchedBytes) return `: ${shown}`;
  const all = [...files].toSorted(([a], [b]) => (a < b ? -1 : 1));
  const isBelow = ([path]: readonly [string, unknown]): boolean => folder === "" || path.startsWith(`${folder}/`);
  for (const some of [all.filter(isBelow), all.filter((file) => !isBelow(file))]) {
    const [place, ...more] = some.flatMap(([path, content]) => linesOf(expression, object, path, content));
    if (place !== undefined) return more.length === 0 ? `: ${shown} in ${place}` : `: ${shown}`;
  }
  return `: ${shown}`;
}

/** For each document of a file that names the object and has the expression, the first line with it that is not a comment. */
function linesOf(expression: string, { kind, metadata }: JsonObject, path: string, content: Uint8Array): string[] {
  if (!Buffer.from(content.buffer, content.byteOffset, content.byteLength).includes(expression)) return [];
  const [itsKind, itsName] = [textIn(kind), textIn(mapping(metadata)["name"])];
  if (!sought.test(itsKind) || !sought.test(itsName)) return [];
  const named = [field("kind", itsKind), field("name", itsName)];
  const places: string[] = [];
  let first = 1;
  for (const document of new TextDecoder().decode(content).split(/^---/m)) {
    const lines = document.split("\n");
    const found = lines.findIndex((line) => line.includes(expression) && !/^\s*#/.test(line));
    if (found !== -1 && named.every((one) => one.test(document))) places.push(`${path}, line ${first + found}`);
    first += lines.length - 1;
  }
  return places;
}

/** A field with this value, in YAML or JSON. */
function field(name: string, value: string): RegExp {
  return new RegExp(`(^|[\\s{,"'])${name}["']?:\\s*["']?${value.replaceAll(/\W/g, "\\$&")}["']?\\s*($|[,}#])`, "m");
}

/** Definitions hold texts for people and patterns, in which `$` means something else. */
function hasOptedOut({ apiVersion, kind, metadata }: JsonObject): boolean {
  if (kind === "CustomResourceDefinition" && textIn(apiVersion).startsWith("apiextensions.k8s.io/")) return true;
  const { labels, annotations } = mapping(metadata);
  return [labels, annotations].some((names) => mapping(names)[substituteName] === "disabled");
}

function refusal(object: JsonObject, why: string): Failure {
  return new Failure("BuildFailed", `post build failed for '${describe(object)}': ${why}`);
}
