import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import { listening } from './listening.ts';

export interface CollectedSpan {
  service: string;
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind: number;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes: Record<string, string | number | boolean | string[]>;
  links: { traceId: string; spanId: string }[];
  status: { code: number };
}

export interface TraceCollector extends AsyncDisposable {
  endpoint: string;
  spans: CollectedSpan[];
  /** Everything received, verbatim. */
  text: string;
  /** Number of further requests to answer with 503. */
  refuse: number;
  authorization: string | undefined;
}

/** Starts an OpenTelemetry collector that keeps what it receives. */
export async function startTraceCollector(): Promise<TraceCollector> {
  const server = createServer(async (request, response) => {
    const body: any = await json(request);
    collector.authorization = request.headers.authorization;
    if (request.url !== '/v1/traces' || request.headers['content-type'] !== 'application/json')
      response.statusCode = 400;
    else if (collector.refuse > 0) {
      collector.refuse -= 1;
      response.statusCode = 503;
    } else {
      collector.text += JSON.stringify(body);
      for (const { resource, scopeSpans } of body.resourceSpans)
        for (const span of scopeSpans[0].spans)
          collector.spans.push({
            ...span,
            service: valuesOf(resource.attributes)['service.name'],
            attributes: valuesOf(span.attributes),
          });
    }
    response.end('{}');
  });
  const at = await listening(server);
  const collector: TraceCollector = {
    endpoint: `http://127.0.0.1:${at.port}`,
    spans: [],
    text: '',
    refuse: 0,
    authorization: undefined,
    [Symbol.asyncDispose]: at[Symbol.asyncDispose],
  };
  return collector;
}

function valuesOf(attributes: { key: string; value: Record<string, any> }[]): Record<string, any> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, valueOf(value)]));
}

function valueOf(value: Record<string, any>): any {
  if ('intValue' in value) return Number(value['intValue']);
  if ('arrayValue' in value) return value['arrayValue'].values.map(valueOf);
  return Object.values(value)[0];
}
