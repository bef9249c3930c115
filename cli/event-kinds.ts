import type { KindDeclaration } from "../lib/api/kinds/declaration.ts";
import { declaredExternalArtifact } from "../lib/api/kinds/external-artifact.ts";

/** Whether `events` shows the events of objects of this kind: those of Flux and of Sluice. */
export function hasEvents(kind: string, own: readonly KindDeclaration[]): boolean {
  return withEvents(own).some((each) => each.kind === kind);
}

/**
 * The kind that `--for` names, in any case of letters: as its objects have it, by the names that kubectl knows (`kustomizations`, `ks`,
 * `kustomization.kustomize.toolkit.fluxcd.io`), or by the words of commands (`git` for a GitRepository).
 */
export function kindCalled(name: string, own: readonly KindDeclaration[]): KindDeclaration {
  const kinds = withEvents(own);
  const found = kinds.find((kind) => namesOf(kind).includes(name.toLowerCase()));
  if (found !== undefined) return found;
  const known = kinds.map(({ kind, shortNames: [short] }) => (short === undefined ? kind : `${kind} (${short})`));
  throw new Error(`'${name}' is not a recognized Flux kind: give one of ${known.join(", ")}`);
}

function withEvents(own: readonly KindDeclaration[]): readonly KindDeclaration[] {
  return [...own, declaredExternalArtifact];
}

function namesOf({ group, kind, plural, shortNames, words }: KindDeclaration): readonly string[] {
  const one = kind.toLowerCase();
  // `policy` and the like mean something only behind their parent.
  const ofCommands = words.parent === undefined ? [words.one, words.many, ...words.aliases] : [];
  return [one, `${one}.${group}`, plural, `${plural}.${group}`, ...shortNames, ...ofCommands];
}
