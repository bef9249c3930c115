import { deletionPolicy, type Kustomization } from "../../api/kustomization.ts";

/** Whether the deletion of a Kustomization takes its objects along (reference section 5). */
export function deletesObjects(spec: Kustomization["spec"]): boolean {
  if (spec.suspend === true) return false;
  switch (deletionPolicy(spec)) {
    case "Delete":
    case "WaitForTermination":
      return true;
    case "MirrorPrune":
      return spec.prune;
    case "Orphan":
      return false;
  }
}
