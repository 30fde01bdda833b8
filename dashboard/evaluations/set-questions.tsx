import { useMutation, useQuery } from '@tanstack/react-query';
import { Button } from 'react-aria-components';
import { ActionForm } from '../components/action-form.tsx';
import { Check, Field, fieldsOf, linesOf, type DraftFieldsProps } from '../components/fields.tsx';
import { Loaded } from '../components/loaded.tsx';
import { useDraft } from '../drafts.ts';
import { answerOf, api } from '../http/client.ts';
import type { QuestionSet } from '../http/types.ts';
import { queryClient } from '../queries.ts';

interface SetQuestionsProps {
  domain: string;
  id: string;
  onChange(): unknown;
}

type Question = QuestionSet['questions'][number];

interface Draft extends Pick<Question, 'text' | 'expectsAnswer' | 'origin'> {
  /** Keeps its form while others are removed. */
  key: number;
  /** One per line. */
  history: string;
  pages: string;
  facts: string;
}

/** Shows the questions of a set, and changes what good answers cite and state. */
export function SetQuestions({ domain, id, onChange }: SetQuestionsProps) {
  const queryKey = ['question-set', domain, id];
  const params = { path: { domain, id } };
  const set = useQuery({
    queryKey,
    queryFn: () => answerOf(api.GET('/v1/sites/{domain}/question-sets/{id}', { params })),
  });
  return (
    <Loaded query={set} problem="The questions could not be loaded">
      {(read) => (
        <QuestionsForm
          set={read}
          onSave={async (body) => {
            try {
              await answerOf(api.PATCH('/v1/sites/{domain}/question-sets/{id}', { params, body }));
            } finally {
              await queryClient.invalidateQueries({ queryKey });
            }
            await onChange();
          }}
        />
      )}
    </Loaded>
  );
}

interface QuestionsFormProps {
  set: QuestionSet;
  onSave(change: Pick<QuestionSet, 'questions' | 'updatedAt'>): Promise<void>;
}

function QuestionsForm({ set, onSave }: QuestionsFormProps) {
  const form = useDraft(`questions of ${set.id}`, { drafts: set.questions.map(draftOf), updatedAt: set.updatedAt });
  // the draft belongs to the earlier version of the set
  const { drafts, updatedAt } = form.values;
  const change = (changed: Draft[]) => form.change({ drafts: changed, updatedAt });
  const save = useMutation({
    mutationFn: () => form.send(() => onSave({ questions: drafts.map(questionOf), updatedAt })),
  });
  const add = () => {
    const key = Math.max(-1, ...drafts.map((draft) => draft.key)) + 1;
    change([...drafts, { key, text: '', history: '', pages: '', facts: '', expectsAnswer: true, origin: 'manual' }]);
  };
  return (
    <ActionForm role="member" label="Save questions" action={save} draft={form} name="Questions">
      {drafts.map((draft, at) => (
        <fieldset key={draft.key} className="field-group" aria-label={`Question ${at + 1}`}>
          <QuestionFields
            draft={draft}
            path={`questions[${at}].`}
            onChange={(changed) => change(drafts.with(at, { ...draft, ...changed }))}
          />
          <Button className="button" onPress={() => change(drafts.toSpliced(at, 1))}>
            Remove question
          </Button>
        </fieldset>
      ))}
      <Button className="button" onPress={add}>
        Add question
      </Button>
    </ActionForm>
  );
}

function QuestionFields({ draft, path, onChange }: DraftFieldsProps<Draft>) {
  const field = fieldsOf(draft, onChange, path);
  return (
    <div className="form">
      <Field label="Question" {...field('text')} rows={2} isRequired />
      <Field
        label="Earlier questions, one per line"
        {...field('history')}
        rows={2}
        hint="With earlier questions, this one is a follow-up."
      />
      <Check label="The documentation should answer it" {...field('expectsAnswer')} />
      {draft.expectsAnswer && (
        <div className="field-pair">
          <Field
            label="Expected pages, one path per line"
            {...field('pages')}
            name={`${path}expectedPages`}
            rows={2}
            isCode
            placeholder="guides/install"
            hint="An answer should cite one of them."
          />
          <Field
            label="Expected facts, one per line"
            {...field('facts')}
            name={`${path}expectedFacts`}
            rows={2}
            hint="An answer should contain all of them."
          />
        </div>
      )}
    </div>
  );
}

function draftOf({ history, text, expectedPages, expectedFacts, expectsAnswer, origin }: Question, key: number): Draft {
  return {
    key,
    text,
    history: history.join('\n'),
    pages: expectedPages.join('\n'),
    facts: expectedFacts.join('\n'),
    expectsAnswer,
    origin,
  };
}

function questionOf({ history, text, pages, facts, expectsAnswer, origin }: Draft): Question {
  return {
    history: linesOf(history),
    text: text.trim(),
    expectedPages: linesOf(pages),
    expectedFacts: linesOf(facts),
    expectsAnswer,
    origin,
  };
}
