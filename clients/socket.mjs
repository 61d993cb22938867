// Talks to a server with socket.io-client: node socket.mjs URL TOKEN SCENARIO [JSON].
// Prints what came as JSON.
import { io } from "socket.io-client";

const [url, token, scenario, argument] = process.argv.slice(2);
const given = argument ? JSON.parse(argument) : {};
const open = [];

const dial = (options = {}) => {
  const socket = io(url, { auth: { token }, forceNew: true, reconnectionDelay: 20, reconnectionDelayMax: 50, ...options });
  open.push(socket);
  return socket;
};
const once = (socket, name) => new Promise((resolve) => socket.once(name, resolve));
const connected = async (options) => {
  const socket = dial(options);
  const refused = once(socket, "connect_error").then((error) => { throw Object.assign(error, { refused: true }); });
  await Promise.race([once(socket, "connect"), refused]);
  return socket;
};
const ask = (socket, name, argument) => socket.emitWithAck(name, argument);

// events collects what comes, all of one run, until that ends.
const events = (socket, seen = []) => new Promise((resolve, reject) => {
  socket.onAny((name, payload) => {
    if (name === "stopped") reject(new Error(JSON.stringify(payload)));
    if (name === "end") return resolve(seen);
    seen.push([name, payload]);
  });
});
const follow = async (socket, run, after) => {
  const all = events(socket);
  const said = await ask(socket, "subscribe", { run, after });
  if (said.error) throw new Error(JSON.stringify(said));
  const seen = await all;
  socket.offAny();
  return seen;
};
const start = async (socket, request, during = () => {}) => {
  const all = events(socket);
  socket.onAny((name, payload) => during(name, payload));
  const said = await ask(socket, "start", request);
  if (said.error) throw new Error(JSON.stringify(said));
  return { run: said.run.id, seen: await all };
};
const transportOf = (socket) => socket.io.engine.transport.name;

const scenarios = {
  // Starts a run over one transport.
  async start() {
    const socket = await connected({ transports: given.transports });
    const { run, seen } = await start(socket, given.request);
    return { run, seen, transport: transportOf(socket) };
  },
  // Starts with polling and goes on over a WebSocket.
  async upgrade() {
    const socket = dial();
    let before;
    const upgraded = new Promise((resolve) => socket.io.once("open", () => {
      before = transportOf(socket);
      socket.io.engine.once("upgrade", resolve);
    }));
    await once(socket, "connect");
    const { seen } = await start(socket, { ...given.request, question: "one ask two" }, async (name, payload) => {
      if (name !== "clarification" || payload.kind !== "clarify.asked") return;
      await upgraded;
      await ask(socket, "answer", { run: payload.run, text: "now" });
    });
    return { before, after: transportOf(socket), seen };
  },
  // Answers what a run asks.
  async answer() {
    const socket = await connected({ transports: given.transports });
    const { seen } = await start(socket, given.request, (name, payload) => {
      if (payload.kind === "clarify.asked") socket.emit("answer", { run: payload.run, ask: payload.data.id, text: "second" });
    });
    return { seen };
  },
  // Starts a run that waits, and cancels it.
  async cancel() {
    const socket = await connected({ transports: given.transports });
    const { seen } = await start(socket, given.request, async (name, payload) => {
      if (payload.kind === "run.status" && payload.data.status === "running") await ask(socket, "cancel", { run: payload.run });
    });
    return { seen };
  },
  // Follows a run from each of its sequences on, each time over a new connection.
  async every() {
    const whole = await follow(await connected({ transports: given.transports }), given.run, 0);
    const rests = [];
    for (let after = 1; after <= whole.length; after++) {
      const socket = await connected({ transports: given.transports });
      rests.push(await follow(socket, given.run, after));
      socket.disconnect();
    }
    return { whole, rests };
  },
  // Loses its connection in the middle of a run and comes back by itself.
  async reconnect() {
    const socket = dial({ transports: given.transports });
    let run, last = 0, connections = 0;
    const seen = [];
    const ended = new Promise((resolve, reject) => {
      socket.on("connect", async () => {
        connections++;
        if (!run) return;
        const said = await ask(socket, "subscribe", { run, after: last });
        if (said.error) reject(new Error(JSON.stringify(said)));
        if (connections === 2) await ask(socket, "answer", { run, text: "back" });
      });
      socket.onAny((name, payload) => {
        if (name === "end") return resolve();
        if (!payload.seq) return;
        seen.push(payload);
        last = payload.seq;
        if (payload.kind === "run.status" && payload.data.status === "waiting") socket.io.engine.close();
      });
    });
    await once(socket, "connect");
    const said = await ask(socket, "start", given.request);
    if (said.error) throw new Error(JSON.stringify(said));
    run = said.run.id;
    await ended;
    return { run, seen, connections };
  },
  // Starts a run and leaves at once.
  async leave() {
    const socket = await connected({ transports: given.transports });
    const said = await ask(socket, "start", given.request);
    socket.disconnect();
    return said;
  },
  // Asks for things and returns what was said.
  async ask() {
    const socket = await connected(given.options);
    const said = [];
    for (const [name, ...rest] of given.asks) said.push(await socket.emitWithAck(name, ...rest));
    return { said, transport: transportOf(socket) };
  },
  // Follows a run to its end and then asks for something.
  async later() {
    const socket = await connected();
    const { run } = await start(socket, given.request);
    return { later: await ask(socket, "subscribe", { run }) };
  },
  // Is refused.
  async refused() {
    try {
      await connected(given.options);
      return {};
    } catch (error) {
      if (!error.refused) throw error;
      return { message: error.message, data: error.data };
    }
  },
};

try {
  console.log(JSON.stringify(await scenarios[scenario]()));
} finally {
  for (const socket of open) socket.disconnect();
}
