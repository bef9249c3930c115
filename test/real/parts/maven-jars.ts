import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { here } from "../folders.ts";
import type { Build, PartName } from "../part.ts";
import { PartFailure } from "../part-failure.ts";
import { versions } from "../versions.ts";

const copyPlugin = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies";

/** Fetches a server and all that it needs from Maven Central, and checks every file against its checked-in checksum. */
export async function mavenJars(part: PartName & keyof typeof versions, folder: string, { run }: Build): Promise<void> {
  const version = `-Dversion.of.part=${versions[part]}`;
  const quiet = ["--batch-mode", "--quiet", "--strict-checksums", "--file", join(here, "maven", `${part}.xml`)];
  await run("mvn", [...quiet, version, copyPlugin, `-DoutputDirectory=${folder}`, "-DincludeScope=runtime"], {
    cwd: folder,
  });
  const sums = await readFile(join(here, "maven", `${part}.sha256`), "utf8");
  for (const line of sums.trim().split("\n")) {
    const [wanted = "", name = ""] = line.split(/ +/);
    const content = await readFile(join(folder, name)).catch(() => undefined);
    const found = content === undefined ? "not there" : createHash("sha256").update(content).digest("hex");
    if (found !== wanted) {
      const file = `maven/${part}.sha256`;
      throw new PartFailure(
        part,
        `${name} from Maven is ${found}, and ${file} wants ${wanted}. Mend the mirror, or the list`,
      );
    }
  }
}
