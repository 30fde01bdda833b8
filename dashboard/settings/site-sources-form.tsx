import { useMutation } from '@tanstack/react-query';
import { Button } from 'react-aria-components';
import { ActionForm } from '../components/action-form.tsx';
import { Choice } from '../components/choice.tsx';
import { Field, fieldsOf, linesOf, type DraftFieldsProps } from '../components/fields.tsx';
import { useDraft } from '../drafts.ts';
import { answerOf, api } from '../http/client.ts';
import type { Site } from '../http/types.ts';

type Source = Site['sources'][number];

const kinds = [
  ['repository', 'a repository'],
  ['website', 'a published website, crawled'],
  ['issues', 'the issues of a repository'],
  ['discussions', 'the discussions of a repository on GitHub'],
  ['discourse', 'a Discourse forum'],
  ['directory', 'a directory on the worker'],
] as const;

const addresses = {
  repository: { name: 'repository', label: 'Repository', placeholder: 'https://github.com/acme/blog' },
  website: { name: 'url', label: 'URL', placeholder: 'https://help.example.com/guide/' },
  issues: { name: 'repository', label: 'Repository', placeholder: 'https://github.com/acme/app' },
  discussions: { name: 'repository', label: 'Repository', placeholder: 'https://github.com/acme/app' },
  discourse: {
    name: 'url',
    label: 'URL of the forum or a category',
    placeholder: 'https://forum.example.com/c/support/6',
  },
  directory: { name: 'directory', label: 'Directory', placeholder: '/srv/docs/api' },
};

const accepted = [
  ['answered', 'with an accepted answer'],
  ['all', 'all'],
] as const;

const threadChoices = {
  issues: [
    ['answered', 'that were answered and closed'],
    ['all', 'all'],
  ],
  discussions: accepted,
  discourse: accepted,
} as const;

/** Threads are about one case at one time, so documentation comes first. */
const weightOf = (kind: Source['kind']) => (kind in threadChoices ? '0.5' : '1');

interface Draft {
  kind: Source['kind'];
  /** The repository, URL or directory. */
  address: string;
  ref: string;
  path: string;
  threads: 'answered' | 'all';
  /** Labels or tags. */
  labels: string;
  groups: string;
  prefix: string;
  weight: string;
}

const newSource: Draft = {
  kind: 'repository',
  address: '',
  ref: '',
  path: '',
  threads: 'answered',
  labels: '',
  groups: '',
  prefix: '',
  weight: '1',
};

/** Shows a form for the sources of a site beside its main one. A change re-indexes the site. */
export function SiteSourcesForm({ site, onSaved }: { site: Site; onSaved(): unknown }) {
  const form = useDraft(`sources of ${site.domain}`, { drafts: site.sources.map(draftOf) });
  const { drafts } = form.values;
  const change = (changed: Draft[]) => form.change({ drafts: changed });
  const params = { path: { domain: site.domain } };
  const save = useMutation({
    mutationFn: () =>
      form.send(async () => {
        await answerOf(api.PATCH('/v1/sites/{domain}', { params, body: { sources: drafts.map(sourceOf) } }));
        await onSaved();
      }),
  });
  return (
    <ActionForm label="Update sources" action={save} draft={form}>
      <h3>More sources</h3>
      {drafts.length === 0 && <p className="hint">None. Each source appears below its own path.</p>}
      {drafts.map((draft, at) => (
        <fieldset key={at} className="field-group">
          <legend className="label">{`Source ${at + 1}`}</legend>
          <SourceFields
            draft={draft}
            path={`sources[${at}].`}
            onChange={(changed) => change(drafts.with(at, { ...draft, ...changed }))}
          />
          <Button
            className="button"
            aria-label={`Remove source ${at + 1}`}
            onPress={() => change(drafts.toSpliced(at, 1))}
          >
            Remove
          </Button>
        </fieldset>
      ))}
      <div className="actions">
        <Button className="button" onPress={() => change([...drafts, newSource])}>
          Add source
        </Button>
      </div>
    </ActionForm>
  );
}

function SourceFields({ draft, path, onChange }: DraftFieldsProps<Draft>) {
  const field = fieldsOf(draft, onChange, path);
  const address = addresses[draft.kind];
  return (
    <div className="field-pair">
      <Choice
        label="Pages from"
        value={draft.kind}
        options={kinds}
        onChange={(kind) =>
          onChange({ kind, ...(draft.weight === weightOf(draft.kind) && { weight: weightOf(kind) }) })
        }
      />
      <Field {...field('address')} {...address} name={`${path}${address.name}`} isRequired isCode />
      {(draft.kind === 'repository' || draft.kind === 'directory') && (
        <Field label="Folder" {...field('path')} isCode placeholder="whole source" />
      )}
      {draft.kind === 'repository' && <Field label="Branch" {...field('ref')} isCode placeholder="default branch" />}
      {(draft.kind === 'issues' || draft.kind === 'discussions' || draft.kind === 'discourse') && (
        <>
          <Choice
            label={{ issues: 'Issues', discussions: 'Discussions', discourse: 'Topics' }[draft.kind]}
            {...field('threads')}
            options={threadChoices[draft.kind]}
          />
          <Field
            label={draft.kind === 'discourse' ? 'Tags, one per line' : 'Labels, one per line'}
            {...field('labels')}
            rows={2}
            placeholder="any"
          />
        </>
      )}
      {(draft.kind === 'issues' || draft.kind === 'discussions') && (
        <Field
          label="Groups that may read them, one per line"
          {...field('groups')}
          rows={2}
          placeholder="everybody"
          hint={`Required if the ${draft.kind} are not public.`}
        />
      )}
      <Field label="Prefix" {...field('prefix')} isCode placeholder="blog" hint="Path below which its pages appear." />
      <Field
        label="Weight"
        {...field('weight')}
        isRequired
        hint="0.1 to 10. At 2, its pages rank about 7% higher; at 0.5, about 7% lower."
      />
    </div>
  );
}

function draftOf(source: Source): Draft {
  const { kind, prefix } = source;
  const weight = String(source.weight);
  if (kind === 'website') return { ...newSource, kind, prefix, weight, address: source.url };
  if (kind === 'discourse') {
    const { url: address, threads } = source;
    return { ...newSource, kind, prefix, weight, address, threads, labels: source.tags.join('\n') };
  }
  if ('groups' in source) {
    const { repository: address, threads } = source;
    const [labels, groups] = [source.labels.join('\n'), source.groups.join('\n')];
    return { ...newSource, kind, prefix, weight, address, threads, labels, groups };
  }
  const { path } = source;
  if (source.kind === 'directory') return { ...newSource, kind, prefix, weight, path, address: source.directory };
  return { ...newSource, kind, prefix, weight, path, ref: source.ref ?? '', address: source.repository };
}

function sourceOf({ kind, ...draft }: Draft): Source {
  const address = draft.address.trim();
  const target = { prefix: draft.prefix.trim(), weight: Number(draft.weight) };
  if (kind === 'website') return { kind, url: address, ...target };
  if (kind === 'discourse')
    return { kind, url: address, threads: draft.threads, tags: linesOf(draft.labels), ...target };
  if (kind === 'issues' || kind === 'discussions') {
    const [labels, groups] = [linesOf(draft.labels), linesOf(draft.groups)];
    return { kind, repository: address, threads: draft.threads, labels, groups, ...target };
  }
  const path = draft.path.trim();
  if (kind === 'directory') return { kind, directory: address, path, ...target };
  return { kind, repository: address, ref: draft.ref.trim() || null, path, ...target };
}
