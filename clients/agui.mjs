// Talks to a server with @ag-ui/client: node agui.mjs URL TOKEN JSON, where JSON
// has path, question, thread, props (forwarded) and answers (to interrupts, in
// turn). Prints what came as JSON.
import { HttpAgent } from "@ag-ui/client";

const [url, token, argument] = process.argv.slice(2);
const given = JSON.parse(argument);

const agent = new HttpAgent({
  url: url + given.path,
  headers: token ? { Authorization: "Bearer " + token } : {},
  threadId: given.thread ?? "thread-1",
  initialMessages: given.messages ?? [{ id: "u1", role: "user", content: given.question ?? "hello" }],
});

const streams = [];
const run = async (parameters) => {
  const stream = { events: [] };
  streams.push(stream);
  let failed;
  const result = await agent.runAgent({ runId: "client-run-" + streams.length, ...parameters }, {
    onEvent: ({ event }) => { stream.events.push(event); },
    onRunErrorEvent: ({ event }) => { stream.error = event; },
    onRunFailed: ({ error }) => { failed = error; },
    onRunFinishedEvent: ({ outcome, interrupts }) => { stream.outcome = outcome; stream.interrupts = interrupts; },
  }).catch((error) => { failed = error; });
  if (failed && !stream.error) stream.failed = String(failed.message ?? failed);
  stream.result = result?.result;
  return stream;
};

let last = await run({ forwardedProps: given.props });
for (const answer of given.answers ?? []) {
  if (last.outcome !== "interrupt") break;
  last = await run({
    resume: last.interrupts.map((i) => ({ interruptId: i.id, ...(answer === null ? { status: "cancelled" } : { status: "resolved", payload: answer }) })),
  });
}
console.log(JSON.stringify({ streams, messages: agent.messages, state: agent.state }));
