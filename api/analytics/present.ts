import { maxListed, type NamedMeasures, type SiteAnalytics, type SiteMeasures } from '../../db/sites/site-analytics.ts';
import { presentGap } from '../sites/present-gap.ts';
import type { Gap } from '../sites/gaps.ts';
import type { PublicAnalytics } from './schemas.ts';

/** Returns the figures of a site, and its gaps that were asked in the same period. */
export function presentAnalytics(
  { from, to, totals, series, topics, versions, languages, cited, opened }: SiteAnalytics,
  { bucketSeconds, gaps }: { bucketSeconds: number; gaps: Gap[] },
): PublicAnalytics {
  const known = new Map(series.map((point) => [point.at.getTime(), point]));
  const { answered, unanswered, conversations, confirmed, resolved } = totals;
  return {
    from: from.toISOString(),
    to: to.toISOString(),
    bucketSeconds,
    totals: {
      ...presentMeasures(totals),
      answeredShare: shareOf(answered, answered + unanswered),
      deflection: { confirmed: shareOf(confirmed, conversations), resolved: shareOf(resolved, conversations) },
    },
    series: timesOf({ from, to, bucketSeconds }).map((at) => ({
      at: new Date(at).toISOString(),
      ...presentMeasures(known.get(at) ?? nothing),
    })),
    topics: topics.map(presentNamed),
    versions: versions.map(presentNamed),
    languages: languages.map(presentNamed),
    cited,
    opened,
    gaps: gaps
      .map(presentGap)
      .filter(
        ({ state, lastAskedAt }) =>
          !['answered', 'dismissed'].includes(state) && Date.parse(lastAskedAt ?? '') >= from.getTime(),
      )
      .toSorted((a, b) => b.count - a.count)
      .slice(0, maxListed)
      .map(({ id, label, state, count, lastAskedAt }) => ({ id, label, state, count, lastAskedAt })),
  };
}

const nothing: SiteMeasures = {
  answered: 0,
  unanswered: 0,
  interrupted: 0,
  up: 0,
  down: 0,
  conversations: 0,
  resolved: 0,
  confirmed: 0,
  costMicros: 0,
};

function presentMeasures({ answered, unanswered, interrupted, costMicros, ...measures }: SiteMeasures) {
  const { up, down, conversations, resolved, confirmed } = measures;
  const questions = answered + unanswered + interrupted;
  const votes = { up, down, conversations, resolved, confirmed };
  return { questions, answered, unanswered, interrupted, ...votes, costUsd: costMicros / 1e6 };
}

function presentNamed({ name, ...measures }: NamedMeasures) {
  return { name: name === '' ? null : name, ...presentMeasures(measures) };
}

function shareOf(part: number, whole: number): number | null {
  return whole === 0 ? null : part / whole;
}

/** Returns the starts of all intervals, so that one in which nothing happened shows zeros. */
function timesOf({ from, to, bucketSeconds }: { from: Date; to: Date; bucketSeconds: number }): number[] {
  const length = bucketSeconds * 1_000;
  const count = Math.floor((to.getTime() - from.getTime()) / length) + 1;
  return Array.from({ length: count }, (_, position) => from.getTime() + position * length);
}
