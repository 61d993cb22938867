// The official client of OpenAI's API: chat, streamed and not, with functions and
// with a schema. It prints what it got as JSON.
import OpenAI from "openai";

const [url, key] = process.argv.slice(2);
const client = new OpenAI({ baseURL: url + "/v1", apiKey: key, maxRetries: 0 });
const messages = [{ role: "user", content: "Why is the sky blue?" }];
const out = {};

out.models = [];
for await (const m of client.models.list()) out.models.push(m.id);

out.whole = (await client.chat.completions.create({ model: "chat", messages })).choices[0].message.content;

out.streamed = "";
for await (const chunk of await client.chat.completions.create({ model: "chat", messages, stream: true, stream_options: { include_usage: true } })) {
  out.streamed += chunk.choices[0]?.delta?.content ?? "";
  if (chunk.usage) out.usage = chunk.usage.total_tokens > 0;
}

const tools = [{ type: "function", function: { name: "weather", description: "the weather at a place", parameters: { type: "object", properties: { place: { type: "string" } }, required: ["place"] } } }];
const weather = [{ role: "user", content: "What is the weather in Aune?" }];
const called = await client.chat.completions.create({ model: "chat", messages: weather, tools });
out.reason = called.choices[0].finish_reason;
const call = called.choices[0].message.tool_calls[0];
out.call = call.function;
const after = await client.chat.completions.create({
  model: "chat", tools,
  messages: [...weather, called.choices[0].message, { role: "tool", tool_call_id: call.id, content: "rain" }],
});
out.after = after.choices[0].message.content;

const runner = client.chat.completions.stream({ model: "chat", messages: weather, tools });
out.streamedCall = (await runner.finalMessage()).tool_calls[0].function.name;

const shaped = await client.chat.completions.create({
  model: "chat", messages: [{ role: "user", content: "A colour as JSON" }],
  response_format: { type: "json_schema", json_schema: { name: "colour", strict: true, schema: { type: "object", properties: { name: { type: "string" } }, required: ["name"], additionalProperties: false } } },
});
out.shaped = JSON.parse(shaped.choices[0].message.content);

const vectors = await client.embeddings.create({ model: "any", input: ["sea", "mountain"] });
out.vectors = vectors.data.map((d) => d.embedding.length > 1 && d.embedding.some((x) => x !== 0));

try {
  await client.chat.completions.create({ model: "nothing", messages });
} catch (err) {
  out.error = [err.status, err.code, err.message.includes("Invalid model 'nothing'")];
}
console.log(JSON.stringify(out));
