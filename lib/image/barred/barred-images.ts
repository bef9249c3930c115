/** Of one policy. */
export const maxBarred = 100;

/** An image that a policy must not choose. */
export interface BarredImage {
  readonly tag: string;
  /** The tag is barred only while it has this digest; undefined: always. */
  readonly digest: string | undefined;
  /** Who has barred it and why, for people; may be empty. */
  readonly why: string;
}

const tagPattern = /^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$/;
const digestPattern = /^sha256:[0-9a-f]{64}$/;

/**
 * Reads the annotation `sluice.dev/barred`: each line names a tag, or a tag and its digest as `1.3.0@sha256:…`, and then says who has barred it and why.
 * Empty lines and those that begin with `#` are left out. Throws a `RangeError` that names the line.
 */
export function parseBarred(annotation: string): readonly BarredImage[] {
  const barred: BarredImage[] = [];
  for (const [at, line] of annotation.split("\n").entries()) {
    const text = line.trim();
    if (text === "" || text.startsWith("#")) continue;
    barred.push(parseLine(text, `line ${at + 1}`));
    if (barred.length > maxBarred) {
      throw new RangeError(`more than ${maxBarred} images are barred: narrow spec.policy or spec.filterTags instead`);
    }
  }
  return barred;
}

function parseLine(text: string, where: string): BarredImage {
  const [image = ""] = text.split(/\s/, 1);
  const why = text.slice(image.length).trim();
  const [tag = "", digest, ...more] = image.split("@");
  if (!tagPattern.test(tag)) throw new RangeError(`${where} does not begin with a tag such as 1.3.0`);
  if (more.length > 0 || (digest !== undefined && !digestPattern.test(digest))) {
    throw new RangeError(`${where}: the digest of ${tag} is not of the form sha256:<64 hexadecimal digits>`);
  }
  return { tag, digest, why };
}

/** The annotation that {@link parseBarred} reads. */
export function formatBarred(barred: readonly BarredImage[]): string {
  return barred.map((one) => `${barredName(one)} ${one.why}`.trim()).join("\n");
}

/** `1.3.0`, or `1.3.0@sha256:…`. */
export function barredName({ tag, digest }: Pick<BarredImage, "digest" | "tag">): string {
  return digest === undefined ? tag : `${tag}@${digest}`;
}

/** Whether an entry bars the tag while it has this digest. */
export function isBarredBy(entry: BarredImage, { digest, tag }: Pick<BarredImage, "digest" | "tag">): boolean {
  return entry.tag === tag && (entry.digest === undefined || entry.digest === digest);
}

/** The annotation with one more line, its other lines as they are: also comments. A reason becomes one line. Throws as {@link parseBarred} does. */
export function addLine(annotation: string, { why, ...image }: BarredImage): string {
  const added = formatBarred(withBarred([], { ...image, why }));
  const text = annotation.trim() === "" ? added : `${annotation.replace(/\n+$/, "")}\n${added}`;
  parseBarred(text);
  return text;
}

/** The list with this image, which takes the place of an earlier entry for it. A reason becomes one line. */
export function withBarred(barred: readonly BarredImage[], image: BarredImage): readonly BarredImage[] {
  const why = image.why.replaceAll(/\s+/g, " ").trim();
  return [...withoutBarred(barred, image), { ...image, why }];
}

/** The list without this image: of a tag alone every entry, of a tag and its digest the one with that digest. */
export function withoutBarred(
  barred: readonly BarredImage[],
  { tag, digest }: Pick<BarredImage, "digest" | "tag">,
): readonly BarredImage[] {
  return barred.filter((one) => one.tag !== tag || (digest !== undefined && one.digest !== digest));
}
