module example.org/access

go 1.22
