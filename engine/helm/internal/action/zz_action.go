// Code generated from Helm's sources by extract. DO NOT EDIT.

package action

import (
	bytes "bytes"
	fmt "fmt"
	common "helm.sh/helm/v4/pkg/chart/common"
	chart "helm.sh/helm/v4/pkg/chart/v2"
	chartutil "helm.sh/helm/v4/pkg/chart/v2/util"
	engine "helm.sh/helm/v4/pkg/engine"
	release "helm.sh/helm/v4/pkg/release/v1"
	releaseutil "helm.sh/helm/v4/pkg/release/v1/util"
	maps "maps"
	path "path"
	filepath "path/filepath"
	kio "sigs.k8s.io/kustomize/kyaml/kio"
	kyaml "sigs.k8s.io/kustomize/kyaml/yaml"
	slices "slices"
	postrenderer "sluice/engine/helm/internal/postrenderer"
	sort "sort"
	strings "strings"
)

type PostRenderStrategy string

const (
	// PostRenderStrategyCombined sends hooks and regular templates together
	// as a single stream to the post-renderer. This is the default in Helm 4.
	PostRenderStrategyCombined PostRenderStrategy = "combined"

	// PostRenderStrategySeparate sends hooks and regular templates to the
	// post-renderer in independent invocations. This avoids duplicate-resource
	// errors from post-renderers that de-duplicate by resource identity
	// (for example Kustomize) when the same resource appears in both a hook
	// and a regular template. Passing hooks to post-renderers was introduced
	// in Helm 4; Helm 3 never did so, which is why the issue only surfaces
	// with the Helm 4 combined default.
	PostRenderStrategySeparate PostRenderStrategy = "separate"

	// PostRenderStrategyNoHooks sends only regular templates to the
	// post-renderer and leaves hooks untouched. This matches the Helm 3
	// behavior and is useful for post-renderers that declare transforms
	// targeting template-only resources (for example Kustomize patches
	// against a Deployment that exists in templates but not in hooks),
	// which would otherwise fail against the hook stream.
	PostRenderStrategyNoHooks PostRenderStrategy = "nohooks"
)

const (
	// filenameAnnotation is the annotation key used to store the original filename
	// information in manifest annotations for post-rendering reconstruction.
	filenameAnnotation = "postrenderer.helm.sh/postrender-filename"
)

func annotateAndMerge(files map[string]string) (string, error) {
	var combinedManifests []*kyaml.RNode

	// Get sorted filenames to ensure result is deterministic
	fnames := slices.Sorted(maps.Keys(files))

	for _, fname := range fnames {
		content := files[fname]
		// Skip partials and empty files.
		if strings.HasPrefix(path.Base(fname), "_") || strings.TrimSpace(content) == "" {
			continue
		}

		// For consistency with the non-post-renderers code path, we need
		// to use releaseutil.SplitManifests here to split the file into
		// individual documents before feeding them to kio.ParseAll. In
		// Chart API before v3 this function had leniency for badly-written
		// Go templates, so this must be preserved for older charts.
		splitDocs := releaseutil.SplitManifests(content)
		keys := make([]string, 0, len(splitDocs))
		for k := range splitDocs {
			keys = append(keys, k)
		}
		sort.Sort(releaseutil.BySplitManifestsOrder(keys))
		for _, key := range keys {
			doc := splitDocs[key]
			if strings.TrimSpace(doc) == "" {
				continue
			}
			manifests, err := kio.ParseAll(doc)
			if err != nil {
				return "", fmt.Errorf("parsing %s: %w", fname, err)
			}
			for _, manifest := range manifests {
				if err := manifest.PipeE(kyaml.SetAnnotation(filenameAnnotation, fname)); err != nil {
					return "", fmt.Errorf("annotating %s: %w", fname, err)
				}
				combinedManifests = append(combinedManifests, manifest)
			}
		}
	}

	merged, err := kio.StringAll(combinedManifests)
	if err != nil {
		return "", fmt.Errorf("writing merged docs: %w", err)
	}
	return merged, nil
}

func splitAndDeannotate(postrendered, fallbackPrefix string) (map[string]string, error) {
	manifests, err := kio.ParseAll(postrendered)
	if err != nil {
		return nil, fmt.Errorf("error parsing YAML: %w", err)
	}

	manifestsByFilename := make(map[string][]*kyaml.RNode)
	for i, manifest := range manifests {
		meta, err := manifest.GetMeta()
		if err != nil {
			return nil, fmt.Errorf("getting metadata: %w", err)
		}
		fname := meta.Annotations[filenameAnnotation]
		if fname == "" {
			if fallbackPrefix == "" {
				fname = fmt.Sprintf("generated-by-postrender-%d.yaml", i)
			} else {
				fname = fmt.Sprintf("generated-by-postrender-%s-%d.yaml", fallbackPrefix, i)
			}
		}
		if err := manifest.PipeE(kyaml.ClearAnnotation(filenameAnnotation)); err != nil {
			return nil, fmt.Errorf("clearing filename annotation: %w", err)
		}
		manifestsByFilename[fname] = append(manifestsByFilename[fname], manifest)
	}

	reconstructed := make(map[string]string, len(manifestsByFilename))
	for fname, docs := range manifestsByFilename {
		fileContents, err := kio.StringAll(docs)
		if err != nil {
			return nil, fmt.Errorf("re-writing %s: %w", fname, err)
		}
		reconstructed[fname] = fileContents
	}
	return reconstructed, nil
}

func (cfg *Configuration) renderResources(ch *chart.Chart, values common.Values, releaseName, outputDir string, subNotes, useReleaseName, includeCrds bool, pr postrenderer.PostRenderer, interactWithRemote, enableDNS, hideSecret bool, postRenderStrategy PostRenderStrategy) ([]*release.Hook, *bytes.Buffer, string, error) {
	var hs []*release.Hook
	b := bytes.NewBuffer(nil)

	caps, err := cfg.getCapabilities()
	if err != nil {
		return hs, b, "", err
	}

	if ch.Metadata.KubeVersion != "" {
		if !chartutil.IsCompatibleRange(ch.Metadata.KubeVersion, caps.KubeVersion.String()) {
			return hs, b, "", fmt.Errorf("chart requires kubeVersion: %s which is incompatible with Kubernetes %s", ch.Metadata.KubeVersion, caps.KubeVersion.Version)
		}
	}

	var files map[string]string
	var err2 error

	// A `helm template` should not talk to the remote cluster. However, commands with the flag
	// `--dry-run` with the value of `false`, `none`, or `server` should try to interact with the cluster.
	// It may break in interesting and exotic ways because other data (e.g. discovery) is mocked.
	if interactWithRemote && cfg.RESTClientGetter != nil {
		restConfig, err := cfg.RESTClientGetter.ToRESTConfig()
		if err != nil {
			return hs, b, "", err
		}
		e := engine.New(restConfig)
		e.EnableDNS = enableDNS
		e.CustomTemplateFuncs = cfg.CustomTemplateFuncs

		files, err2 = e.Render(ch, values)
	} else {
		var e engine.Engine
		e.EnableDNS = enableDNS
		e.CustomTemplateFuncs = cfg.CustomTemplateFuncs

		files, err2 = e.Render(ch, values)
	}

	if err2 != nil {
		return hs, b, "", err2
	}

	// NOTES.txt gets rendered like all the other files, but because it's not a hook nor a resource,
	// pull it out of here into a separate file so that we can actually use the output of the rendered
	// text file. We have to spin through this map because the file contains path information, so we
	// look for terminating NOTES.txt. We also remove it from the files so that we don't have to skip
	// it in the sortHooks.
	var notesBuffer bytes.Buffer
	for k, v := range files {
		if strings.HasSuffix(k, notesFileSuffix) {
			if subNotes || (k == path.Join(ch.Name(), "templates", notesFileSuffix)) {
				// If buffer contains data, add newline before adding more
				if notesBuffer.Len() > 0 {
					notesBuffer.WriteString("\n")
				}
				notesBuffer.WriteString(v)
			}
			delete(files, k)
		}
	}
	notes := notesBuffer.String()

	if pr != nil {
		switch postRenderStrategy {
		case PostRenderStrategySeparate, PostRenderStrategyNoHooks:
			// Split hooks from manifests before post-rendering. For "separate",
			// hooks and templates are sent to the post-renderer as independent
			// streams to avoid duplicate-resource errors when the same resource
			// appears in both (e.g. a ServiceAccount used by a pre-install hook
			// that is also declared in the chart's regular templates). For
			// "nohooks", hooks skip the post-renderer entirely, matching the
			// Helm 3 behavior.
			sortedHooks, sortedManifests, err := releaseutil.SortManifests(files, nil, releaseutil.InstallOrder)
			if err != nil {
				for name, content := range files {
					if strings.TrimSpace(content) == "" {
						continue
					}
					fmt.Fprintf(b, "---\n# Source: %s\n%s\n", name, content)
				}
				return hs, b, "", err
			}

			// Build separate files maps for hooks and manifests.
			hookFiles := make(map[string]string)
			for _, h := range sortedHooks {
				if existing, ok := hookFiles[h.Path]; ok {
					hookFiles[h.Path] = existing + "\n---\n" + h.Manifest
				} else {
					hookFiles[h.Path] = h.Manifest
				}
			}
			manifestFiles := make(map[string]string)
			for _, m := range sortedManifests {
				if existing, ok := manifestFiles[m.Name]; ok {
					manifestFiles[m.Name] = existing + "\n---\n" + m.Content
				} else {
					manifestFiles[m.Name] = m.Content
				}
			}

			// Decide which groups to post-render. "nohooks" passes hooks
			// through untouched and only post-renders manifests.
			groups := []struct {
				name       string
				files      map[string]string
				postRender bool
			}{
				{"hooks", hookFiles, postRenderStrategy == PostRenderStrategySeparate},
				{"manifests", manifestFiles, true},
			}

			files = make(map[string]string)
			for _, group := range groups {
				if len(group.files) == 0 {
					continue
				}

				if !group.postRender {
					for k, v := range group.files {
						if existing, ok := files[k]; ok {
							files[k] = existing + "\n---\n" + v
						} else {
							files[k] = v
						}
					}
					continue
				}

				merged, err := annotateAndMerge(group.files)
				if err != nil {
					return hs, b, notes, fmt.Errorf("error merging %s: %w", group.name, err)
				}

				postRendered, err := pr.Run(bytes.NewBufferString(merged))
				if err != nil {
					return hs, b, notes, fmt.Errorf("error while running post render on %s: %w", group.name, err)
				}

				rendered, err := splitAndDeannotate(postRendered.String(), group.name)
				if err != nil {
					return hs, b, notes, fmt.Errorf("error while parsing post rendered output for %s: %w", group.name, err)
				}

				for k, v := range rendered {
					if existing, ok := files[k]; ok {
						files[k] = existing + "\n---\n" + v
					} else {
						files[k] = v
					}
				}
			}
		case PostRenderStrategyCombined, "":
			// We need to send files to the post-renderer before sorting and splitting
			// hooks from manifests. The post-renderer interface expects a stream of
			// manifests (similar to what tools like Kustomize and kubectl expect), whereas
			// the sorter uses filenames.
			// Here, we merge the documents into a stream, post-render them, and then split
			// them back into a map of filename -> content.

			// Merge files as stream of documents for sending to post renderer
			merged, err := annotateAndMerge(files)
			if err != nil {
				return hs, b, notes, fmt.Errorf("error merging manifests: %w", err)
			}

			// Run the post renderer
			postRendered, err := pr.Run(bytes.NewBufferString(merged))
			if err != nil {
				return hs, b, notes, fmt.Errorf("error while running post render on files: %w", err)
			}

			// Use the file list and contents received from the post renderer
			files, err = splitAndDeannotate(postRendered.String(), "")
			if err != nil {
				return hs, b, notes, fmt.Errorf("error while parsing post rendered output: %w", err)
			}
		default:
			return hs, b, notes, fmt.Errorf("unknown post-render strategy: '%s'", postRenderStrategy)
		}
	}

	// Sort hooks, manifests, and partials. Only hooks and manifests are returned,
	// as partials are not used after renderer.Render. Empty manifests are also
	// removed here.
	hs, manifests, err := releaseutil.SortManifests(files, nil, releaseutil.InstallOrder)
	if err != nil {
		// By catching parse errors here, we can prevent bogus releases from going
		// to Kubernetes.
		//
		// We return the files as a big blob of data to help the user debug parser
		// errors.
		for name, content := range files {
			if strings.TrimSpace(content) == "" {
				continue
			}
			fmt.Fprintf(b, "---\n# Source: %s\n%s\n", name, content)
		}
		return hs, b, "", err
	}

	// Aggregate all valid manifests into one big doc.
	fileWritten := make(map[string]bool)

	if includeCrds {
		for _, crd := range ch.CRDObjects() {
			if outputDir == "" {
				fmt.Fprintf(b, "---\n# Source: %s\n%s\n", crd.Filename, string(crd.File.Data[:]))
			} else {
				err = writeToFile(outputDir, crd.Filename, string(crd.File.Data[:]), fileWritten[crd.Filename])
				if err != nil {
					return hs, b, "", err
				}
				fileWritten[crd.Filename] = true
			}
		}
	}

	for _, m := range manifests {
		if outputDir == "" {
			if hideSecret && m.Head.Kind == "Secret" && m.Head.Version == "v1" {
				fmt.Fprintf(b, "---\n# Source: %s\n# HIDDEN: The Secret output has been suppressed\n", m.Name)
			} else {
				fmt.Fprintf(b, "---\n# Source: %s\n%s\n", m.Name, m.Content)
			}
		} else {
			newDir := outputDir
			if useReleaseName {
				newDir = filepath.Join(outputDir, releaseName)
			}
			// NOTE: We do not have to worry about the post-renderer because
			// output dir is only used by `helm template`. In the next major
			// release, we should move this logic to template only as it is not
			// used by install or upgrade
			err = writeToFile(newDir, m.Name, m.Content, fileWritten[m.Name])
			if err != nil {
				return hs, b, "", err
			}
			fileWritten[m.Name] = true
		}
	}

	return hs, b, notes, nil
}

const notesFileSuffix = "NOTES.txt"
