# Completion of dossier's command line for fish: the program says what may follow.
function __dossier_words
    set -l begun (commandline -opc)
    set -l last (commandline -ct)
    for line in (dossier completion words $begun[2..] "$last" 2>/dev/null)
        if test "$line" = ":files"
            __fish_complete_path (string replace -r '^--[a-z-]+=' '' -- "$last")
        else if string match -qr '^--[a-z-]+=' -- "$last"
            echo (string replace -r '=.*$' '=' -- "$last")$line
        else
            echo $line
        end
    end
end
complete -c dossier -f -a '(__dossier_words)'
