"""Posting a report to GitHub.com or an Enterprise Server: nothing twice, nothing half, no token where it may not go.

`address` says which server and repository, `token` where the token comes from, `endpoints` which requests there are,
`transport` sends one, `client` retries, waits and follows as GitHub asks, `faults` says in a line what went wrong,
`content` reads answers, `message` is what is posted, `duplicates` looks for what is there already, `post` is the order
of things, `plan` the same as a document without sending anything, and `prefilled` the address of a new issue for people
without a token. Only `transport` needs urllib3, and only it imports it.
"""
