module example.org/balancer

go 1.22
