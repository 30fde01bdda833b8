import { useSession } from './session.tsx';

/** Shows the organization's sites to choose one. Shows nothing when there is only one. */
export function SiteChoice({ domain, onChange }: { domain: string; onChange(domain: string): void }) {
  const { sites } = useSession();
  if (sites.length < 2) return null;
  return (
    <label className="inline-field">
      <span>Site</span>
      <select value={domain} onChange={({ target }) => onChange(target.value)}>
        {sites.map((site) => (
          <option key={site.domain}>{site.domain}</option>
        ))}
      </select>
    </label>
  );
}
