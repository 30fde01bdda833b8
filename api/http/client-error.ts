import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';

const refusals: Record<string, { status: number; sentence: string }> = {
  HPE_HEADER_OVERFLOW: { status: 431, sentence: 'The header fields are too large.' },
  HPE_CHUNK_EXTENSIONS_OVERFLOW: { status: 413, sentence: 'The chunk extensions of the body are too large.' },
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, sentence: 'The request did not arrive in time.' },
};

/** Answers what Node's parser refused with the JSON error, once, and closes the connection. */
export function writeClientError(error: NodeJS.ErrnoException, socket: Duplex, isAnswering: boolean): void {
  // bytes in the middle of another answer would be read as part of it
  if (isAnswering || !socket.writable || error.code === 'ECONNRESET') {
    socket.destroy(error);
    return;
  }
  const { status, sentence } = refusals[error.code ?? ''] ?? {
    status: 400,
    sentence: 'The request is not valid HTTP.',
  };
  const body = JSON.stringify({ error: sentence });
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}
