import type { Usage, UsedDay } from '../../db/organizations/usage.ts';
import type { PublicUsage } from './usage-schemas.ts';

interface Limits {
  assistantPerHour: number;
  /** Daily budget, in millionths of a US dollar. A project's own budget never exceeds it. */
  dayMicros: number | null;
}

/** Returns usage and limits as series without gaps: a day without activity contains zeros. */
export function presentUsage({ days, keys, organization, projects }: Usage, limits: Limits): PublicUsage {
  const whole = (used: UsedDay[]) => {
    const known = new Map(used.map((one) => [one.day, one]));
    return days.map((day) => {
      const { requests = 0, refused = 0, busiestHour = 0 } = known.get(day) ?? {};
      return { day, requests, refused, busiestHour };
    });
  };
  return {
    assistant: {
      limitPerHour: limits.assistantPerHour,
      keys: keys.map(({ id, name, isRevoked, days }) => ({ id, name, isRevoked, days: whole(days) })),
      organization: whole(organization),
    },
    projects: projects.map(({ id, name, budgetMicros, days: spent }) => {
      const known = new Map(spent.map(({ day, costMicros }) => [day, costMicros]));
      const micros = lesserOf(budgetMicros, limits.dayMicros);
      return {
        id,
        name,
        budgetUsd: micros === null ? null : micros / 1e6,
        days: days.map((day) => ({ day, costUsd: (known.get(day) ?? 0) / 1e6 })),
      };
    }),
  };
}

function lesserOf(one: number | null, other: number | null): number | null {
  if (one === null || other === null) return one ?? other;
  return Math.min(one, other);
}
