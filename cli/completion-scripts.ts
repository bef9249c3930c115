/**
 * What a shell sources so that it asks `sluice __complete` for the word at the cursor. Each line of the answer is a word, and after a
 * tab what it means; the one line `:files` stands for files, which the shell completes itself.
 */
export const completionScripts = {
  bash: `# bash completion of sluice
_sluice() {
  local line
  COMPREPLY=()
  while IFS= read -r line; do
    if [[ $line == :files ]]; then
      compopt -o default 2>/dev/null
      return
    fi
    COMPREPLY+=("\${line%%$'\\t'*}")
  done < <(sluice __complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _sluice sluice
`,
  zsh: `#compdef sluice
# zsh completion of sluice
_sluice() {
  local line word
  local -a found
  while IFS= read -r line; do
    if [[ $line == :files ]]; then
      _files
      return
    fi
    word=\${line%%$'\\t'*}
    found+=("\${word//:/\\\\:}\${\${line#$word}/$'\\t'/:}")
  done < <(sluice __complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)
  _describe sluice found
}
if [[ \${zsh_eval_context[-1]} == loadautofunc ]]; then
  _sluice "$@"
else
  compdef _sluice sluice
fi
`,
  fish: `# fish completion of sluice
function __sluice_complete
    set -l before (commandline -opc)
    set -l last (commandline -ct)
    for line in (sluice __complete -- $before[2..] "$last" 2>/dev/null)
        if test "$line" = :files
            __fish_complete_path "$last"
        else
            echo $line
        end
    end
end
complete -c sluice -f -a '(__sluice_complete)'
`,
} as const;

/** A shell that `sluice completion` knows. */
export type Shell = keyof typeof completionScripts;
