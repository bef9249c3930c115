import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { formatEntryId, parseEntryId } from "../../../../lib/apply/set/entry-id.ts";

const rbac = "rbac.authorization.k8s.io";

describe("inventory entry ids", () => {
  test.each([
    [{ group: "", kind: "Secret", namespace: "t", name: "x" }, "t_x__Secret"],
    [{ group: "", kind: "ConfigMap", namespace: "t", name: "x" }, "t_x__ConfigMap"],
    [{ group: rbac, kind: "ClusterRole", namespace: "", name: "system:x" }, `_system__x_${rbac}_ClusterRole`],
    [{ group: "", kind: "Namespace", namespace: "", name: "cert-manager" }, "_cert-manager__Namespace"],
    [{ group: "apps", kind: "Deployment", namespace: "default", name: "podinfo" }, "default_podinfo_apps_Deployment"],
  ])("%o is %s (94, 95)", (ref, id) => {
    expect(formatEntryId(ref)).toBe(id);
    expect(parseEntryId(id)).toEqual(ref);
  });

  test.each(["Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding"])(
    "keep a colon in the name of a %s",
    (kind) => {
      const ref = { group: rbac, kind, namespace: "", name: "a:b" };
      expect(formatEntryId(ref)).toBe(`_a__b_${rbac}_${kind}`);
      expect(parseEntryId(formatEntryId(ref))).toEqual(ref);
    },
  );

  test.each([
    { group: rbac, kind: "Policy" },
    { group: "example.com", kind: "Role" },
  ])("keep a colon in the name of a $kind of $group, as Flux does", ({ group, kind }) => {
    expect(formatEntryId({ group, kind, namespace: "t", name: "a:b" })).toBe(`t_a:b_${group}_${kind}`);
  });

  test("of every possible object can be parsed back", () => {
    const dns = fc.stringMatching(/^[a-z0-9]([a-z0-9.-]{0,30}[a-z0-9])?$/);
    fc.assert(
      fc.property(
        dns,
        fc.option(dns, { nil: "" }),
        fc.constantFrom("", "apps", "example.com"),
        (name, namespace, group) => {
          const ref = { group, kind: "Thing", namespace, name };
          expect(parseEntryId(formatEntryId(ref))).toEqual(ref);
        },
      ),
    );
  });

  test.each(["", "x", "a_b", "a_b_c", "a_b_c_"])("%j is refused with Flux's text", (id) => {
    expect(() => parseEntryId(id)).toThrow(`unable to parse stored object metadata: ${id}`);
  });
});
