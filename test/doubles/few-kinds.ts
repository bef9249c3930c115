import { declaredCanary } from "../../lib/api/kinds/canary.ts";
import type { KindDeclaration } from "../../lib/api/kinds/declaration.ts";
import { declaredKustomization } from "../../lib/api/kinds/kustomization.ts";
import { declaredOciRepository } from "../../lib/api/kinds/oci-repository.ts";

/**
 * Three kinds of three API groups, for stories that install and remove definitions many times: all definitions are handled alike, and each
 * keeps an API server busy. Other stories take all kinds.
 */
export const fewKinds: readonly KindDeclaration[] = [declaredOciRepository, declaredKustomization, declaredCanary];
