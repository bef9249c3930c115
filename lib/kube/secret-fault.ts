import { asItIs, knownWords } from "../core/known-words.ts";
import { ApiError } from "../core/ports/cluster.ts";
import { secretWords } from "./secret-words.ts";

const string = String.raw`"(?:[^"\\]|\\[^])*"`;

const shown = knownWords({
  words: secretWords,
  holes: {
    name: asItIs(String.raw`[\w.:-]{0,253}`),
    user: asItIs(String.raw`[\w.:@/-]{1,512}`),
    types: asItIs("[a-z ()]{1,60}"),
    word: asItIs(String.raw`[\w-]{1,63}`),
    number: asItIs(String.raw`\d{1,12}`),
    field: asItIs(String.raw`\.?[\w-]+(?:\.[\w-]+|\[[\w./-]{1,253}\]){0,20}`),
    // What these hold is in every list of Secrets anyway, and is the fault.
    shownField: asItIs(String.raw`metadata\.(?:name|namespace|generateName|labels|finalizers)(?:\[[\w./-]{1,253}\])?`),
    string: asItIs(string),
    strings: asItIs(`(?:${string}(?:, )?)*`),
    amounts: asItIs(String.raw`[\w./]+=[\w.]+(?:,[\w./]+=[\w.]+)*`),
    gotype: asItIs(String.raw`[\w.[\]*{}]{1,253}`),
    jsontype: asItIs("array|bool|number|object|string"),
    server: asItIs("[a-z ,]{1,80}"),
  },
  restHidden: "(the rest is not shown, as it may quote the Secret)",
});

/** What an API server says of a Secret, without what it quotes of it: an admission webhook may say anything. */
export function withoutSecretValues({ code, reason, message, causes, retryAfterMs }: ApiError): ApiError {
  return new ApiError({
    code,
    reason,
    message: shown(message),
    causes: causes.map((cause) => ({
      ...cause,
      ...(cause.message === undefined ? {} : { message: shown(cause.message) }),
    })),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });
}
