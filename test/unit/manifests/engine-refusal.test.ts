import { describe, expect, test } from "vitest";
import { EngineError } from "../../../lib/core/ports/engine.ts";
import { engineRefusal } from "../../../lib/manifests/engine-refusal.ts";

describe("what the engine says of a generator", () => {
  test("is told without the literal, which may be a secret", () => {
    const said = "loading KV pairs: literal sources [hunter2]: invalid literal source hunter2, expected key=value";
    const { message } = engineRefusal(new EngineError("refused", said), "", false);
    expect(message).toBe(
      "kustomize build failed: loading KV pairs: literal sources [*****]: invalid literal source *****, expected key=value",
    );
  });

  test("of anything else it is told as it is", () => {
    const { message } = engineRefusal(
      new EngineError("refused", "no matches for Id Secret.v1.[noGrp]/s.[noNs]"),
      "",
      false,
    );
    expect(message).toBe("kustomize build failed: no matches for Id Secret.v1.[noGrp]/s.[noNs]");
  });
});
