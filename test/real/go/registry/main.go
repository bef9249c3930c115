// The CNCF registry with the storage and the authentication that the real part uses. Its own main package differs from this
// one in what it links besides: drivers for Azure, Google and S3, with an SDK each.
package main

import (
	"os"

	"github.com/distribution/distribution/v3/registry"
	_ "github.com/distribution/distribution/v3/registry/auth/htpasswd"
	_ "github.com/distribution/distribution/v3/registry/storage/driver/filesystem"
)

func main() {
	if registry.RootCmd.Execute() != nil {
		os.Exit(1)
	}
}
