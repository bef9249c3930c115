module sluice/engine/cel

go 1.26

toolchain go1.26.8

// The version that kustomize-controller v1.9.4 (Flux v2.9) is built of.
require github.com/google/cel-go v0.26.1

require google.golang.org/protobuf v1.36.12-0.20260120151049-f2248ac996af

require (
	cel.dev/expr v0.25.2 // indirect
	github.com/antlr4-go/antlr/v4 v4.13.1 // indirect
	github.com/stoewer/go-strcase v1.3.0 // indirect
	golang.org/x/exp v0.0.0-20251219203646-944ab1f22d93 // indirect
	golang.org/x/text v0.38.0 // indirect
	google.golang.org/genproto/googleapis/api v0.0.0-20260622175928-b703f567277d // indirect
	google.golang.org/genproto/googleapis/rpc v0.0.0-20260622175928-b703f567277d // indirect
)
