/** Media types and annotations that Flux writes and reads; changing one makes artifacts that Flux cannot use. */
export const mediaTypes = {
  manifest: "application/vnd.oci.image.manifest.v1+json",
  index: "application/vnd.oci.image.index.v1+json",
  dockerManifest: "application/vnd.docker.distribution.manifest.v2+json",
  dockerIndex: "application/vnd.docker.distribution.manifest.list.v2+json",
  fluxConfig: "application/vnd.cncf.flux.config.v1+json",
  fluxContent: "application/vnd.cncf.flux.content.v1.tar+gzip",
  helmChart: "application/vnd.cncf.helm.chart.content.v1.tar+gzip",
} as const;

export const annotations = {
  created: "org.opencontainers.image.created",
  source: "org.opencontainers.image.source",
  revision: "org.opencontainers.image.revision",
} as const;
