module sluice.test/real/gateway-api

go 1.25.0

require sigs.k8s.io/gateway-api v1.2.1
