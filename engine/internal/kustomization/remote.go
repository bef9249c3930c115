package kustomization

import (
	"fmt"
	"net/http"
	"os"
	"regexp"
)

const remoteRefused = "remote bases are not supported: put a copy into the artifact"

// remoteAsked is the first address that the build in progress asked for.
var remoteAsked string

// init takes git and HTTP away from kustomize. Inside WebAssembly there are none; this makes a native build behave alike,
// and keeps the reason.
func init() {
	os.Unsetenv("PATH")
	http.DefaultTransport = noNetwork{}
}

type noNetwork struct{}

func (noNetwork) RoundTrip(request *http.Request) (*http.Response, error) {
	if remoteAsked == "" {
		remoteAsked = request.URL.Redacted()
	}
	return nil, fmt.Errorf(remoteRefused)
}

var noGit = regexp.MustCompile(`no 'git' program on path: exec: \\?"git\\?": executable file not found in \$PATH`)

// wordRemote has a failure that began with something remote say so.
func wordRemote(message string) string {
	if remoteAsked != "" {
		return fmt.Sprintf("'%s': %s", remoteAsked, remoteRefused)
	}
	return noGit.ReplaceAllLiteralString(message, remoteRefused)
}
