import type { ManagedFieldsEntry } from "../../core/manifest.ts";
import type { ApplyOptions } from "../../core/ports/cluster.ts";
import { type IgnoreRules, noIgnoreRules } from "../ignore/ignore-rules.ts";
import { kustomizationStyle, type OwnerStyle } from "./owner-style.ts";

/** How an installation, and the owner of a set, want objects to be applied. */
export interface ApplyRules {
  /** Flux's flag `override-manager`: prefixes of field managers whose edits are reverted, in addition to kubectl's. */
  readonly overrideManagers: readonly string[];
  /** Flux's flag `custom-apply-stage-kinds`: kinds as `group/Kind` that are applied before the rest; see {@link stageKind}. */
  readonly customStageKinds: ReadonlySet<string>;
  /** Flux's gate `MigrateAPIVersion`: managed fields of another API version are moved to the applied one before the apply. */
  readonly migratesApiVersion: boolean;
  /** How owners of this kind apply and mark objects. */
  readonly style: OwnerStyle;
  /** Fields that the owner ignores. */
  readonly ignore: IgnoreRules;
}

/** The rules of an installation without settings for them. */
export const usualRules: ApplyRules = {
  overrideManagers: [],
  customStageKinds: new Set(),
  migratesApiVersion: false,
  style: kustomizationStyle,
  ignore: noIgnoreRules,
};

/** How an owner of this kind applies: what it wants wins. */
export function applyOptions({ style }: Pick<ApplyRules, "style">): Pick<ApplyOptions, "force" | "manager"> {
  return { manager: style.manager, force: true };
}

/** A kind as the rules name it: `rbac.authorization.k8s.io/Role`, and `/ConfigMap` in the core group. */
export function stageKind({ group, kind }: { readonly group: string; readonly kind: string }): string {
  return `${group}/${kind}`;
}

/** Whether the installation lists this manager as one whose edits are reverted. */
export function isOverridden({ manager }: ManagedFieldsEntry, { overrideManagers }: ApplyRules): boolean {
  return overrideManagers.some((name) => manager.startsWith(name));
}
