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
console.log('checks', checks);
