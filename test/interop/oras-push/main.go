// Command oras-push pushes what the oras command line would: an artifact with one layer for each file given, and then
// another that has the first for its subject. It prints their digests and what the registry says refers to the first.
package main

import (
	"context"
	"encoding/json"
	"log"
	"os"
	"path/filepath"

	v1 "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2"
	"oras.land/oras-go/v2/content/file"
	"oras.land/oras-go/v2/registry"
	"oras.land/oras-go/v2/registry/remote"
)

type answer struct {
	Digest    string   `json:"digest"`
	Signature string   `json:"signature"`
	Referrers []string `json:"referrers"`
	Tags      []string `json:"tags"`
	Pulled    int64    `json:"pulled"`
}

func main() {
	log.SetFlags(0)
	if len(os.Args) < 4 {
		log.Fatal("usage: oras-push HOST/REPOSITORY TAG FILE...")
	}
	if err := push(context.Background(), os.Args[1], os.Args[2], os.Args[3:]); err != nil {
		log.Fatal(err)
	}
}

func push(ctx context.Context, name, tag string, paths []string) error {
	store, err := file.New("")
	if err != nil {
		return err
	}
	defer store.Close()
	var layers []v1.Descriptor
	for _, path := range paths {
		layer, err := store.Add(ctx, filepath.Base(path), "application/vnd.oci.image.layer.v1.tar+gzip", path)
		if err != nil {
			return err
		}
		layers = append(layers, layer)
	}
	options := oras.PackManifestOptions{Layers: layers, ManifestAnnotations: map[string]string{
		"org.opencontainers.image.created": "2026-01-01T00:00:00Z",
	}}
	manifest, err := oras.PackManifest(ctx, store, oras.PackManifestVersion1_1, "application/vnd.example.config", options)
	if err != nil {
		return err
	}
	if err := store.Tag(ctx, manifest, tag); err != nil {
		return err
	}
	repository, err := remote.NewRepository(name)
	if err != nil {
		return err
	}
	repository.PlainHTTP = true
	if _, err := oras.Copy(ctx, store, tag, repository, tag, oras.DefaultCopyOptions); err != nil {
		return err
	}
	options = oras.PackManifestOptions{Subject: &manifest, ManifestAnnotations: options.ManifestAnnotations}
	signature, err := oras.PackManifest(ctx, repository, oras.PackManifestVersion1_1, "application/vnd.example.signature", options)
	if err != nil {
		return err
	}
	found := answer{Digest: manifest.Digest.String(), Signature: signature.Digest.String()}
	if err := repository.Referrers(ctx, manifest, "application/vnd.example.signature", func(all []v1.Descriptor) error {
		for _, one := range all {
			found.Referrers = append(found.Referrers, one.Digest.String())
		}
		return nil
	}); err != nil {
		return err
	}
	if found.Tags, err = registry.Tags(ctx, repository); err != nil {
		return err
	}
	pulled, err := oras.Resolve(ctx, repository, tag, oras.DefaultResolveOptions)
	if err != nil {
		return err
	}
	found.Pulled = pulled.Size
	return json.NewEncoder(os.Stdout).Encode(found)
}

