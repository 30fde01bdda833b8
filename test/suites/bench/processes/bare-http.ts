import { createServer } from 'node:http';
import type { ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { answerParent } from '../support/answer-parent.ts';
import { createDeltaClock, dueMark } from '../support/delta-clock.ts';

// node:http that writes a recorded stream, event by event, and nothing else.
interface Recording {
  headers: Record<string, string>;
  events: string[];
}

let recording: Recording = { headers: {}, events: [] };
let everyMs = 0;
const clock = createDeltaClock();

const server = createServer((request, response) => {
  request.resume().on('end', () => {
    response.writeHead(200, recording.headers);
    if (everyMs > 0) return writeClocked(response);
    for (const event of recording.events) response.write(event);
    response.end();
  });
});
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));

function writeClocked(response: ServerResponse): void {
  let at = 0;
  const stop = clock.add(everyMs, (dueMs) => {
    response.write((recording.events[at] ?? '').replace(/@\d{9} /, dueMark(dueMs)));
    at += 1;
    if (at < recording.events.length) return true;
    response.end();
    return false;
  });
  response.on('close', stop);
}

answerParent({
  port: () => (server.address() as AddressInfo).port,
  record(input: Recording & { everyMs: number }) {
    recording = input;
    ({ everyMs } = input);
  },
});
