import { Failure } from "../core/failure.ts";
import { type ArtifactTree, resolveIn } from "./artifact-tree.ts";

/** Where something is named: the kustomization file, its folder, the field, and the entry where one entry is meant. */
export interface Mention {
  readonly file: string;
  readonly folder: string;
  readonly field: string;
  readonly entry?: string;
}

/** Where an entry leads inside the artifact. A {@link Failure} for whatever leads out of it. */
export function insideArtifact(tree: ArtifactTree, mention: Mention): string {
  const text = (mention.entry ?? "").trim();
  const path = resolveIn(mention.folder, text);
  const isThere = path !== undefined && (tree.files.has(path) || tree.folders.has(path));
  if (isAddress(text) || (!isThere && isRepository(text))) {
    throw refusal(mention, "remote bases and files are not allowed: put a copy into the artifact");
  }
  if (text.startsWith("/") || /^file:/i.test(text)) {
    throw refusal(mention, "fs-security-constraint: an absolute path leads out of the artifact");
  }
  if (path === undefined) throw refusal(mention, "fs-security-constraint: the path leads out of the artifact");
  return path;
}

export function refusal({ file, field, entry }: Mention, why: string): Failure {
  const named = entry === undefined ? "" : ` '${entry.slice(0, 200)}'`;
  return new Failure("BuildFailed", `kustomize build failed: ${file}: ${field}${named}: ${why}`);
}

/** Everything that kustomize fetches without a look at the files. */
function isAddress(text: string): boolean {
  return /^([a-z][a-z0-9+.-]*:\/\/|git::|gh:|github\.com[/:]|oci:)/i.test(text);
}

/** What kustomize hands to git where there is no file of that name. */
function isRepository(text: string): boolean {
  return /^[\w.-]+@[\w.-]+[:/]/.test(text) || /\.git(\/|\?|$)|\?(ref|version|timeout|submodules)=|_git\//.test(text);
}
