import { describe, expect, test } from "vitest";
import { releaseNames } from "../../../lib/helm/release-names.ts";

describe("the name of a release", () => {
  const cart = { name: "cart", namespace: "retail" };

  test("23/4: starts with the target namespace, if there is one", () => {
    expect(releaseNames({ targetNamespace: "shop" }, cart)).toEqual({
      ...{ name: "shop-cart", fullName: "shop-cart", namespace: "shop", storageNamespace: "retail" },
    });
    expect(releaseNames({}, cart)).toMatchObject({ name: "cart", namespace: "retail" });
    expect(releaseNames({ targetNamespace: "shop", releaseName: "c" }, cart)).toMatchObject({ name: "c" });
  });

  test("23/5: of 54 bytes is shortened to 53, with 12 digits of its sha256", () => {
    const name = "checkout-gateway-service";
    const { fullName, name: short } = releaseNames(
      { targetNamespace: "eu-west-1-payments-production" },
      { ...cart, name },
    );
    expect(fullName).toBe("eu-west-1-payments-production-checkout-gateway-service");
    expect(short).toBe("eu-west-1-payments-production-checkout-g-61f76eb9e73e");
    expect([fullName, short].map(({ length }) => length)).toEqual([54, 53]);
  });

  test("23/5: of 53 bytes is kept", () => {
    const name = "a".repeat(53);
    expect(releaseNames({}, { ...cart, name }).name).toBe(name);
  });
});
