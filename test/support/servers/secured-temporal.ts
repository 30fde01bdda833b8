import { once } from 'node:events';
import { connect, constants, createSecureServer, type Http2Session } from 'node:http2';
import type { AddressInfo } from 'node:net';
import type { Certificate } from './test-authority.ts';

export interface Demands {
  /** The authority that certificates of clients come from, in PEM. */
  clientAuthority: string;
  apiKey: string;
}

/** Starts a TLS proxy to a Temporal server that demands a client certificate and an API key. */
export async function startSecuredTemporal(target: string, server: Certificate, first: Demands) {
  let demands = first;
  const sessions = new Set<Http2Session>();
  const upstream = connect(`http://${target}`);
  const tls = (clientAuthority: string) => ({
    ...server,
    ca: clientAuthority,
    requestCert: true,
    rejectUnauthorized: true,
  });
  const listener = createSecureServer(tls(first.clientAuthority));
  const refused: string[] = [];
  listener.on('session', (session) => {
    sessions.add(session);
    session.on('close', () => sessions.delete(session)).on('error', () => undefined);
  });
  listener.on('tlsClientError', (error) => refused.push(error.message));
  listener.on('stream', (stream, headers) => {
    stream.on('error', () => undefined);
    if (headers.authorization !== `Bearer ${demands.apiKey}`) {
      refused.push('api key');
      stream.respond({ ':status': 200, 'content-type': 'application/grpc', 'grpc-status': '16' }, { endStream: true });
      return;
    }
    const { ':scheme': _, ':authority': __, authorization: ___, host: ____, ...passed } = headers;
    const request = upstream.request(passed);
    stream.on('aborted', () => request.close(constants.NGHTTP2_CANCEL));
    request.on('error', () => stream.close());
    let trailers = {};
    request.on('trailers', (given) => (trailers = given));
    request.on('response', (answer, flags) => {
      if (stream.closed) return;
      const endStream = (flags & constants.NGHTTP2_FLAG_END_STREAM) !== 0;
      stream.respond(answer, { endStream, waitForTrailers: !endStream });
      stream.on('wantTrailers', () => stream.sendTrailers(trailers));
      if (!endStream) request.pipe(stream);
    });
    stream.pipe(request);
  });
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const { port } = listener.address() as AddressInfo;
  const hangUp = () => sessions.forEach((session) => session.destroy());
  return {
    address: `127.0.0.1:${port}`,
    /** Reasons for refused clients. */
    refused,
    /** Demands other credentials from now on, also from connected clients. */
    rotate(next: Demands) {
      demands = next;
      listener.setSecureContext(tls(next.clientAuthority));
      hangUp();
    },
    async [Symbol.asyncDispose]() {
      hangUp();
      upstream.destroy();
      listener.close();
      await once(listener, 'close');
    },
  };
}
