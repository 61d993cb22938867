// Checks of fold, run by the Go test of this folder with Node.js over logs that
// were recorded: node script.mjs LOG…

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import type { Event } from './events';
import { empty, fold, settled, type State } from './fold';

const freeze = <T>(x: T): T => {
  if (x && typeof x === 'object' && !Object.isFrozen(x)) {
    Object.freeze(x);
    Object.values(x).forEach(freeze);
  }
  return x;
};

const same = (a: State, b: State, what: string) => assert.deepEqual(a, b, what);
let checks = 0;

for (const file of process.argv.slice(2)) {
  const log: Event[] = readFileSync(file, 'utf8').split('\n').filter(Boolean).map((l) => freeze(JSON.parse(l)));
  const whole = freeze(fold(empty, log));
  assert.ok(whole.seq > 0 && whole.question, file);

  for (let cut = 0; cut <= log.length; cut += 7) {
    const before = freeze(fold(empty, log.slice(0, cut))); // a fold that changed its input would throw
    same(fold(before, log.slice(cut)), whole, `${file}: cut at ${cut}`);
    same(fold(before, log.slice(0, cut).filter((e) => e.seq)), before, `${file}: told again up to ${cut}`);
    checks += 2;
  }
  same(log.reduce((s, e) => fold(s, [e]), empty), whole, `${file}: one by one`);

  // Who comes late has no transient events, and sees the same.
  same(settled(fold(empty, log.filter((e) => e.seq))), settled(whole), `${file}: without what is transient`);

  // What is not known, missing or null does no harm.
  const strange: Event[] = log.flatMap((e) => [
    e, { kind: 'never.heard.of', data: { status: 'done' } }, { kind: 'message' }, { kind: e.kind, data: null }, null as any, { kind: 7 as any },
  ]);
  assert.equal(fold(empty, strange).seq, whole.seq);
  for (const e of log) {
    const nulls = Object.fromEntries(Object.keys(e.data ?? {}).map((k) => [k, null]));
    for (const data of [nulls, {}, [], 'text', 7] as any[]) fold(whole, [{ kind: e.kind, data }, { kind: e.kind, agent: 'x/y', data }]);
    checks++;
  }
  console.log(file.split('/').pop(), whole.status, `${whole.agents.length} agents, ${whole.sources.length} sources, ${whole.searches.length} searches, ${whole.sections.length} sections, ${whole.asks.length} asks`);
}

// Events that a resumed run made void are as if they had not been.
const one = (seq: number, kind: string, data: any): Event => ({ seq, kind, data });
const kept = [one(1, 'run.status', { status: 'running' }), one(2, 'note.added', { text: 'kept' })];
const again = fold(empty, [...kept, one(3, 'note.added', { text: 'void' }), one(4, 'run.status', { status: 'failed' }), one(5, 'run.reopened', { void: [[3, 4]] }), one(6, 'run.status', { status: 'running' })]);
assert.deepEqual(again.notes.map((n) => n.text), ['kept']);
assert.equal(again.status, 'running');
assert.equal(again.seq, 6);
assert.equal(again.log.length, 6);

// What has to be known fills up.
const known = fold(empty, [one(1, 'coverage', { of: 'rubric', covered: 1, total: 3, items: [{ question: 'a', state: 'covered' }, { question: 'b', state: 'missing' }, null] }), one(2, 'coverage', { of: 'facets', covered: 1, total: 1 })]);
assert.deepEqual(known.rubric.map((x) => x.state), ['done', 'missing', 'pending']);

// How long work took is counted while the run works, not while it rests.
const second = (n: number, kind: string, data: any): Event => ({ seq: n, kind, data, time: new Date(1e12 + n * 1000).toISOString() });
const todo = (n: number, state: string) => second(n, 'todo.updated', { agent: 'one', id: 'a', title: 'read', state });
const rested = fold(empty, [
  second(1, 'run.status', { status: 'running' }), second(2, 'agent.started', { name: 'one', task: 'read' }), todo(3, 'active'), second(4, 'run.status', { status: 'paused' }),
  second(90, 'run.status', { status: 'running' }), todo(92, 'done'), second(93, 'agent.finished', { name: 'one' }), todo(99, 'done'),
]);
assert.deepEqual([rested.agents[0].took, rested.agents[0].todos[0].took], [5000, 3000]);

// What the report is to say is not what is to be found out; a section that is written is done.
const plan = (agent: string, title: string): Event => ({ seq: 0, agent, kind: 'plan.updated', data: { steps: [{ title, state: 'pending' }] } });
const written = fold(empty, [plan('', 'found out'), plan('write', 'written')]);
assert.deepEqual([written.plan?.steps[0].title, written.outline], ['found out', ['written']]);
assert.equal(fold(written, [{ kind: 'report.section', data: { index: 0, title: 'found out', text: '' } }]).plan?.steps[0].state, 'done');

// A note is whose it says, else of who speaks; what the user said is nobody's.
const noted = fold(empty, [
  one(1, 'agent.started', { name: 'a' }), one(2, 'agent.started', { name: 'b' }), one(3, 'note.added', { text: 'of a', agent: 'a' }), { ...one(4, 'note.added', { text: 'of b' }), agent: 'b/work' },
  one(5, 'note.added', { id: 'user', text: 'said' }),
]);
assert.deepEqual(noted.agents.map((a) => a.notes), [['of a'], ['of b']]);
assert.deepEqual(noted.notes.filter((n) => n.user).map((n) => n.text), ['said']);

// Pieces that were missed leave a mark, and those that follow each other none; bytes are counted, not letters.
const delta = (text: string, at: number, reset = false): Event => ({ kind: 'answer.delta', data: { text, at, reset } });
assert.equal(fold(empty, [delta('гавань', 0), delta(' и ', 12), delta('пирс', 16)]).draft, 'гавань и пирс');
assert.equal(fold(empty, [delta('пирс', 16)]).draft, ' … пирс');
assert.equal(fold(empty, [delta('пирс', 16), delta('anew', 0, true)]).draft, 'anew');
assert.equal(fold(empty, [{ kind: 'model.waiting', data: { code: 'quiet' } }, delta('x', 0)]).waiting, null);
console.log('checks', checks);
