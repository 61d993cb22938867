// A run as a component sees it: its events folded, drawn at most once a frame.

import { useEffect, useRef, useState } from 'preact/hooks';
import type { Refused } from './api';
import { ended, type Event } from './events';
import { empty, fold, type State } from './fold';
import { follow, type Connection } from './stream';

export interface Followed {
  state: State;
  connection: Connection;
  failed: Refused | null;
  /** again follows a run that was over and goes on. */
  again: () => void;
}

/** useRun follows a run until it is over. Who stays hears what comes behind that too, while the page is looked at: browsers have few connections. */
export function useRun(id: string, stay = false): Followed {
  const [state, setState] = useState<State>(empty);
  const [connection, setConnection] = useState<Connection>('connecting');
  const [failed, setFailed] = useState<Refused | null>(null);
  const [round, setRound] = useState(0);
  const now = useRef<{ id: string; state: State }>({ id: '', state: empty });

  useEffect(() => {
    if (now.current.id !== id) {
      now.current = { id, state: empty };
      setState(empty);
    }
    setFailed(null);
    let waiting: Event[] = [];
    let last = now.current.state.seq;
    let frame = 0;
    const draw = () => {
      frame = 0;
      now.current.state = fold(now.current.state, waiting);
      waiting = [];
      setState(now.current.state);
      leave();
    };
    // A page that nobody looks at gets no frames.
    const soon = () => (document.hidden ? (setTimeout(draw, 50) as unknown as number) : requestAnimationFrame(draw));
    let left = false;
    const leave = () => stay && document.hidden && ended(now.current.state.status) && ((left = true), stop());
    const stop = follow(id, {
      after: () => last,
      events: (batch) => {
        waiting.push(...batch);
        for (const e of batch) if (e.seq && e.seq > last) last = e.seq;
        frame ||= soon();
      },
      state: setConnection,
      failed: setFailed,
    }, stay);
    const shown = () => {
      if (document.hidden) leave();
      else if (left) setRound((n) => n + 1);
      else if (waiting.length) draw();
    };
    document.addEventListener('visibilitychange', shown);
    return () => {
      stop();
      document.removeEventListener('visibilitychange', shown);
    };
  }, [id, round]);

  return { state, connection, failed, again: () => setRound((n) => n + 1) };
}
