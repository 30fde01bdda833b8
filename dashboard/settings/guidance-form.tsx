import { useMutation, useQuery } from '@tanstack/react-query';
import { Button } from 'react-aria-components';
import { ActionForm } from '../components/action-form.tsx';
import { Field, fieldsOf } from '../components/fields.tsx';
import { Loaded } from '../components/loaded.tsx';
import { useDraft } from '../drafts.ts';
import { answerOf, api } from '../http/client.ts';
import type { Guidance } from '../http/types.ts';
import { queryClient } from '../queries.ts';

/** Shows a form for the instructions and skills of a project's agents. */
export function GuidancePanel({ projectId }: { projectId: string }) {
  const params = { path: { id: projectId } };
  const queryKey = ['guidance', projectId];
  const guidance = useQuery({
    queryKey,
    queryFn: () => answerOf(api.GET('/v1/projects/{id}/guidance', { params })),
  });
  return (
    <Loaded query={guidance} problem="Instructions could not be loaded">
      {(guidance) => (
        <GuidanceForm
          projectId={projectId}
          guidance={guidance}
          save={async (body) => {
            const saved = await answerOf(api.PATCH('/v1/projects/{id}/guidance', { params, body }));
            queryClient.setQueryData(queryKey, saved);
          }}
        />
      )}
    </Loaded>
  );
}

const newSkill = { name: '', description: '', content: '' };

interface GuidanceFormProps {
  projectId: string;
  guidance: Guidance;
  save(guidance: Guidance): Promise<void>;
}

function GuidanceForm({ projectId, guidance, save }: GuidanceFormProps) {
  const draft = useDraft(`instructions of ${projectId}`, { ...guidance, instructions: guidance.instructions ?? '' });
  const { instructions, skills } = draft.values;
  const action = useMutation({
    mutationFn: () => draft.send(() => save({ instructions: instructions.trim() || null, skills })),
  });
  const change = (changed: typeof skills) => draft.change({ skills: changed });
  return (
    <ActionForm label="Update instructions" action={action} draft={draft}>
      <h3>Instructions and skills</h3>
      <Field
        label="Instructions for agents"
        {...fieldsOf(draft.values, draft.change)('instructions')}
        rows={4}
        hint="Part of the prompt of every job, before the repository's AGENTS.md."
      />
      {skills.map((skill, at) => {
        const field = fieldsOf(skill, (changed) => change(skills.with(at, { ...skill, ...changed })), `skills[${at}].`);
        return (
          <details key={at} className="inner" open={at >= guidance.skills.length}>
            <summary>Skill {skill.name}</summary>
            <div className="form">
              <Field label="Name" {...field('name')} isRequired isCode />
              <Field label="When it applies" {...field('description')} isRequired />
              <Field label="What to do, in Markdown" {...field('content')} rows={6} isRequired />
              <Button className="button" onPress={() => change(skills.toSpliced(at, 1))}>
                Remove skill
              </Button>
            </div>
          </details>
        );
      })}
      <div className="actions">
        <Button className="button" onPress={() => change([...skills, newSkill])}>
          Add skill
        </Button>
      </div>
    </ActionForm>
  );
}
