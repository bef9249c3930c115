import { type IgnorePattern, matches, parseIgnoreFile } from "./ignore-pattern.ts";

/** What belongs to the version control and never to an artifact. */
export const vcsPatterns = parseIgnoreFile(".git/\n.gitignore\n.gitmodules\n.gitattributes");

/** Pictures, films and archives: no manifests. */
export const mediaPatterns = parseIgnoreFile("*.jpg\n*.jpeg\n*.gif\n*.png\n*.wmv\n*.flv\n*.tar.gz\n*.zip");

const toolPatterns = parseIgnoreFile(
  [
    ".github/",
    ".circleci/",
    ".travis.yml",
    ".gitlab-ci.yml",
    "appveyor.yml",
    ".drone.yml",
    "cloudbuild.yaml",
    "codeship-services.yml",
    "codeship-steps.yml",
    "**/.goreleaser.yml",
    "**/.sops.yaml",
    "**/.flux.yaml",
  ].join("\n"),
);

/** Says whether a path is left out. Of all patterns that speak of it the last one decides. */
export type Ignore = (path: string, isDirectory: boolean) => boolean;

export function ignoreBy(patterns: readonly IgnorePattern[]): Ignore {
  const lastFirst = patterns.toReversed();
  return (path, isDirectory) => {
    const names = path.split("/");
    return lastFirst.find((pattern) => matches(pattern, names, isDirectory))?.verdict === "exclude";
  };
}

/**
 * The patterns of a source: the version control's, then the `.sourceignore` files (root first, each holding below its
 * folder), then `spec.ignore`. The defaults hold only where the user's files and field have no pattern at all.
 */
export function sourcePatterns(
  ignoreFiles: readonly { readonly path: string; readonly text: string }[],
  specIgnore: string | undefined,
): IgnorePattern[] {
  const users = [
    ...ignoreFiles.flatMap(({ path, text }) => parseIgnoreFile(text, path.split("/").slice(0, -1))),
    ...parseIgnoreFile(specIgnore ?? ""),
  ];
  const defaults = users.length === 0 ? [...mediaPatterns, ...toolPatterns] : [];
  return [...vcsPatterns, ...defaults, ...users];
}
