"""An SGR flow with OpenAI's client: an agent is a model, and so is its id.

Arguments: the server's address, a token, the name of an agent.
"""

import json
import sys
import urllib.request

from openai import OpenAI

url, token, model = sys.argv[1:]
client = OpenAI(base_url=url + "/v1", api_key=token)

TASK = "How many years does an Aune spotted newt live?"
REPLY = "The newt of the river Aune."


def ask(method, path):
    request = urllib.request.Request(url + path, method=method, headers={"Authorization": "Bearer " + token})
    with urllib.request.urlopen(request) as reply:
        return json.load(reply)


def say(model, text):
    """Returns the agent's id and the last thing that it says."""
    agent = last = None
    calls = {}
    for chunk in client.chat.completions.create(model=model, messages=[{"role": "user", "content": text}], stream=True):
        agent = chunk.model
        choice = chunk.choices[0]
        for call in choice.delta.tool_calls or []:
            assert call.index not in calls, "a call comes in one piece"
            calls[call.index] = json.loads(call.function.arguments)
        if choice.finish_reason:
            assert chunk.id.endswith("-final"), chunk.id
            assert chunk.usage.total_tokens > 0
            last = choice.delta.content
    assert calls, "the agent calls tools"
    return agent, last


def state(agent):
    return ask("GET", f"/agents/{agent}/state")["state"]


assert model in [m.id for m in client.models.list()]

first, asked = say(model, TASK)
print("asked:", asked)
print("state:", state(first))
again, answer = say(first, REPLY)
assert again == first
print("model:", answer)
print("state:", state(first))

second, _ = say(model, TASK)
again, answer = say(model, f"{second}: {REPLY}")
assert again == second != first
print("text:", answer)

raw = client.chat.completions.with_raw_response.create(model=model, messages=[{"role": "user", "content": TASK}])
third = raw.headers["X-Agent-ID"]
assert raw.parse().choices[0].message.content == asked
body = json.dumps({"messages": [{"role": "user", "content": REPLY}]}).encode()
request = urllib.request.Request(
    f"{url}/agents/{third}/provide_clarification",
    data=body,
    headers={"Authorization": "Bearer " + token, "Content-Type": "application/json"},
)
with urllib.request.urlopen(request) as reply:
    chunks = [line[len("data: "):] for line in reply.read().decode().splitlines() if line.startswith("data: ")]
assert chunks[-1] == "[DONE]"
print("clarification:", json.loads(chunks[-2])["choices"][0]["delta"]["content"])

print("agents:", ask("GET", "/agents")["total"])
print("deleted:", ask("DELETE", f"/agents/{first}")["final_state"])
