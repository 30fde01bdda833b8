import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { Button } from 'react-aria-components';
import { Figures, Plots } from '../analytics/figures.tsx';
import { Missing, Pages, Breakdowns } from '../analytics/lists.tsx';
import type { Selection } from '../analytics/selection.ts';
import { Choice } from '../components/choice.tsx';
import { Loaded } from '../components/loaded.tsx';
import { useSession } from '../components/session.tsx';
import { NoSites, SiteChoice } from '../components/site-choice.tsx';
import { answerOf, api } from '../http/client.ts';
import type { Analytics } from '../http/types.ts';
import { plain } from '../plain.ts';
import { useTitle } from '../use-title.ts';
import '../styles/settings.css';
import '../styles/assistant.css';
import '../styles/operations.css';

const spans = [1, 7, 30, 90, 365] as const;

/** Shows what readers asked a site: how much, about what, and how well it was answered. */
export function AnalyticsPage() {
  const { sites } = useSession();
  const { site = sites[0]?.domain ?? '', days = 30, version, language } = useSearch({ from: '/analytics' });
  const navigate = useNavigate();
  useTitle('Analytics');
  const selection = { site, days, version, language };
  const analytics = useQuery({
    queryKey: ['analytics', selection],
    queryFn: () =>
      answerOf(
        api.GET('/v1/sites/{domain}/analytics', {
          params: { path: { domain: site }, query: { days, version, language } },
        }),
      ),
    enabled: site !== '',
    refetchInterval: 30_000,
    placeholderData: (before) => before,
  });
  if (site === '') return <NoSites title="Analytics" />;
  const show = (change: Partial<Selection>) =>
    void navigate({ to: '/analytics', search: { ...selection, ...change }, replace: true });
  return (
    <>
      <div className="page-head">
        <h1>Analytics</h1>
        <SiteChoice
          domain={site}
          onChange={(domain) => show({ site: domain, version: undefined, language: undefined })}
        />
        <div className="segments" role="group" aria-label="Days">
          {spans.map((span) => (
            <Button key={span} className="segment" aria-pressed={days === span} onPress={() => show({ days: span })}>
              {span === 1 ? 'today' : `${span} days`}
            </Button>
          ))}
        </div>
      </div>
      <Loaded query={analytics} problem="Analytics could not be loaded">
        {(data) => (
          <>
            <div className="filters">
              <FilterChoice
                label="Version"
                value={version}
                found={data.versions}
                onChange={(name) => show({ version: name })}
              />
              <FilterChoice
                label="Language"
                value={language}
                found={data.languages}
                onChange={(name) => show({ language: name })}
              />
            </div>
            <Figures {...data.totals} />
            <Plots analytics={data} selection={selection} />
            <Breakdowns analytics={data} selection={selection} />
            <Pages analytics={data} selection={selection} />
            <Missing analytics={data} selection={selection} />
          </>
        )}
      </Loaded>
    </>
  );
}

const all = 'all';

/** Shows the versions or languages that were asked about. Shows nothing when there is only one. */
function FilterChoice({
  label,
  value,
  found,
  onChange,
}: {
  label: string;
  value: string | undefined;
  found: Analytics['versions'];
  onChange(name: string | undefined): void;
}) {
  if (found.length < 2 && value === undefined) return null;
  const names = [...new Set([...found.map(({ name }) => name ?? ''), ...(value === undefined ? [] : [value])])];
  // a prefix keeps a version called "all" apart from the choice of all
  const options = names.map((name) => [`=${name}`, name === '' ? 'none' : plain(name)] as const);
  return (
    <Choice
      isInline
      label={label}
      value={value === undefined ? all : `=${value}`}
      options={[[all, 'all'], ...options]}
      onChange={(chosen) => onChange(chosen === all ? undefined : chosen.slice(1))}
    />
  );
}
