module dossier

go 1.26

