# The official client of OpenAI's API in Python: see openai_chat.mjs.
import json
import sys

import openai as api

url, key = sys.argv[1:]
client = api.OpenAI(base_url=url + "/v1", api_key=key, max_retries=0)
messages = [{"role": "user", "content": "Why is the sky blue?"}]
out = {"models": [m.id for m in client.models.list()]}
out["whole"] = client.chat.completions.create(model="chat", messages=messages).choices[0].message.content

out["streamed"] = ""
for chunk in client.chat.completions.create(model="chat", messages=messages, stream=True, stream_options={"include_usage": True}):
    if chunk.choices:
        out["streamed"] += chunk.choices[0].delta.content or ""
    if chunk.usage:
        out["usage"] = chunk.usage.total_tokens > 0

tools = [{"type": "function", "function": {"name": "weather", "description": "the weather at a place", "parameters": {"type": "object", "properties": {"place": {"type": "string"}}, "required": ["place"]}}}]
weather = [{"role": "user", "content": "What is the weather in Aune?"}]
called = client.chat.completions.create(model="chat", messages=weather, tools=tools).choices[0]
out["reason"] = called.finish_reason
call = called.message.tool_calls[0]
out["call"] = {"name": call.function.name, "arguments": call.function.arguments}
after = weather + [called.message.to_dict(), {"role": "tool", "tool_call_id": call.id, "content": "rain"}]
out["after"] = client.chat.completions.create(model="chat", messages=after, tools=tools).choices[0].message.content

with client.chat.completions.stream(model="chat", messages=weather, tools=tools) as stream:
    out["streamedCall"] = stream.get_final_completion().choices[0].message.tool_calls[0].function.name

schema = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"], "additionalProperties": False}
shaped = client.chat.completions.create(
    model="chat", messages=[{"role": "user", "content": "A colour as JSON"}],
    response_format={"type": "json_schema", "json_schema": {"name": "colour", "strict": True, "schema": schema}},
)
out["shaped"] = json.loads(shaped.choices[0].message.content)

vectors = client.embeddings.create(model="any", input=["sea", "mountain"])
out["vectors"] = [len(d.embedding) > 1 and any(x != 0 for x in d.embedding) for d in vectors.data]

try:
    client.chat.completions.create(model="nothing", messages=messages)
except api.APIStatusError as err:
    out["error"] = [err.status_code, err.code, "Invalid model 'nothing'" in err.message]
print(json.dumps(out))
