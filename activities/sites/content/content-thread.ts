import { createRequire } from 'node:module';
import { parentPort } from 'node:worker_threads';
import type { PoolAnswer } from '../../../lib/threads/thread-pool.ts';
import { readWebPage } from '../../../search/read/formats/html.ts';
import { agentName } from '../../../search/read/formats/robots-rules.ts';
import { readThread } from '../../../search/read/formats/thread.ts';
import { isHtml, textOfBody } from '../../tools/fetch/page-body.ts';
import { readSitemap } from './read-sitemap.ts';
import type { ReadRequest, ReadResults } from './content-reader.ts';

interface Robots {
  isAllowed(url: string, agent: string): boolean | undefined;
  getCrawlDelay(agent: string): number | undefined;
  getSitemaps(): string[];
}

// its own types describe another kind of module
const robotsParser: (url: string, text: string) => Robots = createRequire(import.meta.url)('robots-parser');

/** Reads what a website sent, in a thread that is ended when it takes too long. */
parentPort?.on('message', (request: ReadRequest) => parentPort?.postMessage(answerOf(request)));

function answerOf(request: ReadRequest): PoolAnswer {
  try {
    return { result: resultOf(request) };
  } catch (error) {
    return { error: error instanceof Error ? error : new Error(String(error)) };
  }
}

let known: { text: string; robots: Robots } | null = null;

function robotsOf({ url, text }: { url: string; text: string }): Robots {
  if (known?.text !== text) known = { text, robots: robotsParser(url, text) };
  return known.robots;
}

function resultOf(request: ReadRequest): ReadResults[keyof ReadResults] {
  if (request.kind === 'thread') return readThread(request);
  if (request.kind === 'sitemap') return readSitemap(request.bytes);
  if (request.kind === 'robots') {
    const robots = robotsOf(request);
    return { sitemaps: robots.getSitemaps(), delaySeconds: robots.getCrawlDelay(agentName) ?? null };
  }
  if (request.kind === 'allowed') return robotsOf(request).isAllowed(request.page, agentName) !== false;
  const decoded = textOfBody(request);
  if ('problem' in decoded) return decoded;
  if (!isHtml(request.type, decoded.text)) return { problem: 'is not HTML' };
  return readWebPage(decoded.text, new URL(request.url)) ?? { problem: 'has no readable page' };
}
