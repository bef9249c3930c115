import type { CanaryService, RouteMatch } from "../../../api/canary.ts";
import { routeKindAnnotation } from "../../../api/names.ts";
import type { Canary } from "../../canary.ts";
import { StepFault } from "../../step-fault.ts";
import { grpcAnalysisMatches, grpcServiceMatches, refuseHttpOnly } from "./grpc-matches.ts";
import { analysisMatches, type GatewayMatch, serviceMatches } from "./route-matches.ts";

/** A kind of route of the Gateway API. */
export interface RouteForm {
  readonly kind: "HTTPRoute" | "GRPCRoute";
  readonly plural: string;
  readonly serviceMatches: (matches?: readonly RouteMatch[]) => readonly GatewayMatch[];
  readonly analysisMatches: (matches: readonly RouteMatch[]) => readonly GatewayMatch[];
  /** Throws a {@link StepFault} for an unsupported part. */
  readonly refuse: (service: CanaryService) => void;
}

export const httpForm: RouteForm = {
  kind: "HTTPRoute",
  plural: "httproutes",
  serviceMatches,
  analysisMatches,
  refuse: () => {},
};

export const grpcForm: RouteForm = {
  kind: "GRPCRoute",
  plural: "grpcroutes",
  serviceMatches: grpcServiceMatches,
  analysisMatches: grpcAnalysisMatches,
  refuse: refuseHttpOnly,
};

/** The kind of route that a Canary asks for. Flagger knows HTTPRoutes only, which route calls of gRPC too. */
export function routeFormOf({ live }: Canary): RouteForm {
  const kind = live.metadata.annotations?.[routeKindAnnotation] ?? "HTTPRoute";
  if (kind === "HTTPRoute") return httpForm;
  if (kind === "GRPCRoute") return grpcForm;
  throw new StepFault(`annotation ${routeKindAnnotation} must be HTTPRoute or GRPCRoute`);
}
