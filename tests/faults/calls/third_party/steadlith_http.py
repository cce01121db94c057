"""Embedder `http`, as a third party would write one: texts to vectors by a JSON call, on the standard library alone.

It says of each failure what an apply may do about it, and neither waits nor tries again itself. Who wants to use it
puts this folder on the path: the entry point stands beside it.
"""

import json
import time
from email.utils import parsedate_to_datetime
from http.client import HTTPConnection, HTTPException
from urllib.parse import urlsplit

from steadlith_core import vectors
from steadlith_core.errors import EmbeddingError, Failure
from steadlith_core.ports import EmbedderIdentity

TRANSIENT = {408, 425, 429, *range(500, 600)}
INPUT = {400, 413, 422}


class HttpEmbedder:
    def __init__(self, url, timeout):
        self._url = urlsplit(url)
        self._timeout = timeout

    def embed_documents(self, texts):
        status, headers, body = self._call(json.dumps({"texts": list(texts)}).encode())
        if status != 200:
            raise _refusal(status, headers, body)
        try:
            answer = json.loads(body)
        except ValueError as error:
            raise EmbeddingError(f"the answer is cut short: {error}", failure=Failure.TRANSIENT) from error
        return [vectors.pack(row) for row in answer["vectors"]]

    def embed_query(self, text):
        return self.embed_documents([text])[0]

    def _call(self, body):
        connection = HTTPConnection(self._url.hostname, self._url.port, timeout=self._timeout)
        try:
            connection.request("POST", self._url.path, body)
            with connection.getresponse() as answer:
                return answer.status, answer.headers, answer.read()
        except (OSError, HTTPException) as error:
            message = f"no answer: {type(error).__name__}: {error}"
            raise EmbeddingError(message, failure=Failure.TRANSIENT) from error
        finally:
            connection.close()


def _refusal(status, headers, body):
    message = f"{status} from the provider: {body.decode(errors='replace')[:200]}"
    if status in TRANSIENT:
        return EmbeddingError(message, failure=Failure.TRANSIENT, retry_after=_seconds(headers.get("Retry-After", "")))
    if status in INPUT:
        return EmbeddingError(message, failure=Failure.INPUT, inputs=json.loads(body).get("inputs", ()))
    return EmbeddingError(message)


def _seconds(asked):
    """RFC 9110, 10.2.3: a number of seconds, or a date. Nothing for what is neither."""
    if asked.isdecimal():
        return float(asked)
    try:
        return parsedate_to_datetime(asked).timestamp() - time.time()
    except ValueError:
        return None


class HttpFactory:
    def describe(self, settings):
        dimensions = settings["dimensions"]
        return EmbedderIdentity(f"http/{settings.get('model', 1)}", dimensions, {"dimensions": dimensions})

    def build(self, settings):
        return HttpEmbedder(settings["url"], float(settings.get("timeout", 10)))


FACTORY = HttpFactory()
