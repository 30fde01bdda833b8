import { useMutation, useQuery } from '@tanstack/react-query';
import { ActionForm } from '../components/action-form.tsx';
import { Choice } from '../components/choice.tsx';
import { amountOf, Field, fieldsOf, linesOf } from '../components/fields.tsx';
import { useDraft } from '../drafts.ts';
import { answerOf, api } from '../http/client.ts';
import type { Site } from '../http/types.ts';
import { plain } from '../plain.ts';

const unsupportedChoices = [
  ['mark', 'mark in the chat'],
  ['cut', 'leave out'],
] as const;

type Draft = ReturnType<typeof draftOf>;

function draftOf(site: Site | null) {
  return {
    domain: site?.domain ?? '',
    /** URL, or for a site from a directory, its path on the worker's machine. */
    source: site?.repository ?? site?.directory ?? '',
    ref: site?.ref ?? '',
    path: site?.path ?? '',
    baseUrl: site?.baseUrl ?? '',
    retentionDays: String(site?.retentionDays ?? 30),
    refreshMinutes: site?.refreshMinutes?.toString() ?? '',
    answerBudgetUsd: site?.answerBudgetUsd?.toString() ?? '',
    instructions: site?.instructions ?? '',
    starterQuestions: (site?.starterQuestions ?? []).join('\n'),
    queryRewriting: site?.queryRewriting ?? '',
    unsupported: site?.unsupported ?? 'mark',
    contact: site?.contact ?? '',
    requestsPerMinute: site?.requestsPerMinute?.toString() ?? '',
    requestsPerDay: site?.requestsPerDay?.toString() ?? '',
    /** Id of a question set; empty for none. */
    guardSet: site?.indexGuard?.questionSetId ?? '',
    guardMargin: String(Math.round((site?.indexGuard?.margin ?? 0.05) * 100)),
  };
}

function settingsOf(draft: Draft) {
  return {
    ref: draft.ref.trim() || null,
    path: draft.path.trim(),
    baseUrl: draft.baseUrl.trim() || null,
    retentionDays: Number(draft.retentionDays),
    refreshMinutes: amountOf(draft.refreshMinutes),
    answerBudgetUsd: amountOf(draft.answerBudgetUsd),
    instructions: draft.instructions.trim() || null,
    starterQuestions: linesOf(draft.starterQuestions),
    queryRewriting: draft.queryRewriting.trim() || null,
    unsupported: draft.unsupported,
    contact: draft.contact.trim() || null,
    requestsPerMinute: amountOf(draft.requestsPerMinute),
    requestsPerDay: amountOf(draft.requestsPerDay),
  };
}

/** Creates a site or updates the given one. A change of the pages' source re-indexes it. */
export function SiteForm({ site, onSaved }: { site: Site | null; onSaved(): unknown }) {
  const form = useDraft(site === null ? 'new site' : `site ${site.domain}`, draftOf(site));
  const draft = form.values;
  const isDirectory = site !== null && site.directory !== null;
  const request = () => {
    const source = draft.source.trim();
    if (site === null) {
      const body = { ...settingsOf(draft), domain: draft.domain.trim(), repository: source };
      return answerOf(api.POST('/v1/sites', { body }));
    }
    const isSame = source === draftOf(site).source;
    const moved = isSame ? {} : isDirectory ? { directory: source } : { repository: source };
    const params = { path: { domain: site.domain } };
    const guard = { questionSetId: draft.guardSet, margin: Number(draft.guardMargin) / 100 };
    const indexGuard = draft.guardSet === '' ? null : guard;
    const body = { ...settingsOf(draft), ...moved, indexGuard };
    return answerOf(api.PATCH('/v1/sites/{domain}', { params, body }));
  };
  const save = useMutation({
    mutationFn: () =>
      form.send(async () => {
        await request();
        await onSaved();
      }),
  });
  const field = fieldsOf(draft, form.change);
  return (
    <ActionForm label={site === null ? 'Create site' : 'Save'} action={save} draft={form}>
      {site === null && (
        <Field
          label="Domain"
          {...field('domain')}
          isRequired
          isCode
          placeholder="my-docs"
          hint="Identifies the site in API URLs."
        />
      )}
      <Field
        label={isDirectory ? 'Directory' : 'Repository'}
        {...field('source')}
        name={isDirectory ? 'directory' : 'repository'}
        isRequired={draftOf(site).source !== '' || site === null}
        isCode
        placeholder="https://github.com/acme/docs"
      />
      <div className="field-pair">
        <Field label="Docs folder" {...field('path')} isCode placeholder="whole source" />
        <Field label="Branch" {...field('ref')} isCode placeholder="default branch" />
        <Field
          label="Published URL"
          {...field('baseUrl')}
          type="url"
          isCode
          placeholder="https://docs.example.com"
          hint="Links in answers start with this URL."
        />
        <Field label="Re-index every (minutes)" {...field('refreshMinutes')} type="number" placeholder="never" />
        <Field
          label="Keep conversations for (days)"
          {...field('retentionDays')}
          type="number"
          isRequired
          hint="0 stores none."
        />
        <Field
          label="Budget for answers per day (USD)"
          {...field('answerBudgetUsd')}
          placeholder="no limit"
          hint="Above it, answers quote the documentation."
        />
        <Field
          label="Requests per minute"
          {...field('requestsPerMinute')}
          type="number"
          placeholder="no limit"
          hint="For all readers together."
        />
        <Field label="Requests per day" {...field('requestsPerDay')} type="number" placeholder="no limit" />
      </div>
      <Choice
        label="Statements that the cited pages do not support"
        {...field('unsupported')}
        options={unsupportedChoices}
      />
      {site !== null && <GuardFields domain={site.domain} draft={draft} onChange={form.change} />}
      <Field
        label="Contact"
        {...field('contact')}
        isCode
        placeholder="mailto:help@example.com"
        hint="https or mailto URL for readers whose question has no answer."
      />
      <Field
        label="Instructions"
        {...field('instructions')}
        rows={3}
        hint="Tone and emphasis for the model that answers."
      />
      <Field
        label="Query rewriting"
        {...field('queryRewriting')}
        isCode
        placeholder="off"
        hint="Model that rewrites follow-up questions for the search, such as anthropic/claude-haiku-4-5."
      />
      <Field
        label="Starter questions, one per line"
        {...field('starterQuestions')}
        rows={3}
        hint="The chat and /suggest offer them before a reader types."
      />
    </ActionForm>
  );
}

/** Shows which question set a new index must answer about as well as the current one. */
function GuardFields({
  domain,
  draft,
  onChange,
}: {
  domain: string;
  draft: Draft;
  onChange(changed: Partial<Draft>): void;
}) {
  const field = fieldsOf(draft, onChange);
  const sets = useQuery({
    queryKey: ['question-sets', domain],
    queryFn: () => answerOf(api.GET('/v1/sites/{domain}/question-sets', { params: { path: { domain } } })),
  });
  const choices = (sets.data?.sets ?? []).map(({ id, name }) => [id, plain(name)] as const);
  return (
    <div className="field-pair">
      <Choice label="Check a new index with" {...field('guardSet')} options={[['', 'no question set'], ...choices]} />
      {draft.guardSet !== '' && (
        <Field
          label="Margin (percent)"
          {...field('guardMargin')}
          name="indexGuard.margin"
          type="number"
          isRequired
          hint="A new index is rejected if it passes fewer questions than the current one by more than this share."
        />
      )}
    </div>
  );
}
