import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { Button } from 'react-aria-components';
import { useMay } from '../components/session.tsx';
import { ActionForm } from '../components/action-form.tsx';
import { Confirm } from '../components/confirm.tsx';
import { Field, fieldsOf, linesOf, Problem } from '../components/fields.tsx';
import { Table } from '../components/table.tsx';
import { useDraft } from '../drafts.ts';
import { count } from '../format.ts';
import { answerOf, api, done } from '../http/client.ts';
import type { ListedSet } from '../http/types.ts';
import { plain } from '../plain.ts';
import { queryClient } from '../queries.ts';
import { SetQuestions } from './set-questions.tsx';

const sources = [
  ['feedback', 'Add rated up'],
  ['conversations', 'Add answered'],
  ['gaps', 'Add gaps'],
] as const;

interface SetsProps {
  domain: string;
  sets: ListedSet[];
  onChange(): unknown;
}

/** Shows the question sets of a site, with buttons that add questions to them. */
export function QuestionSets({ domain, sets, onChange }: SetsProps) {
  const may = useMay('member');
  const add = useMutation({
    mutationFn: ({ id, from }: { id: string; from: (typeof sources)[number][0] }) =>
      answerOf(
        api.POST('/v1/sites/{domain}/question-sets/{id}/questions', {
          params: { path: { domain, id } },
          body: { from },
        }),
      ),
    async onSuccess(_, { id }) {
      await queryClient.invalidateQueries({ queryKey: ['question-set', domain, id] });
      await onChange();
    },
  });
  const [edited, setEdited] = useState<string | null>(null);
  if (sets.length === 0) return <p className="quiet">None yet.</p>;
  return (
    <>
      <Problem error={add.error} />
      <Table name="Question sets" columns={['Name', 'Questions']} hasActions>
        {sets.map(({ id, name, questions }) => (
          <tr key={id}>
            <td>{plain(name)}</td>
            <td>{count(questions)}</td>
            <td className="row-actions">
              <Button
                className="button"
                aria-expanded={edited === id}
                onPress={() => setEdited(edited === id ? null : id)}
              >
                Edit <span className="visually-hidden">{plain(name)}</span>
              </Button>
              {may &&
                sources.map(([from, label]) => (
                  <Button
                    key={from}
                    className="button"
                    isDisabled={add.isPending}
                    onPress={() => add.mutate({ id, from })}
                  >
                    {label} <span className="visually-hidden">to {plain(name)}</span>
                  </Button>
                ))}
              <Confirm
                role="member"
                label="Delete"
                what="Delete"
                title={`Delete ${plain(name)}?`}
                text="Its evaluations remain."
                act={() =>
                  done(api.DELETE('/v1/sites/{domain}/question-sets/{id}', { params: { path: { domain, id } } }))
                }
                onDone={onChange}
              />
            </td>
          </tr>
        ))}
      </Table>
      {edited !== null && sets.some(({ id }) => id === edited) && (
        <SetQuestions key={edited} domain={domain} id={edited} onChange={onChange} />
      )}
    </>
  );
}

/** Shows a form that creates a question set. */
export function NewSet({ domain, onChange }: Omit<SetsProps, 'sets'>) {
  const draft = useDraft(`question set of ${domain}`, { name: '', questions: '' });
  const { name, questions } = draft.values;
  const create = useMutation({
    async mutationFn() {
      const body = { name: name.trim(), questions: linesOf(questions).map((text) => ({ text })) };
      await answerOf(api.POST('/v1/sites/{domain}/question-sets', { params: { path: { domain } }, body }));
      draft.forget();
      await onChange();
    },
  });
  const field = fieldsOf(draft.values, draft.change);
  return (
    <ActionForm role="member" label="Create question set" action={create} draft={draft} name="New question set">
      <Field label="Name" {...field('name')} isRequired />
      <Field
        label="Questions"
        {...field('questions')}
        rows={4}
        hint="One per line. Edit the set afterwards to say what answers should cite and state."
      />
    </ActionForm>
  );
}
