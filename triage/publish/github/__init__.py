"""Posts reports to GitHub.com or an Enterprise Server: never twice, never half done, and no token to another server.

`address` parses server and repository, `token` finds the token, `endpoints` lists the requests, `transport` sends one
(`sending`: in a thread that can be cut off), `client` retries, waits and redirects as GitHub asks, `faults` words
errors, `content` parses responses, `message` is what is posted, with its marker, `duplicates` searches for existing
issues, `post` runs the steps in order, `plan` shows them as a document without sending anything, and `prefilled` builds
the URL of a new issue for users without a token.
Only `transport` and `sending` need urllib3; they import it when something is posted."""
