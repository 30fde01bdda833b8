import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client';
import type { ServiceFigures, ServiceFigureStore } from '../../db/operations/service-figures.ts';

export interface Metrics {
  /** `Content-Type` of the text. */
  contentType: string;
  /** Returns the metrics of this process and the service in Prometheus format, even when the database is down. */
  text(): Promise<string>;
  /** Counts a response. `route` is the path pattern, never the path. */
  observeRequest(request: { method: string; route: string; status: number; seconds: number }): void;
  /** Registry for further metrics of this process. */
  registry: Registry;
}

/** Minimum time between two reads of the database figures, regardless of the number of scrapes. */
const freshMs = 5_000;
const longestReadMs = 2_000;

export function createMetrics({
  figures,
  now = Date.now,
}: {
  figures: ServiceFigureStore;
  now?: () => number;
}): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, prefix: 'docket_api_' });
  const registers = [registry];
  const requests = new Histogram({
    name: 'docket_http_request_duration_seconds',
    help: 'Time from a request to the end of its answer; streams count for as long as they are open.',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60],
    registers,
  });
  const gauge = (name: string, help: string) => new Gauge({ name, help, registers });
  const isUp = gauge('docket_database_up', 'Whether the database answered: 1 or 0.');
  const jobs = new Gauge({ name: 'docket_jobs', help: 'Jobs by status.', labelNames: ['status'], registers });
  const waiting = gauge('docket_jobs_waiting', 'Jobs that wait for a worker.');
  const oldest = gauge('docket_jobs_oldest_waiting_seconds', 'How long the first of them has waited.');
  const unstarted = gauge('docket_jobs_unstarted', 'Turns of jobs whose start Temporal has not confirmed.');
  const deliveries = gauge('docket_webhook_deliveries_pending', 'Webhook messages that are still to be delivered.');
  const workers = gauge('docket_workers', 'Worker processes heard of in the last minute.');
  const counter = (name: string, help: string) => new Counter({ name, help, registers });
  const totals = {
    inputTokens: counter('docket_model_input_tokens_total', 'Tokens that jobs sent to models.'),
    outputTokens: counter('docket_model_output_tokens_total', 'Tokens that models answered to jobs.'),
    costMicros: counter('docket_model_cost_dollars_total', 'US dollars that jobs have cost, where prices are known.'),
  };
  let readAt = -Infinity;

  function show(read: ServiceFigures): void {
    jobs.reset();
    for (const { status, count } of read.jobs) jobs.set({ status }, count);
    waiting.set(read.waiting);
    oldest.set(read.oldestWaitingSeconds);
    unstarted.set(read.unstarted);
    deliveries.set(read.pendingDeliveries);
    workers.set(read.workers);
    for (const counter of Object.values(totals)) counter.reset();
    totals.inputTokens.inc(read.inputTokens);
    totals.outputTokens.inc(read.outputTokens);
    totals.costMicros.inc(read.costMicros / 1e6);
  }

  async function refresh(): Promise<void> {
    if (now() - readAt < freshMs) return;
    readAt = now();
    try {
      show(await withinMs(figures.read(), longestReadMs));
      isUp.set(1);
    } catch {
      isUp.set(0);
    }
  }

  return {
    contentType: registry.contentType,
    async text() {
      await refresh();
      return registry.metrics();
    },
    registry,
    observeRequest({ method, route, status, seconds }) {
      requests.observe({ method, route, status: String(status) }, seconds);
    },
  };
}

function withinMs<Value>(work: Promise<Value>, limitMs: number): Promise<Value> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error('The database did not answer in time.')), limitMs);
  return Promise.race([work, promise]).finally(() => clearTimeout(timer));
}
