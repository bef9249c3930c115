import { describe, expect, test } from "vitest";
import { kstatus } from "../../../lib/health/kstatus.ts";

const now = Date.parse("2026-01-01T00:01:00Z");
const widget = { apiVersion: "example.com/v1", kind: "Widget", metadata: { name: "x", uid: "u", generation: 1 } };

describe("an object whose status kstatus cannot parse is Unknown, with kstatus' text (104)", () => {
  const observed = "looking up status.observedGeneration from resource: .status.observedGeneration accessor error: ";
  test.each<[unknown, string]>([
    ["text", `${observed}text is of the type string, expected map[string]interface{}`],
    [["a", 1], `${observed}[a 1] is of the type []interface {}, expected map[string]interface{}`],
    [{ observedGeneration: "1" }, `${observed}1 is of the type string, expected int64`],
    [{ observedGeneration: 1.5 }, `${observed}1.5 is of the type float64, expected int64`],
    [{ observedGeneration: null }, `${observed}<nil> is of the type <nil>, expected int64`],
    [
      { observedGeneration: { b: true, a: null } },
      `${observed}map[a:<nil> b:true] is of the type map[string]interface {}, expected int64`,
    ],
    [{ conditions: "x" }, "cannot restore slice from string"],
    [{ conditions: { a: "b" } }, "cannot restore slice from map"],
    [{ conditions: [{ type: "Ready", status: "True" }, false] }, "cannot restore struct from: bool"],
    [{ conditions: [{ type: "Other", status: 1 }] }, "cannot convert int64 to v1.ConditionStatus"],
    [{ conditions: [{ type: "Other", status: true }] }, "unrecognized type: string"],
  ])("with the status %j", (status, message) => {
    for (const [apiVersion, kind] of [
      ["example.com/v1", "Widget"],
      ["apps/v1", "Deployment"],
    ] as const) {
      expect(kstatus({ ...widget, apiVersion, kind, status }, now)).toEqual({ status: "Unknown", message });
    }
  });

  test("unless it is being deleted, or the field is empty", () => {
    const metadata = { ...widget.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" };
    expect(kstatus({ ...widget, status: "x", metadata }, now).status).toBe("Terminating");
    for (const status of [null, {}, { conditions: null }, { conditions: [] }, { conditions: [null] }]) {
      expect(kstatus({ ...widget, status }, now).status).toBe("Current");
    }
  });

  test("without a generation, as in some kinds, the observed one is ignored", () => {
    const object = { apiVersion: "v1", kind: "Namespace", metadata: { name: "x", uid: "u" } };
    expect(kstatus({ ...object, status: { observedGeneration: "1" } }, now).status).toBe("Current");
    expect(kstatus({ ...object, status: "x" }, now).message).toBe("cannot restore struct from: string");
  });
});
