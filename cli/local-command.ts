import type { Command } from "commander";
import type { Surroundings } from "./settings.ts";

export function addLocalCommand(_root: Command, _surroundings: Surroundings): void {}
