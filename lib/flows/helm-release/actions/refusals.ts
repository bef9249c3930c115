import { subject } from "../../../core/object-ref.ts";
import type { ReleaseObject } from "./release-objects.ts";

/** Why a manifest cannot be applied. */
export interface ManifestRefusal {
  readonly message: string;
  /** Helm meets it before it stores anything. */
  readonly isEarly: boolean;
}

const begin = { install: "unable to continue with install", upgrade: "unable to continue with update" } as const;

/**
 * The refusals of a plan in Helm's words: that of the first object as Helm tells it, then those of the others.
 *
 * @param lines as a plan tells them, each with the object's name in front
 */
export function refusalOf(
  lines: readonly string[],
  objects: readonly ReleaseObject[],
  action: "install" | "rollback" | "upgrade",
): ManifestRefusal {
  const told = lines.map((line) => {
    const object = objects.find(({ ref }) => line.startsWith(`${subject(ref)} `));
    const [, reason = "", text = line] = /(?:dry-run failed(?: \(([^)]*)\))?|not found): (.*)$/s.exec(line) ?? [];
    if (object === undefined) return { isForbidden: false, text: line };
    const { group, kind, name, namespace, version } = object.ref;
    if (reason === "Forbidden") {
      const what = `${kind} ${JSON.stringify(name)} in namespace ${JSON.stringify(namespace)}`;
      const prefix = action === "rollback" ? "" : `${begin[action]}: `;
      return { isForbidden: true, text: `${prefix}could not get information about the resource ${what}: ${text}` };
    }
    return {
      isForbidden: false,
      text: `server-side apply failed for object ${namespace}/${name} ${group}/${version}, Kind=${kind}: ${text}`,
    };
  });
  const first = told.find(({ isForbidden }) => isForbidden) ?? told[0];
  const others = told.filter((one) => one !== first).map(({ text }) => text);
  return { isEarly: first?.isForbidden === true, message: [first?.text ?? "", ...others].join("\n") };
}
