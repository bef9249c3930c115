import type { ReleaseActions } from "../attempt/action.ts";
import { correctDrift, findDrift } from "./drift.ts";
import { installRelease } from "./install.ts";
import { rollBack } from "./rollback.ts";
import { testRelease } from "./test.ts";
import { uninstallRelease } from "./uninstall.ts";
import { upgradeRelease } from "./upgrade.ts";

/** The actions of the release loop. */
export const releaseActions: ReleaseActions = {
  install: installRelease,
  upgrade: upgradeRelease,
  rollback: rollBack,
  test: testRelease,
  uninstall: uninstallRelease,
  findDrift,
  correctDrift,
};
