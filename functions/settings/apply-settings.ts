import { z } from "zod";
import { type ApplyRules, stageKind } from "../../lib/apply/set/apply-rules.ts";

const managers = "must be a list of names of field managers, or one name";

/** `override-manager`: Flux's flag may be given several times. */
export const OverrideManagers = z
  .union([z.string(managers), z.array(z.string(managers))], managers)
  .transform((given) => [given].flat())
  // Names are compared by their beginning: an empty one would stand for every manager.
  .refine((names) => names.every((name) => name.trim() !== ""), "must not have an empty name");

const kinds = "must be kinds with their groups, separated by commas: rbac.authorization.k8s.io/Role,ConfigMap";
const kind = /^(?:[a-z0-9][a-z0-9.-]*\/)?[A-Za-z][A-Za-z0-9]*$/;

/** `custom-apply-stage-kinds`: `group/Kind`, and `Kind` in the core group. */
export const CustomStageKinds = z.string(kinds).refine((text) => listed(text).every((each) => kind.test(each)), kinds);

/** Commas separate the kinds; blanks around them do not count. */
function listed(text: string): readonly string[] {
  return text === "" ? [] : text.split(",").map((each) => each.trim());
}

/** What the settings of an installation say about applies. */
export function applyRulesOf(settings: {
  readonly "override-manager": readonly string[];
  readonly "custom-apply-stage-kinds": string;
}): Pick<ApplyRules, "customStageKinds" | "overrideManagers"> {
  return {
    overrideManagers: settings["override-manager"],
    customStageKinds: new Set(
      listed(settings["custom-apply-stage-kinds"]).map((each) => {
        const [group = "", name] = each.split("/");
        return name === undefined ? stageKind({ group: "", kind: group }) : stageKind({ group, kind: name });
      }),
    ),
  };
}
