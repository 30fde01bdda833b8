import { useMutation } from '@tanstack/react-query';
import { ActionForm } from '../components/action-form.tsx';
import { Choice } from '../components/choice.tsx';
import { amountOf, Check, Field, fieldsOf } from '../components/fields.tsx';
import { useDraft } from '../drafts.ts';
import { answerOf, api } from '../http/client.ts';
import type { ListedSet } from '../http/types.ts';
import { plain } from '../plain.ts';

interface StartProps {
  domain: string;
  sets: ListedSet[];
  onStart(id: string): unknown;
}

/** Rewriting of questions in the other configuration: as in the site's answers, none, or by a model. */
const rewritings = [
  ['same', 'As today'],
  ['off', 'Off'],
  ['model', 'By a model'],
] as const;
type Rewriting = (typeof rewritings)[number][0];

/** Instructions of the other configuration: those of the site, none, or others. */
const guidances = [
  ['same', 'As today'],
  ['none', 'None'],
  ['other', 'Other'],
] as const;
type Guidance = (typeof guidances)[number][0];

const asToday: {
  setId: string;
  isCompared: boolean;
  model: string;
  passages: string;
  rewriting: Rewriting;
  rewritingModel: string;
  guidance: Guidance;
  instructions: string;
} = {
  setId: '',
  isCompared: false,
  model: '',
  passages: '',
  rewriting: 'same',
  rewritingModel: '',
  guidance: 'same',
  instructions: '',
};

/** Shows a form that evaluates the site's answers to a set, alone or compared with another configuration. */
export function StartEvaluation({ domain, sets, onStart }: StartProps) {
  const draft = useDraft(`evaluation of ${domain}`, asToday);
  const { isCompared, model, passages, rewriting, rewritingModel, guidance, instructions } = draft.values;
  const setId = sets.find(({ id }) => id === draft.values.setId)?.id ?? sets[0]?.id ?? '';
  const start = useMutation({
    async mutationFn() {
      const retrievalPageSize = amountOf(passages);
      const other = {
        ...(model.trim() !== '' && { model: model.trim() }),
        ...(retrievalPageSize !== null && { retrievalPageSize }),
        ...(rewriting === 'off' && { queryRewriting: null }),
        ...(rewriting === 'model' && { queryRewriting: rewritingModel.trim() }),
        ...(guidance === 'none' && { instructions: null }),
        ...(guidance === 'other' && { instructions: instructions.trim() }),
      };
      const body = { setId, configurations: isCompared ? [{}, other] : [{}] };
      const { id } = await answerOf(api.POST('/v1/sites/{domain}/evaluations', { params: { path: { domain } }, body }));
      draft.forget();
      await onStart(id);
    },
  });
  const field = fieldsOf(draft.values, draft.change);
  return (
    <ActionForm role="member" label="Evaluate" action={start} draft={draft} name="New evaluation">
      <Choice
        label="Question set"
        {...field('setId')}
        value={setId}
        options={sets.map(({ id, name }) => [id, plain(name)] as const)}
      />
      <Check label="Compare with another configuration" {...field('isCompared')} />
      {isCompared && (
        <>
          <Field label="Model" {...field('model')} isCode placeholder="As today" />
          <Field label="Passages" {...field('passages')} type="number" placeholder="5" />
          <Choice label="Query rewriting" {...field('rewriting')} options={rewritings} />
          {rewriting === 'model' && (
            <Field
              label="Rewriting model"
              {...field('rewritingModel')}
              isCode
              isRequired
              placeholder="provider/model"
            />
          )}
          <Choice label="Instructions" {...field('guidance')} options={guidances} />
          {guidance === 'other' && <Field label="Other instructions" {...field('instructions')} rows={3} isRequired />}
        </>
      )}
    </ActionForm>
  );
}
