import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { crdFiles } from "./crd-files.ts";

for (const [name, text] of await crdFiles()) await writeFile(join(import.meta.dirname, "crds", name), text);
