import { type KindDeclaration, servedKind } from "../lib/api/kinds/declaration.ts";
import { declaredImagePolicy } from "../lib/api/kinds/image-policy.ts";
import { barredAnnotation, requestedAtAnnotation } from "../lib/api/names.ts";
import { repeatOnConflict } from "../lib/core/ports/repeat-on-conflict.ts";
import {
  type BarredImage,
  barredName,
  formatBarred,
  parseBarred,
  withBarred,
  withoutBarred,
} from "../lib/image/barred/barred-images.ts";
import { isSuspended, textAt } from "./objects/read-object.ts";
import { warnIfPaused } from "./pause-cluster.ts";
import { awaitRequest, loadObject, manager, requestTime } from "./reconcile-object.ts";
import type { Session } from "./session.ts";

const kind: KindDeclaration = declaredImagePolicy;

/** `image bar`: the policy no longer chooses this image. Waits until it has chosen another. */
export async function barImage(policy: string, image: string, why: string, session: Session): Promise<void> {
  const [one] = parseBarred(image);
  if (one === undefined) throw new Error("an image is required: a tag such as 1.3.0, or TAG@sha256:DIGEST");
  await change(policy, (barred) => withBarred(barred, { ...one, why }), `${barredName(one)} is barred`, session);
}

/** `image unbar`: the policy may choose this image again. */
export async function unbarImage(policy: string, image: string, session: Session): Promise<void> {
  const [one] = parseBarred(image);
  if (one === undefined) throw new Error("an image is required: a tag such as 1.3.0, or TAG@sha256:DIGEST");
  const free = (barred: readonly BarredImage[]): readonly BarredImage[] => {
    const left = withoutBarred(barred, one);
    if (left.length < barred.length) return left;
    const names = barred.map(barredName).join(", ");
    throw new Error(
      `${barredName(one)} is not barred in ImagePolicy ${policy}; barred: ${names === "" ? "nothing" : names}`,
    );
  };
  await change(policy, free, `${barredName(one)} is no longer barred`, session);
}

/** Under a precondition on what was read: another user may bar an image at the same time. */
async function change(
  name: string,
  next: (barred: readonly BarredImage[]) => readonly BarredImage[],
  done: string,
  session: Session,
): Promise<void> {
  const { cluster, namespace, signal, terminal } = session;
  const ref = { ...servedKind(kind), namespace, name };
  const object = await repeatOnConflict(async () => {
    const read = await loadObject(kind, name, session);
    const barred = next(parseBarred(read.metadata.annotations?.[barredAnnotation] ?? ""));
    const annotations = {
      [barredAnnotation]: barred.length === 0 ? null : checked(formatBarred(barred)),
      [requestedAtAnnotation]: requestTime(),
    };
    const { resourceVersion = "" } = read.metadata;
    const body = { metadata: { resourceVersion, annotations } };
    await cluster.patch(ref, { type: "merge", body }, { manager }, signal);
    return read;
  });
  terminal.success(`${done} in ImagePolicy ${name}`);
  if (isSuspended(kind, object)) {
    terminal.warning(`ImagePolicy ${name} is suspended: it chooses no image until it is resumed`);
    return;
  }
  await warnIfPaused(session);
  await awaitRequest(kind, ref, textAt(object, "status", "lastHandledReconcileAt"), session);
}

/** The text, which the policy must be able to read. */
function checked(text: string): string {
  parseBarred(text);
  return text;
}
