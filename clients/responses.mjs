// What the official client does with /v1/responses: answer, stream, go on in the
// middle, go on with a conversation, background, cancel, delete.
import assert from 'node:assert';
import OpenAI, { NotFoundError } from 'openai';

const [base, key, text] = process.argv.slice(2);
const client = new OpenAI({ baseURL: base + '/v1', apiKey: key, maxRetries: 0 });

const made = await client.responses.create({ model: 'chat', input: 'Why is the sky blue?', metadata: { topic: 'sky' } });
assert.equal(made.status, 'completed');
assert.equal(made.output_text, text);
assert.ok(made.usage.total_tokens > 0);
assert.equal(made.metadata.topic, 'sky');

let last = -1;
let written = '';
let id;
const numbers = [];
const stream = await client.responses.create({ model: 'chat', input: [{ role: 'user', content: 'And the sea?' }], previous_response_id: made.id, stream: true });
for await (const event of stream) {
  assert.ok(event.sequence_number > last, `${event.sequence_number} after ${last}`);
  last = event.sequence_number;
  numbers.push(last);
  if (event.type === 'response.created') id = event.response.id;
  if (event.type === 'response.output_text.delta') written += event.delta;
  if (event.type === 'response.completed') assert.equal(event.response.previous_response_id, made.id);
}
assert.equal(written, text);

// The helper that puts a stream together itself sees the same.
const helped = await client.responses.stream({ model: 'chat', input: 'And the sun?' }).finalResponse();
assert.equal(helped.output_text, text);

const whole = [];
for await (const event of await client.responses.retrieve(id, { stream: true })) whole.push(event);
for (const [i, at] of whole.entries()) {
  const rest = [];
  for await (const event of await client.responses.retrieve(id, { stream: true, starting_after: at.sequence_number })) rest.push(event);
  assert.deepEqual(whole.slice(0, i + 1).concat(rest), whole);
}

let later = await client.responses.create({ model: 'chat', input: 'Why is grass green?', background: true });
assert.equal(later.background, true);
while (later.status === 'queued' || later.status === 'in_progress') later = await client.responses.retrieve(later.id);
assert.equal(later.output_text, text);

const waiting = await client.responses.create({ model: 'chat', input: 'wait for ever', background: true });
assert.equal((await client.responses.cancel(waiting.id)).status, 'cancelled');

const items = [];
for await (const item of client.responses.inputItems.list(made.id)) items.push(item);
assert.equal(items[0].content[0].text, 'Why is the sky blue?');

await client.responses.delete(made.id);
await assert.rejects(client.responses.retrieve(made.id), NotFoundError);
console.log('ok');
