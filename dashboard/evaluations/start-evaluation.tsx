import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { ActionForm } from '../components/action-form.tsx';
import { Choice } from '../components/choice.tsx';
import { amountOf, Check, Field } from '../components/fields.tsx';
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

/** Shows a form that evaluates the site's answers to a set, alone or compared with another configuration. */
export function StartEvaluation({ domain, sets, onStart }: StartProps) {
  const [chosen, setChosen] = useState('');
  const [isCompared, setCompared] = useState(false);
  const [model, setModel] = useState('');
  const [passages, setPassages] = useState('');
  const [rewriting, setRewriting] = useState<Rewriting>('same');
  const [rewritingModel, setRewritingModel] = useState('');
  const [guidance, setGuidance] = useState<Guidance>('same');
  const [instructions, setInstructions] = useState('');
  const setId = sets.find(({ id }) => id === chosen)?.id ?? sets[0]?.id ?? '';
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
      await onStart(id);
    },
  });
  return (
    <ActionForm role="member" label="Evaluate" action={start} name="New evaluation">
      <Choice
        label="Question set"
        value={setId}
        options={sets.map(({ id, name }) => [id, plain(name)] as const)}
        onChange={setChosen}
      />
      <Check label="Compare with another configuration" value={isCompared} onChange={setCompared} />
      {isCompared && (
        <>
          <Field label="Model" value={model} onChange={setModel} isCode placeholder="As today" />
          <Field label="Passages" value={passages} onChange={setPassages} type="number" placeholder="5" />
          <Choice label="Query rewriting" value={rewriting} options={rewritings} onChange={setRewriting} />
          {rewriting === 'model' && (
            <Field
              label="Rewriting model"
              value={rewritingModel}
              onChange={setRewritingModel}
              isCode
              isRequired
              placeholder="provider/model"
            />
          )}
          <Choice label="Instructions" value={guidance} options={guidances} onChange={setGuidance} />
          {guidance === 'other' && (
            <Field label="Other instructions" value={instructions} onChange={setInstructions} rows={3} isRequired />
          )}
        </>
      )}
    </ActionForm>
  );
}
