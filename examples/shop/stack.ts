import { Sluice, SluiceConfiguration, SluiceRepository } from "@sluice/cdk";
import { App, Duration, Stack } from "aws-cdk-lib";

const app = new App();
const stack = new Stack(app, "Shop", { env: { account: "123456789012", region: "eu-west-1" } });
const sluice = new Sluice(stack, "Sluice");

const clusters = {
  staging: "arn:aws:eks:eu-west-1:123456789012:cluster/staging",
  production: "arn:aws:eks:eu-west-1:123456789012:cluster/production",
};
const added = Object.entries(clusters).map(([environment, clusterArn]) => ({
  environment,
  cluster: sluice.addCluster(environment, { clusterArn, rights: "clusterAdmin" }),
}));

// One repository: each environment applies its own folder of the same artifact. A tag an environment lets production stay behind.
new SluiceRepository(stack, "Manifests", {
  sluice,
  newRepositoryName: "shop",
  clusters: Object.values(clusters),
  namespaces: ["shop-delivery"],
});

for (const { environment, cluster } of added) {
  new SluiceConfiguration(stack, `Shop-${environment}`, {
    cluster,
    name: "shop",
    namespace: "shop-delivery",
    source: {
      oci: {
        url: "oci://123456789012.dkr.ecr.eu-west-1.amazonaws.com/shop",
        ref: { tag: environment },
        provider: "aws",
      },
    },
    kustomizations: {
      infrastructure: { path: `infrastructure/${environment}`, timeout: Duration.minutes(5) },
      apps: {
        path: `apps/${environment}`,
        dependsOn: ["infrastructure"],
        timeout: Duration.minutes(5),
        retryInterval: Duration.minutes(1),
      },
    },
  });
}
