import type { ReleaseActions } from "../attempt/action.ts";
import { installRelease, rollbackRelease, upgradeRelease } from "./begin.ts";
import { correctDrift, findDrift } from "./drift.ts";
import { testRelease } from "./test.ts";
import { uninstallRelease } from "./uninstall.ts";

/** What the loop of a HelmRelease can do with its release. */
export const releaseActions: ReleaseActions = {
  install: installRelease,
  upgrade: upgradeRelease,
  rollback: rollbackRelease,
  test: testRelease,
  uninstall: uninstallRelease,
  findDrift,
  correctDrift,
};
