# Completion of dossier's command line for bash: the program says what may follow.
_dossier() {
	local line cur="${COMP_WORDS[COMP_CWORD]}"
	[[ $cur == "=" ]] && cur=""
	COMPREPLY=()
	while IFS= read -r line; do
		if [[ $line == ":files" ]]; then
			compopt -o filenames 2>/dev/null
			while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -f -- "$cur")
		else
			COMPREPLY+=("${line%%$'\t'*}")
		fi
	done < <(dossier completion words "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _dossier dossier
