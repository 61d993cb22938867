"""What the official client does with /v1/responses: answer, stream, go on in the
middle, background, cancel, delete."""

import sys

from openai import NotFoundError, OpenAI

base, key, text = sys.argv[1:4]
client = OpenAI(base_url=base + "/v1", api_key=key, max_retries=0)

made = client.responses.create(model="chat", input="Why is the sky blue?", metadata={"topic": "sky"})
assert made.status == "completed" and made.output_text == text, made
assert made.usage.total_tokens > 0 and made.metadata == {"topic": "sky"}, made

written, numbers, name = "", [], ""
for event in client.responses.create(model="chat", input="And the sea?", previous_response_id=made.id, stream=True):
    numbers.append(event.sequence_number)
    if event.type == "response.created":
        name = event.response.id
    if event.type == "response.output_text.delta":
        written += event.delta
assert written == text and numbers == sorted(set(numbers)), (written, numbers)

# The helper that puts a stream together itself sees the same.
with client.responses.stream(model="chat", input="And the sun?") as stream:
    for event in stream:
        pass
    assert stream.get_final_response().output_text == text

whole = [event.to_json() for event in client.responses.retrieve(name, stream=True)]
for i, event in enumerate(client.responses.retrieve(name, stream=True)):
    rest = [e.to_json() for e in client.responses.retrieve(name, stream=True, starting_after=event.sequence_number)]
    assert whole[: i + 1] + rest == whole, event.sequence_number

later = client.responses.create(model="chat", input="Why is grass green?", background=True)
while later.status in ("queued", "in_progress"):
    later = client.responses.retrieve(later.id)
assert later.output_text == text and later.background, later

waiting = client.responses.create(model="chat", input="wait for ever", background=True)
assert client.responses.cancel(waiting.id).status == "cancelled"

items = list(client.responses.input_items.list(made.id))
assert items[0].content[0].text == "Why is the sky blue?", items

client.responses.delete(made.id)
try:
    client.responses.retrieve(made.id)
except NotFoundError:
    print("ok")
