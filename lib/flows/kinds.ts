import { declaredKinds } from "../api/kinds/declared-kinds.ts";
import { gitRepositoryKind } from "./git-repository/kind.ts";
import type { Kind } from "./kind.ts";
import { kustomizationKind } from "./kustomization/kind.ts";
import { ociRepositoryKind } from "./oci-repository/kind.ts";
import { receiverKind } from "./receiver/kind.ts";

/** The compiler asks for each declared kind. */
const byName: Readonly<Record<(typeof declaredKinds)[number]["kind"], Kind>> = {
  OCIRepository: ociRepositoryKind,
  GitRepository: gitRepositoryKind,
  Kustomization: kustomizationKind,
  Receiver: receiverKind,
};

/** Every declared kind with its flow, in the order of the declarations. */
export const kinds: readonly Kind[] = declaredKinds.map(({ kind }) => byName[kind]);
