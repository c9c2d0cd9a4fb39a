"""The steps of a post: token owner, repository, existing posts, gist, post.

An earlier post is identified by author and marker, and updated. A gist is created before the post that links it and
deleted if the post fails, so that nothing stays half done."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from triage.model.errors import EnvironmentFault, InputError, TriageError
from triage.publish.github import content, duplicates, gist
from triage.publish.github.address import Repository
from triage.publish.github.client import Client
from triage.publish.github.content import Post
from triage.publish.github.duplicates import Similar
from triage.publish.github.endpoints import ApiRequest, Endpoints
from triage.publish.github.faults import ApiResponse, Unanswered, Undone
from triage.publish.github.message import Message, digest, gist_of, signature_of


@dataclass(frozen=True, slots=True)
class PostRequest:
    """What the user asked for: a comment on ``issue``, or if None a new issue with ``labels``. ``yes``: post despite
    duplicates, without asking."""

    issue: int | None = None
    labels: tuple[str, ...] = ()
    gist: bool = False
    yes: bool = False


@dataclass(frozen=True, slots=True)
class People:
    """Callbacks: ``note`` prints a line, ``ask`` asks yes or no (None without a terminal)."""

    note: Callable[[str], None]
    ask: Callable[[str], bool] | None = None


@dataclass(frozen=True, slots=True)
class Posted:
    """What was done (``opened``, ``commented``, ``updated``) and its URL."""

    how: str
    url: str


class Attachment:
    """Posts one message to one repository."""

    def __init__(
        self, client: Client, endpoints: Endpoints, message: Message, wish: PostRequest, people: People
    ) -> None:
        self._client, self._endpoints = client, endpoints
        self._message, self._wish, self._people = message, wish, people

    def post(self) -> Posted | None:
        """Post, or update an earlier post; None if the user declined. Raises TriageError."""
        login = content.whose(self._client, self._endpoints)
        self._look_at_repository()
        if self._wish.issue is None:
            return self._open(login)
        return self._comment(login, self._wish.issue)

    def _look_at_repository(self) -> None:
        request = self._endpoints.about()
        answer = self._client.read(request)
        named = self._endpoints.repository
        current = Repository.parse(content.text(answer, request, "full_name"))
        if current.full_name.lower() != named.full_name.lower():
            self._people.note(f"{named} is called {current} now")
            self._endpoints = replace(self._endpoints, repository=current)
        if content.flag(answer, "archived", False):
            raise InputError(f"--repo {current}: is archived, and takes nothing any more")
        if self._wish.issue is None and not content.flag(answer, "has_issues", True):
            raise InputError(f"--repo {current}: has no issues; name another repository")

    def _comment(self, login: str, number: int) -> Posted | None:
        request = self._endpoints.issue(number)
        issue = content.post(self._client.read(request).document, request, "number")
        if self._is_own(issue, login):
            return self._update(login, issue, lambda body: self._endpoints.edit_issue(number, body))
        own = self._own_comment(login, number)
        if own is not None:
            return self._update(login, own, lambda body: self._endpoints.edit_comment(own.identifier, body))
        if not self._may_comment(number):
            return None

        def posted(answer: ApiResponse) -> Posted:
            return Posted("commented", content.post(answer.document, self._endpoints.issue(number), "id").url)

        def landed() -> Posted | None:
            comment = self._own_comment(login, number)
            return Posted("commented", comment.url) if comment else None

        with self._with_gist(login, "") as body:
            return self._client.create(self._endpoints.comment(number, body), posted, landed)

    def _open(self, login: str) -> Posted | None:
        before = {
            issue.identifier: issue for issue in content.newest(self._client, self._endpoints) if self._marked(issue)
        }
        if not self._may_open(list(before.values())):
            return None

        def posted(answer: ApiResponse) -> Posted:
            missing = [label for label in self._wish.labels if label.lower() not in content.names(answer, "labels")]
            if missing:
                self._people.note(f"GitHub left out the labels {', '.join(missing)}: the token may not set them")
            return Posted("opened", content.post(answer.document, self._endpoints.newest(), "number").url)

        def landed() -> Posted | None:
            for issue in content.newest(self._client, self._endpoints):
                if self._is_own(issue, login) and issue.identifier not in before:
                    return Posted("opened", issue.url)
            return None

        with self._with_gist(login, "") as body:
            request = self._endpoints.open_issue(self._message.title, body, self._wish.labels)
            return self._client.create(request, posted, landed)

    def _update(self, login: str, own: Post, edit: Callable[[str], ApiRequest]) -> Posted:
        with self._with_gist(login, own.body) as body:
            self._client.read(edit(body))
        return Posted("updated", own.url)

    @contextmanager
    def _with_gist(self, login: str, earlier: str) -> Iterator[str]:
        """The body that is to be posted, and what becomes of the gist when that fails."""
        if not self._wish.gist or not self._message.files:
            yield self._message.body()
            return
        own = gist.keep(self._client, self._endpoints, self._message, login, earlier)
        try:
            yield self._message.body(own)
        except BaseException as error:
            # Deleted only where nothing that names it was posted, or will be.
            refused = isinstance(error, TriageError) and not isinstance(error, Undone)
            if isinstance(error, Unanswered):
                refused = not error.maybe_done
            dropped = own.new and refused and gist.drop(self._client, self._endpoints, own)
            if not dropped and own.identifier != gist_of(earlier):
                self._people.note(f"the gist still exists: {own.url}")
            raise

    def _marked(self, post: Post) -> bool:
        return signature_of(post.body) == digest(self._message.signature)

    def _is_own(self, post: Post, login: str) -> bool:
        return post.author == login and self._marked(post)

    def _own_comment(self, login: str, number: int) -> Post | None:
        comments = content.comments(self._client, self._endpoints, number)
        return next((comment for comment in comments if self._is_own(comment, login)), None)

    def _may_comment(self, number: int) -> bool:
        """Whether to comment: the user named the issue, so duplicates are only shown, and asked about on a terminal."""
        try:
            others = [issue for issue in self._search() if issue.number != number]
        except TriageError as error:
            self._people.note(f"duplicates were not looked for: {error}")
            return True
        self._show(others)
        has_exact = any(issue.exact for issue in others)
        if not has_exact or self._wish.yes or self._people.ask is None:
            return True
        return self._people.ask(f"Comment on #{number} all the same?")

    def _may_open(self, marked: list[Post]) -> bool:
        unknown: TriageError | None = None
        similar = [Similar(issue.identifier, "", "", issue.url, True) for issue in marked]
        try:
            results = self._search()
            similar = [issue for issue in similar if issue.number not in {other.number for other in results}] + results
        except TriageError as error:
            unknown = error
            self._people.note(f"duplicates were not all looked for: {error}")
        self._show(similar)
        if self._wish.yes or (not similar and unknown is None):
            return True
        if self._people.ask is not None:
            return self._people.ask("Open another issue all the same?")
        exact = next((issue for issue in similar if issue.exact), None)
        if exact is not None:
            name = f"{self._endpoints.repository}#{exact.number}"
            raise InputError(f"{name} has the same signature: use --issue {exact.number}, or --yes for another")
        if unknown is not None:
            raise EnvironmentFault(f"{unknown}; so there may be such an issue: --yes opens one all the same")
        return True

    def _search(self) -> list[Similar]:
        return duplicates.search(self._client, self._endpoints, self._message.signature, self._message.headline)

    def _show(self, similar: list[Similar]) -> None:
        for issue in similar:
            relation = "same signature" if issue.exact else "reads alike"
            state = f" ({issue.state})" if issue.state else ""
            self._people.note(f"{relation}: #{issue.number} {issue.title}{state} {issue.url}".replace("  ", " "))
