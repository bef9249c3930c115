import { z } from "zod";
import { parseJson } from "../../core/json.ts";
import { Secret } from "../../core/secret.ts";
import { ask, maxAnswerBytes, type Way } from "./bounded-requests.ts";
import { BucketFault } from "./object-store.ts";
import type { Phase } from "./phase.ts";
import { notOfApi, statusText } from "./provider-answers.ts";

const Token = z.object({ access_token: z.string().min(1) });

/** Posts a form of OAuth. Throws a {@link BucketFault} without the words of the answer. */
export async function askForAccessToken(
  whose: string,
  url: string,
  form: URLSearchParams,
  way: Way,
  phase: Phase,
): Promise<Secret> {
  const headers = { "content-type": "application/x-www-form-urlencoded" };
  const body = Buffer.from(form.toString());
  const answer = await ask(way, { method: "POST", url, headers, body, isSafe: true, maxBytes: maxAnswerBytes }, phase);
  if (answer.status !== 200)
    throw new BucketFault("answer", `${whose} gives no token for the credentials: ${statusText(answer.status)}`);
  try {
    return new Secret(Token.parse(parseJson(Buffer.from(answer.body).toString())).access_token);
  } catch (error) {
    throw notOfApi("it holds no token", error);
  }
}
